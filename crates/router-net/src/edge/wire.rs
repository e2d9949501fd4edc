//! The messages between an edge router and its interior.
//!
//! As in [`crate::wire`], what is written is what the old router writes, and what is read may be in any encoding that
//! means the same. The annotations are the routing core's affair.

use crate::wide::{compound, header};
use amqp::codec::{encode, format};
use amqp::message::{Body, Message};
use amqp::{DecodeError, Map, Value, descriptor};

/// Where an edge router hears which addresses have consumers elsewhere.
pub const TRACKING_ADDRESS: &str = "_$qd.edge_addr_tracking";
/// Where an edge router asks what an address is.
pub const LOOKUP_ADDRESS: &str = "_$qd.addr_lookup";
/// Where an edge router shows that it is still there.
pub const HEARTBEAT_ADDRESS: &str = "_$qd.edge_heartbeat";
/// Where an edge router has link routes made.
pub const MANAGEMENT_ADDRESS: &str = "$management";
/// The capability of the link on which an edge router takes what is addressed to it.
pub const DOWNLINK_CAPABILITY: &str = "qd.router-edge-downlink";
/// The type of the link routes that an edge router makes at its interior.
pub const LINK_ROUTE_TYPE: &str = "org.apache.qpid.dispatch.router.connection.linkRoute";

/// The version of the look-up protocol.
pub const LOOKUP_VERSION: u64 = 1;
/// The one operation of the look-up protocol.
pub const LOOKUP_OPCODE: u64 = 1;

/// Why a message is not one of the edge protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EdgeWireError {
    /// The bytes are no message.
    #[error("{0}")]
    Encoding(#[from] DecodeError),
    /// Something is absent or of the wrong type.
    #[error("{0} is missing or malformed")]
    Member(&'static str),
}

/// Whether an address has consumers other than those of the edge router that is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracking {
    /// The address's key.
    pub key: String,
    /// It has.
    pub has_destinations: bool,
}

impl Tracking {
    /// The encoded message.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64);
        header(&mut out);
        encode::descriptor(&mut out, descriptor::AMQP_VALUE);
        compound(&mut out, format::LIST32, |list| {
            list.value(|out| encode::string(out, &self.key));
            list.value(|out| encode::boolean(out, self.has_destinations));
        });
        out
    }

    /// Reads a whole message.
    ///
    /// # Errors
    /// If it is not such a message.
    pub fn decode(bytes: &[u8]) -> Result<Self, EdgeWireError> {
        let message = Message::decode(bytes)?;
        let list = body_list(&message)?;
        let key = list.first().and_then(Value::as_text).ok_or(EdgeWireError::Member("key"))?;
        let has_destinations = list.get(1).and_then(Value::as_bool).ok_or(EdgeWireError::Member("flag"))?;
        Ok(Self { key: key.to_owned(), has_destinations })
    }
}

/// A sign of life: a count that grows with each.
pub fn encode_heartbeat(count: i32) -> Vec<u8> {
    let mut out = Vec::with_capacity(16);
    encode::descriptor(&mut out, descriptor::AMQP_VALUE);
    encode::int(&mut out, count);
    out
}

/// What is an address?
#[derive(Clone, Debug, PartialEq)]
pub struct LookupRequest {
    /// Where the answer goes.
    pub reply_to: String,
    /// What the answer is known by. The old router uses a string; others may not.
    pub correlation_id: Value,
    /// The version of the protocol.
    pub version: u64,
    /// The operation.
    pub opcode: u64,
    /// The address.
    pub address: String,
    /// The link that is to be attached is one on which the router receives: the client is a sender.
    pub client_sends: bool,
}

impl LookupRequest {
    /// The encoded message.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(192);
        header(&mut out);
        encode::descriptor(&mut out, descriptor::PROPERTIES);
        compound(&mut out, format::LIST32, |list| {
            list.value(encode::null).value(encode::null).value(encode::null).value(encode::null);
            list.value(|out| encode::string(out, &self.reply_to)).value(|out| self.correlation_id.encode(out));
        });
        encode::descriptor(&mut out, descriptor::APPLICATION_PROPERTIES);
        compound(&mut out, format::MAP32, |map| {
            map.unsigned("version", self.version).unsigned("opcode", self.opcode);
        });
        encode::descriptor(&mut out, descriptor::AMQP_VALUE);
        compound(&mut out, format::LIST32, |list| {
            list.value(|out| encode::string(out, &self.address));
            list.value(|out| encode::boolean(out, self.client_sends));
        });
        out
    }

    /// Reads a whole message. What the version or the operation is does not matter yet.
    ///
    /// # Errors
    /// If nobody could be answered, or the body is malformed.
    pub fn decode(bytes: &[u8]) -> Result<Self, EdgeWireError> {
        let message = Message::decode(bytes)?;
        let list = body_list(&message)?;
        let address = list.first().and_then(Value::as_text).ok_or(EdgeWireError::Member("address"))?;
        let client_sends = list.get(1).and_then(Value::as_bool).ok_or(EdgeWireError::Member("direction"))?;
        Ok(Self {
            version: unsigned(&message.application_properties, "version")?,
            opcode: unsigned(&message.application_properties, "opcode")?,
            address: address.to_owned(),
            client_sends,
            reply_to: message.properties.reply_to.ok_or(EdgeWireError::Member("reply-to"))?,
            correlation_id: message.properties.correlation_id.ok_or(EdgeWireError::Member("correlation-id"))?,
        })
    }
}

/// How a look-up ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupStatus {
    /// The address is known.
    Ok,
    /// The version is not.
    BadVersion,
    /// The operation is not.
    BadOpcode,
    /// The address is not.
    NotFound,
    /// The request is malformed.
    InvalidRequest,
    /// Something else.
    Other(u64),
}

impl LookupStatus {
    fn code(self) -> u64 {
        match self {
            Self::Ok => 0,
            Self::BadVersion => 1,
            Self::BadOpcode => 2,
            Self::NotFound => 3,
            Self::InvalidRequest => 4,
            Self::Other(code) => code,
        }
    }

    fn from_code(code: u64) -> Self {
        match code {
            0 => Self::Ok,
            1 => Self::BadVersion,
            2 => Self::BadOpcode,
            3 => Self::NotFound,
            4 => Self::InvalidRequest,
            other => Self::Other(other),
        }
    }
}

/// What an address is.
#[derive(Clone, Debug, PartialEq)]
pub struct LookupReply {
    /// Where it goes.
    pub to: String,
    /// The request's.
    pub correlation_id: Value,
    /// How it ended.
    pub status: LookupStatus,
    /// Links to it are routed.
    pub is_link_route: bool,
    /// There is somewhere to go.
    pub has_destinations: bool,
}

impl LookupReply {
    /// The encoded message.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(192);
        header(&mut out);
        encode::descriptor(&mut out, descriptor::PROPERTIES);
        compound(&mut out, format::LIST32, |list| {
            list.value(encode::null).value(encode::null).value(|out| encode::string(out, &self.to));
            list.value(encode::null).value(encode::null).value(|out| self.correlation_id.encode(out));
        });
        encode::descriptor(&mut out, descriptor::APPLICATION_PROPERTIES);
        compound(&mut out, format::MAP32, |map| {
            map.unsigned("version", LOOKUP_VERSION).unsigned("opcode", LOOKUP_OPCODE);
            map.unsigned("status", self.status.code());
        });
        encode::descriptor(&mut out, descriptor::AMQP_VALUE);
        compound(&mut out, format::LIST32, |list| {
            list.value(|out| encode::boolean(out, self.is_link_route));
            list.value(|out| encode::boolean(out, self.has_destinations));
        });
        out
    }

    /// Reads a whole message.
    ///
    /// # Errors
    /// If it is not such a message.
    pub fn decode(bytes: &[u8]) -> Result<Self, EdgeWireError> {
        let message = Message::decode(bytes)?;
        let list = body_list(&message)?;
        let flag = |at: usize| list.get(at).and_then(Value::as_bool).ok_or(EdgeWireError::Member("flag"));
        Ok(Self {
            status: LookupStatus::from_code(unsigned(&message.application_properties, "status")?),
            is_link_route: flag(0)?,
            has_destinations: flag(1)?,
            to: message.properties.to.unwrap_or_default(),
            correlation_id: message.properties.correlation_id.ok_or(EdgeWireError::Member("correlation-id"))?,
        })
    }
}

fn body_list(message: &Message) -> Result<&[Value], EdgeWireError> {
    match &message.body {
        Body::Value(Value::List(list)) => Ok(list),
        _ => Err(EdgeWireError::Member("body")),
    }
}

fn unsigned(map: &Map, member: &'static str) -> Result<u64, EdgeWireError> {
    map.get(member).and_then(Value::as_u64).ok_or(EdgeWireError::Member(member))
}
