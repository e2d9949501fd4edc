//! Reading messages from anybody: any integer type, strings and symbols alike, members in any order, and those unknown
//! passed over.

use super::{Body, ControlMessage, MAX_ID_LENGTH, MAX_KEY_LENGTH, PROTOCOL_VERSION};
use crate::{Hint, LinkState};
use amqp::message::{self, Message};
use amqp::{DecodeError, Map, Value};

/// Why a message is not one of the routing protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The bytes are no message.
    #[error("{0}")]
    Encoding(#[from] DecodeError),
    /// The application properties name no opcode.
    #[error("no opcode")]
    NoOpcode,
    /// An opcode that the protocol does not have.
    #[error("unknown opcode")]
    UnknownOpcode {
        /// The opcode.
        opcode: String,
    },
    /// The body is not a map.
    #[error("the body is not a map")]
    NoBody {
        /// The opcode.
        opcode: String,
    },
    /// The sender speaks a version that this router does not.
    #[error("unknown protocol version {version}")]
    Version {
        /// The opcode.
        opcode: String,
        /// The version.
        version: i64,
        /// The sender.
        id: String,
    },
    /// A member is absent, of the wrong type or too long.
    #[error("member {member} is missing or malformed")]
    Member {
        /// The opcode.
        opcode: String,
        /// The member.
        member: &'static str,
    },
}

impl WireError {
    /// The message's opcode, as far as it was found.
    pub fn opcode(&self) -> &str {
        match self {
            Self::Encoding(_) | Self::NoOpcode => "",
            Self::UnknownOpcode { opcode }
            | Self::NoBody { opcode }
            | Self::Version { opcode, .. }
            | Self::Member { opcode, .. } => opcode,
        }
    }
}

impl ControlMessage {
    /// Reads a whole message.
    ///
    /// # Errors
    /// If it is not one of the routing protocol, or one of a later version.
    pub fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let message = Message::decode(bytes)?;
        let opcode = message.application_properties.get("opcode").and_then(Value::as_text);
        let opcode = opcode.ok_or(WireError::NoOpcode)?;
        let map = match &message.body {
            message::Body::Value(Value::Map(map)) => map,
            _ => return Err(WireError::NoBody { opcode: opcode.to_owned() }),
        };
        let members = Members { opcode, map };
        let id = members.id("id")?;
        let version = match map.get("pv") {
            None => 0,
            Some(_) => members.integer("pv")?,
        };
        if version > PROTOCOL_VERSION {
            return Err(WireError::Version { opcode: opcode.to_owned(), version, id });
        }
        Ok(Self { body: members.body(&id)?, id })
    }
}

struct Members<'a> {
    opcode: &'a str,
    map: &'a Map,
}

impl Members<'_> {
    fn body(&self, id: &str) -> Result<Body, WireError> {
        Ok(match self.opcode {
            "HELLO" => Body::Hello { instance: self.integer_or_zero("instance")?, seen: self.texts("seen")? },
            "RA" => Body::Advertisement {
                instance: self.integer_or_zero("instance")?,
                ls_seq: self.integer("ls_seq")?,
                mobile_seq: self.integer("mobile_seq")?,
            },
            "LSU" => Body::LinkState { instance: self.integer_or_zero("instance")?, state: self.link_state(id)? },
            "LSR" => Body::LinkStateRequest,
            "MAU" => self.addresses()?,
            "MAR" => Body::AddressRequest { have_seq: self.integer("have_seq")? },
            opcode => return Err(WireError::UnknownOpcode { opcode: opcode.to_owned() }),
        })
    }

    fn link_state(&self, id: &str) -> Result<LinkState, WireError> {
        let ls = self.map.get("ls").and_then(Value::as_map).ok_or_else(|| self.bad("ls"))?;
        let state = Members { opcode: self.opcode, map: ls };
        if state.id("id")? != id {
            return Err(self.bad("ls"));
        }
        let peers = ls.get("peers").and_then(Value::as_map).ok_or_else(|| self.bad("peers"))?;
        let peer = |(id, cost): (&Value, &Value)| {
            let id = id.as_text().filter(|id| is_id(id))?;
            // Whatever costs nothing would make loops as good as straight ways.
            let cost = cost.as_i64()?.clamp(1, i64::from(u32::MAX));
            Some((id.to_owned(), u32::try_from(cost).ok()?))
        };
        let peers = peers.iter().map(peer).collect::<Option<_>>().ok_or_else(|| self.bad("peers"))?;
        Ok(LinkState { id: id.to_owned(), ls_seq: self.integer("ls_seq")?, peers })
    }

    fn addresses(&self) -> Result<Body, WireError> {
        let mobile_seq = self.integer("mobile_seq")?;
        if self.map.contains_key("exist") {
            return Ok(Body::Addresses { mobile_seq, exist: self.hinted("exist")? });
        }
        Ok(Body::AddressChange { mobile_seq, add: self.hinted("add")?, del: self.texts("del")? })
    }

    /// Keys with their hints. The hints came into the protocol late: they, or some of them, may be absent.
    fn hinted(&self, member: &'static str) -> Result<Vec<(String, Option<Hint>)>, WireError> {
        let keys = self.texts(member)?;
        let hints = match self.map.get("hints") {
            None | Some(Value::Null) => &[],
            Some(hints) => hints.as_sequence().ok_or_else(|| self.bad("hints"))?,
        };
        let hints = hints.iter().map(|hint| hint.as_i64().and_then(Hint::from_code));
        Ok(keys.into_iter().zip(hints.chain(std::iter::repeat(None))).collect())
    }

    fn texts(&self, member: &'static str) -> Result<Vec<String>, WireError> {
        let values = self.map.get(member).and_then(Value::as_sequence).ok_or_else(|| self.bad(member))?;
        let text = |value: &Value| value.as_text().filter(|text| text.len() <= MAX_KEY_LENGTH).map(str::to_owned);
        values.iter().map(text).collect::<Option<_>>().ok_or_else(|| self.bad(member))
    }

    fn id(&self, member: &'static str) -> Result<String, WireError> {
        let id = self.map.get(member).and_then(Value::as_text).filter(|id| is_id(id));
        id.map(str::to_owned).ok_or_else(|| self.bad(member))
    }

    fn integer(&self, member: &'static str) -> Result<i64, WireError> {
        self.map.get(member).and_then(Value::as_i64).ok_or_else(|| self.bad(member))
    }

    fn integer_or_zero(&self, member: &'static str) -> Result<i64, WireError> {
        if self.map.contains_key(member) { self.integer(member) } else { Ok(0) }
    }

    fn bad(&self, member: &'static str) -> WireError {
        WireError::Member { opcode: self.opcode.to_owned(), member }
    }
}

fn is_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= MAX_ID_LENGTH
}
