//! Reading messages from anybody: any integer type, strings and symbols alike, members in any order, and those unknown
//! passed over.

use super::sync::Sync;
use super::{Body, ControlMessage, MAX_ID_LENGTH, MAX_KEY_LENGTH, PROTOCOL_VERSION};
use crate::{Hint, LinkState};
use amqp::message::{self, Message};
use amqp::{DecodeError, Map, Value};
use std::collections::BTreeMap;

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

pub(super) struct Members<'a> {
    opcode: &'a str,
    pub(super) map: &'a Map,
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
            "SYNC" => Body::Sync(Sync::decode(self)?),
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
        let peers = self::peers(peers).ok_or_else(|| self.bad("peers"))?;
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
        with_hints(keys, self.map.get("hints").unwrap_or(&Value::Null)).ok_or_else(|| self.bad("hints"))
    }

    fn texts(&self, member: &'static str) -> Result<Vec<String>, WireError> {
        self.map.get(member).and_then(texts).ok_or_else(|| self.bad(member))
    }

    /// A flat list of rows of `width` values each; `None`: it is absent.
    pub(super) fn optional<T>(
        &self,
        member: &'static str,
        width: usize,
        read: impl Fn(&[Value]) -> Option<T>,
    ) -> Result<Option<Vec<T>>, WireError> {
        let Some(list) = self.map.get(member) else { return Ok(None) };
        let rows = list.as_sequence().map(|list| list.chunks_exact(width)).ok_or_else(|| self.bad(member))?;
        if !rows.remainder().is_empty() {
            return Err(self.bad(member));
        }
        rows.map(read).collect::<Option<Vec<T>>>().map(Some).ok_or_else(|| self.bad(member))
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

/// Neighbours, and what the connection to each costs.
pub(super) fn peers(map: &Map) -> Option<BTreeMap<String, u32>> {
    let peer = |(id, cost): (&Value, &Value)| {
        let id = id.as_text().filter(|id| is_id(id))?;
        // Whatever costs nothing would make loops as good as straight ways.
        let cost = cost.as_i64()?.clamp(1, i64::from(u32::MAX));
        Some((id.to_owned(), u32::try_from(cost).ok()?))
    };
    map.iter().map(peer).collect()
}

pub(super) fn texts(list: &Value) -> Option<Vec<String>> {
    let text = |value: &Value| value.as_text().filter(|text| text.len() <= MAX_KEY_LENGTH).map(str::to_owned);
    list.as_sequence()?.iter().map(text).collect()
}

/// Keys with their hints, of which there may be none, or fewer.
pub(super) fn with_hints(keys: Vec<String>, hints: &Value) -> Option<Vec<(String, Option<Hint>)>> {
    let hints = match hints {
        Value::Null => &[],
        hints => hints.as_sequence()?,
    };
    let hints = hints.iter().map(|hint| hint.as_i64().and_then(Hint::from_code));
    Some(keys.into_iter().zip(hints.chain(std::iter::repeat(None))).collect())
}

pub(super) fn is_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= MAX_ID_LENGTH
}
