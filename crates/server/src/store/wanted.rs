//! What an attach asks for, as far as a queue can give it.

use amqp::condition::names;
use amqp::terminus::{ExpiryPolicy, Source, TargetTerminus};
use amqp::{Decoder, DeliveryState, ErrorCondition, Map, Symbol, Value, descriptor};
use queue_core::Lifetime;
use router_core::{OpenLink, plain_address};

/// The name of the selector filter as a descriptor, and its number.
const SELECTOR_NAMES: [&str; 2] = ["apache.org:selector-filter:string", "jms-selector"];
const SELECTOR_CODE: u64 = 0x0000_468C_0000_0004;
/// The same of the filter that keeps a client's own messages from it.
const NO_LOCAL_NAME: &str = "apache.org:no-local-filter:list";
const NO_LOCAL_CODE: u64 = 0x0000_468C_0000_0003;
/// The property of a link that ranks it among the consumers of its queue.
const PRIORITY: &str = "priority";
/// Where dynamic nodes are made that a queue is asked for.
pub(super) const DYNAMIC: &str = "$dynamic";
/// Where transactions are coordinated.
pub(super) const COORDINATOR: &str = "$coordinator";

/// What an attach asks for.
#[derive(Debug)]
pub(super) enum Wanted {
    /// To send to an address.
    Send(Node),
    /// To receive from one.
    Receive(Box<Receive>),
    /// To do work in transactions.
    Coordinate,
}

/// A node, by its address or yet to be made.
#[derive(Debug)]
pub(super) struct Node {
    /// Without what stands before it in an URL. Of a dynamic node it is empty.
    pub(super) address: String,
    /// The node is to be made, to live so long.
    pub(super) dynamic: Option<Lifetime>,
    /// It has to be a queue, or a topic.
    pub(super) kind: Option<Kind>,
}

/// What a node has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Queue,
    Topic,
}

/// What a receiver asks for.
#[derive(Debug)]
pub(super) struct Receive {
    pub(super) node: Node,
    /// Messages stay in the queue.
    pub(super) browses: bool,
    /// Only messages that this fits: what the filter is called by the client, and its text.
    pub(super) selector: Option<(Value, String)>,
    /// Not the client's own messages: the filter as the client gave it, its name first.
    pub(super) no_local: Option<(Value, Value)>,
    /// Nobody else is to receive.
    pub(super) exclusive: bool,
    /// The subscription is shared by all links of this name, of the same container unless it is global.
    pub(super) shared: bool,
    pub(super) global: bool,
    /// The subscription is to outlive the link.
    pub(super) survives: bool,
    /// Its messages are to outlive the router.
    pub(super) durable: bool,
    /// Rank among the consumers.
    pub(super) priority: i32,
    /// What it means if a delivery is settled without a state.
    pub(super) default_outcome: DeliveryState,
}

impl Wanted {
    /// Reads an attach.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn of(link: &OpenLink) -> Result<Self, ErrorCondition> {
        if link.incoming {
            let source = link.source.as_ref().ok_or_else(|| invalid("The attach of a receiver has no source"))?;
            return Ok(Self::Receive(Box::new(Receive::of(source, link.terms.properties.as_ref())?)));
        }
        match &link.target {
            Some(TargetTerminus::Coordinator { .. }) => Ok(Self::Coordinate),
            Some(TargetTerminus::Target(target)) => Ok(Self::Send(Node {
                address: address_of(target.address.as_deref()),
                dynamic: lifetime(target.dynamic, target.dynamic_node_properties.as_ref()),
                kind: Kind::of(&target.capabilities),
            })),
            None => Err(invalid("The attach of a sender has no target")),
        }
    }
}

impl Kind {
    fn of(capabilities: &[Symbol]) -> Option<Self> {
        capabilities.iter().find_map(|capability| match capability.as_str() {
            "queue" => Some(Self::Queue),
            "topic" => Some(Self::Topic),
            _ => None,
        })
    }
}

impl Receive {
    fn of(source: &Source, properties: Option<&Map>) -> Result<Self, ErrorCondition> {
        let has = |name: &str| source.capabilities.iter().any(|capability| capability.as_str() == name);
        let node = Node {
            address: address_of(source.address.as_deref()),
            dynamic: lifetime(source.dynamic, source.dynamic_node_properties.as_ref()),
            kind: Kind::of(&source.capabilities),
        };
        let mut receive = Self {
            node,
            browses: source.distribution_mode.as_ref().is_some_and(|mode| mode.as_str() == "copy"),
            selector: None,
            no_local: None,
            exclusive: has("exclusive") || has("exclusive-consumer"),
            shared: has("shared"),
            global: has("global"),
            survives: source.timeout > 0 || source.expiry_policy == ExpiryPolicy::Never,
            durable: source.durable > 0,
            priority: properties.and_then(priority).unwrap_or(0),
            default_outcome: source.default_outcome.as_ref().and_then(outcome).unwrap_or(DeliveryState::Accepted),
        };
        for (name, filter) in source.filter.iter().flat_map(|filter| &filter.0) {
            receive.filter(name, filter)?;
        }
        Ok(receive)
    }

    /// Notes one filter. What is not known is left out, and so out of the answer.
    fn filter(&mut self, name: &Value, filter: &Value) -> Result<(), ErrorCondition> {
        let (kind, value) = match filter {
            Value::Described(described) => (kind_of(&described.descriptor), &described.value),
            // Some clients leave the descriptor out.
            value => (kind_of(name), value),
        };
        match (kind, value) {
            (Some(Filter::Selector), Value::String(text)) => self.selector = Some((name.clone(), text.clone())),
            (Some(Filter::Selector), _) => {
                return Err(invalid("The selector filter is no string: give it the text of the expression"));
            }
            (Some(Filter::NoLocal), _) => self.no_local = Some((name.clone(), filter.clone())),
            (None, _) => {}
        }
        Ok(())
    }

    /// The filters that are applied, as they stand in the answer. `no_local`: the client's own messages are kept from it.
    pub(super) fn applied(&self, no_local: bool) -> Option<Map> {
        let mut applied = Map::default();
        if let Some((name, text)) = &self.selector {
            let value = described(SELECTOR_NAMES[0], Value::String(text.clone()));
            applied.0.push((name.clone(), value));
        }
        applied.0.extend(self.no_local.clone().filter(|_| no_local));
        (!applied.0.is_empty()).then_some(applied)
    }
}

fn described(descriptor: &str, value: Value) -> Value {
    Value::Described(Box::new(amqp::Described { descriptor: Value::Symbol(descriptor.into()), value }))
}

enum Filter {
    Selector,
    NoLocal,
}

fn kind_of(descriptor: &Value) -> Option<Filter> {
    match descriptor {
        Value::Symbol(name) if SELECTOR_NAMES.contains(&name.as_str()) => Some(Filter::Selector),
        Value::Ulong(SELECTOR_CODE) => Some(Filter::Selector),
        Value::Symbol(name) if name.as_str() == NO_LOCAL_NAME => Some(Filter::NoLocal),
        Value::Ulong(NO_LOCAL_CODE) => Some(Filter::NoLocal),
        _ => None,
    }
}

fn priority(properties: &Map) -> Option<i32> {
    properties.get(PRIORITY).and_then(Value::as_i64).and_then(|priority| i32::try_from(priority).ok())
}

fn outcome(value: &Value) -> Option<DeliveryState> {
    let mut bytes = Vec::new();
    value.encode(&mut bytes);
    DeliveryState::decode(&mut Decoder::new(&bytes)).ok().filter(DeliveryState::is_terminal)
}

/// The address without scheme and host.
fn address_of(address: Option<&str>) -> String {
    plain_address(address.unwrap_or_default()).to_owned()
}

/// Whether messages can be led to an address as it is: it means nothing else to the core.
pub(super) fn is_plain(address: &str) -> bool {
    let token = |token: &str| token == "*" || token == "#";
    !address.is_empty() && !address.ends_with(['.', '/']) && !address.split(['.', '/']).any(token)
}

/// How long a dynamic node is to live; by default as long as the link.
fn lifetime(dynamic: bool, properties: Option<&Map>) -> Option<Lifetime> {
    let policy = properties.and_then(|properties| properties.get("lifetime-policy"));
    let given = match policy {
        Some(Value::Described(described)) => match &described.descriptor {
            Value::Ulong(code) => Some(*code),
            Value::Symbol(name) => descriptor::Descriptor::from_symbol(name.as_str()).code(),
            _ => None,
        },
        _ => None,
    };
    dynamic.then_some(match given {
        Some(descriptor::DELETE_ON_NO_LINKS) => Lifetime::Unused,
        Some(descriptor::DELETE_ON_NO_MESSAGES) => Lifetime::Empty,
        Some(descriptor::DELETE_ON_NO_LINKS_OR_MESSAGES) => Lifetime::UnusedAndEmpty,
        _ => Lifetime::OnClose,
    })
}

/// Why an address is none of a queue or topic.
pub(super) fn not_plain(address: &str) -> String {
    format!(
        "'{address}' cannot be the address of a queue or topic: it must not be empty, none of its parts * or #, and it \
         must not end with . or /"
    )
}

pub(super) fn invalid(text: impl Into<String>) -> ErrorCondition {
    ErrorCondition::new(names::INVALID_FIELD, text)
}
