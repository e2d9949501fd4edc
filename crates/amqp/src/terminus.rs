//! Sources and targets (part 3, section 3.5; coordinator: part 4, section 4.5.1).

use crate::codec::{Decoder, Fields, ListEncoder, ReadFields, encode};
use crate::{DecodeError, Map, Symbol, Value, descriptor};

/// When a terminus expires (section 3.5.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ExpiryPolicy {
    /// When the link is detached.
    LinkDetach,
    /// When the session ends.
    #[default]
    SessionEnd,
    /// When the connection is closed.
    ConnectionClose,
    /// Never.
    Never,
}

impl ExpiryPolicy {
    /// The symbol on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LinkDetach => "link-detach",
            Self::SessionEnd => "session-end",
            Self::ConnectionClose => "connection-close",
            Self::Never => "never",
        }
    }

    fn from_symbol(symbol: &str) -> Option<Self> {
        [Self::LinkDetach, Self::SessionEnd, Self::ConnectionClose, Self::Never]
            .into_iter()
            .find(|policy| policy.as_str() == symbol)
    }
}

/// A source terminus.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Source {
    /// The address. Only strings are used; another type is a decode error.
    pub address: Option<String>,
    /// 0 none, 1 configuration, 2 unsettled-state.
    pub durable: u32,
    /// When it expires.
    pub expiry_policy: ExpiryPolicy,
    /// Seconds from there.
    pub timeout: u32,
    /// The peer is asked to make a node.
    pub dynamic: bool,
    /// What that node should be.
    pub dynamic_node_properties: Option<Map>,
    /// `move` or `copy`.
    pub distribution_mode: Option<Symbol>,
    /// Named filters.
    pub filter: Option<Map>,
    /// The outcome of deliveries that are settled without one, or that the link loses.
    pub default_outcome: Option<Value>,
    /// Descriptors of the outcomes that can be chosen; none given means all.
    pub outcomes: Vec<Symbol>,
    /// Extensions that the source supports or asks for.
    pub capabilities: Vec<Symbol>,
}

/// A target terminus.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Target {
    /// The address. Only strings are used; another type is a decode error.
    pub address: Option<String>,
    /// 0 none, 1 configuration, 2 unsettled-state.
    pub durable: u32,
    /// When it expires.
    pub expiry_policy: ExpiryPolicy,
    /// Seconds from there.
    pub timeout: u32,
    /// The peer is asked to make a node.
    pub dynamic: bool,
    /// What that node should be.
    pub dynamic_node_properties: Option<Map>,
    /// Extensions that the target supports or asks for.
    pub capabilities: Vec<Symbol>,
}

/// What an attach may carry in its target field.
#[derive(Clone, Debug, PartialEq)]
pub enum TargetTerminus {
    /// A node.
    Target(Target),
    /// A transaction coordinator.
    Coordinator {
        /// Such as `amqp:local-transactions`.
        capabilities: Vec<Symbol>,
    },
}

/// The fields with which source and target begin.
struct Common {
    address: Option<String>,
    durable: u32,
    expiry_policy: ExpiryPolicy,
    timeout: u32,
    dynamic: bool,
    dynamic_node_properties: Option<Map>,
}

impl Common {
    fn decode(fields: &mut Fields<'_>) -> Result<Self, DecodeError> {
        let address = fields.optional(Decoder::read_str)?.map(str::to_owned);
        let durable = fields.optional(Decoder::read_uint)?.unwrap_or(0);
        if durable > 2 {
            return Err(fields.out_of_range("durable"));
        }
        let expiry_policy = match fields.optional(Decoder::read_symbol)? {
            Some(symbol) => ExpiryPolicy::from_symbol(symbol).ok_or_else(|| fields.out_of_range("expiry-policy"))?,
            None => ExpiryPolicy::default(),
        };
        Ok(Self {
            address,
            durable,
            expiry_policy,
            timeout: fields.optional(Decoder::read_uint)?.unwrap_or(0),
            dynamic: fields.optional(Decoder::read_bool)?.unwrap_or(false),
            dynamic_node_properties: fields.optional(Decoder::read_owned_map)?,
        })
    }
}

/// Writes what source and target have in common. Fields with their default value are written all the same, as the old
/// router does, so that traces of both read alike.
macro_rules! encode_common {
    ($list:expr, $terminus:expr) => {
        $list.optional($terminus.address.as_deref(), encode::string);
        $list.field(|out| encode::uint(out, $terminus.durable));
        $list.field(|out| encode::symbol(out, $terminus.expiry_policy.as_str()));
        $list.field(|out| encode::uint(out, $terminus.timeout));
        $list.field(|out| encode::boolean(out, $terminus.dynamic));
        $list.optional($terminus.dynamic_node_properties.as_ref(), |out, map| map.encode(out));
    };
}

impl Source {
    /// Reads a described source.
    ///
    /// # Errors
    /// If it is not a well-formed one.
    pub fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let found = decoder.read_descriptor()?;
        if found.code() != Some(descriptor::SOURCE) {
            return Err(DecodeError::unknown_descriptor(found));
        }
        let mut fields = decoder.read_fields("source", 11)?;
        let common = Common::decode(&mut fields)?;
        let source = Self {
            address: common.address,
            durable: common.durable,
            expiry_policy: common.expiry_policy,
            timeout: common.timeout,
            dynamic: common.dynamic,
            dynamic_node_properties: common.dynamic_node_properties,
            distribution_mode: fields.optional(Decoder::read_symbol)?.map(Symbol::from),
            filter: fields.optional(Decoder::read_owned_map)?,
            default_outcome: fields.optional(Decoder::read_value)?,
            outcomes: fields.symbols()?,
            capabilities: fields.symbols()?,
        };
        fields.finish()?;
        Ok(source)
    }

    /// Appends the described source.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut list = ListEncoder::described(out, descriptor::SOURCE);
        encode_common!(list, self);
        list.optional(self.distribution_mode.as_ref(), |out, mode| encode::symbol(out, mode.as_str()));
        list.optional(self.filter.as_ref(), |out, filter| filter.encode(out));
        list.optional(self.default_outcome.as_ref(), |out, outcome| outcome.encode(out));
        list.symbols(&self.outcomes);
        list.symbol_or_symbols(&self.capabilities);
        list.finish();
    }
}

impl Target {
    fn decode_fields(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let mut fields = decoder.read_fields("target", 7)?;
        let common = Common::decode(&mut fields)?;
        let target = Self {
            address: common.address,
            durable: common.durable,
            expiry_policy: common.expiry_policy,
            timeout: common.timeout,
            dynamic: common.dynamic,
            dynamic_node_properties: common.dynamic_node_properties,
            capabilities: fields.symbols()?,
        };
        fields.finish()?;
        Ok(target)
    }

    /// Appends the described target.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut list = ListEncoder::described(out, descriptor::TARGET);
        encode_common!(list, self);
        list.symbol_or_symbols(&self.capabilities);
        list.finish();
    }
}

impl TargetTerminus {
    /// Reads a described target or coordinator.
    ///
    /// # Errors
    /// If it is neither, or malformed.
    pub fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let found = decoder.read_descriptor()?;
        match found.code() {
            Some(descriptor::TARGET) => Target::decode_fields(decoder).map(Self::Target),
            Some(descriptor::COORDINATOR) => {
                let mut fields = decoder.read_fields("coordinator", 1)?;
                let capabilities = fields.symbols()?;
                fields.finish()?;
                Ok(Self::Coordinator { capabilities })
            }
            _ => Err(DecodeError::unknown_descriptor(found)),
        }
    }

    /// Appends the described target or coordinator.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Target(target) => target.encode(out),
            Self::Coordinator { capabilities } => {
                let mut list = ListEncoder::described(out, descriptor::COORDINATOR);
                list.symbol_or_symbols(capabilities);
                list.finish();
            }
        }
    }
}

impl From<Target> for TargetTerminus {
    fn from(target: Target) -> Self {
        Self::Target(target)
    }
}
