//! The terminus that a link route is about: the target where clients send, the source where they receive.

use amqp::terminus::{ExpiryPolicy, Source, TargetTerminus};
use amqp::{Map, Value};

use super::{COORDINATOR, Way};
use crate::AttachInfo;

/// Where dynamic nodes with a lifetime policy are made, as link routes name it.
const DYNAMIC: &str = "$dynamic";
/// The property of a dynamic node that says which link route it is to go by.
const DYNAMIC_ADDRESS: &str = "x-opt-qd.address";

/// Changes the address of the terminus that a link route is about: the target where clients send.
pub(super) fn change_address(
    client_sends: bool,
    source: &mut Option<Source>,
    target: &mut Option<TargetTerminus>,
    change: impl FnOnce(&str) -> Option<String>,
) {
    let address = match (client_sends, source, target) {
        (true, _, Some(TargetTerminus::Target(target))) => &mut target.address,
        (false, Some(source), _) => &mut source.address,
        _ => return,
    };
    if let Some(changed) = address.as_deref().and_then(change) {
        *address = Some(changed);
    }
}

/// The properties of a dynamic node, on the terminus that a link route is about.
pub(super) fn dynamic_properties<'t>(
    client_sends: bool,
    source: &'t mut Option<Source>,
    target: &'t mut Option<TargetTerminus>,
) -> Option<&'t mut Map> {
    match (client_sends, source, target) {
        (true, _, Some(TargetTerminus::Target(target))) if target.dynamic => target.dynamic_node_properties.as_mut(),
        (false, Some(source), _) if source.dynamic => source.dynamic_node_properties.as_mut(),
        _ => None,
    }
}

/// The terminus that is looked at to find a link route.
pub(super) struct Terminus<'a> {
    pub(super) address: &'a str,
    pub(super) survives: bool,
}

impl<'a> Terminus<'a> {
    /// The way over this connection, with no container at its end.
    pub(super) fn way(&self, conn: u32) -> Way {
        Way { conn, route: None, survives: self.survives, shown: Some(format!("M0{}", self.address).into()) }
    }

    pub(super) fn of(attach: &'a AttachInfo) -> Option<Self> {
        let (address, dynamic, properties, timeout, expiry) = match (attach.incoming, &attach.source, &attach.target) {
            (true, _, Some(TargetTerminus::Coordinator { .. })) => {
                return Some(Self { address: COORDINATOR, survives: false });
            }
            (true, _, Some(TargetTerminus::Target(target))) => {
                (&target.address, target.dynamic, &target.dynamic_node_properties, target.timeout, target.expiry_policy)
            }
            (false, Some(source), _) => {
                (&source.address, source.dynamic, &source.dynamic_node_properties, source.timeout, source.expiry_policy)
            }
            _ => return None,
        };
        let address = match dynamic {
            true => properties.as_ref().and_then(dynamic_address).or_else(|| properties.as_ref().and_then(of_lifetime)),
            false => address.as_deref(),
        };
        let survives = timeout > 0 || expiry == ExpiryPolicy::Never;
        Some(Self { address: address.filter(|address| !address.is_empty())?, survives })
    }
}

/// A node with a lifetime of its own is more than a temporary address of this router: whoever has a link route for
/// [`DYNAMIC`] makes it.
fn of_lifetime(properties: &Map) -> Option<&'static str> {
    properties.get("lifetime-policy").map(|_| DYNAMIC)
}

pub(super) fn change_dynamic_address(properties: &mut Map, change: impl FnOnce(&str) -> Option<String>) {
    let found = properties.0.iter_mut().find_map(|(key, value)| match value {
        Value::String(value) if is_dynamic_address(key) => Some(value),
        _ => None,
    });
    if let Some(value) = found
        && let Some(changed) = change(value.as_str())
    {
        *value = changed;
    }
}

fn is_dynamic_address(key: &Value) -> bool {
    match key {
        Value::Symbol(key) => key.as_str() == DYNAMIC_ADDRESS,
        Value::String(key) => key == DYNAMIC_ADDRESS,
        _ => false,
    }
}

fn dynamic_address(properties: &Map) -> Option<&str> {
    properties.0.iter().find_map(|(key, value)| match value {
        Value::String(value) if is_dynamic_address(key) => Some(value.as_str()),
        _ => None,
    })
}
