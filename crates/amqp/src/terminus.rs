//! Sources and targets (part 3, section 3.5; coordinator: part 4, section 4.5.1).

use crate::{Map, Symbol, Value};

/// When a terminus expires (section 3.5.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ExpiryPolicy {
    LinkDetach,
    #[default]
    SessionEnd,
    ConnectionClose,
    Never,
}

/// A source terminus.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Source {
    /// The address. Only strings are used; another type is a decode error.
    pub address: Option<String>,
    /// 0 none, 1 configuration, 2 unsettled-state.
    pub durable: u32,
    pub expiry_policy: ExpiryPolicy,
    /// Seconds.
    pub timeout: u32,
    pub dynamic: bool,
    pub dynamic_node_properties: Option<Map>,
    pub distribution_mode: Option<Symbol>,
    pub filter: Option<Map>,
    pub default_outcome: Option<Value>,
    pub outcomes: Vec<Symbol>,
    pub capabilities: Vec<Symbol>,
}

/// A target terminus.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Target {
    pub address: Option<String>,
    pub durable: u32,
    pub expiry_policy: ExpiryPolicy,
    /// Seconds.
    pub timeout: u32,
    pub dynamic: bool,
    pub dynamic_node_properties: Option<Map>,
    pub capabilities: Vec<Symbol>,
}

/// What an attach may carry in its target field.
#[derive(Clone, Debug, PartialEq)]
pub enum TargetTerminus {
    Target(Target),
    /// A transaction coordinator.
    Coordinator { capabilities: Vec<Symbol> },
}
