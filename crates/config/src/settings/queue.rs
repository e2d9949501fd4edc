//! The `queue`, `queueTemplate` and `topic` sections.

use super::addressing::AddressMatch;
use super::read::Reader;
use management::Attributes;
use management::schema::{Class, Invalid};
use queue_core::{Lifetime, Overflow, QueueSettings};
use router_core::{Pattern, PatternTree, plain_address};
use selector::Selector;
use std::sync::Arc;

/// The fastest that a redelivery delay can grow, in percent.
const MAX_MULTIPLIER: u32 = 100_000;

/// Attributes that name the queue that messages go to which leave theirs.
const FOLLOWERS: [&str; 2] = ["deadLetterAddress", "expiryAddress"];
/// What addresses of the router itself begin with, and one that it cannot do without.
const OWN: [char; 2] = ['$', '_'];
const MANAGEMENT: &str = "$management";

/// What a `queue` entity says.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueConfig {
    /// The queue, with its address.
    pub settings: QueueSettings,
}

/// What a `queueTemplate` entity says.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueTemplateConfig {
    /// Which addresses are such queues: tokens between `.` and `/`; `*` stands for one of them, `#` for any number.
    pub pattern: String,
    /// What they are like; the address is empty.
    pub settings: QueueSettings,
}

/// What a `topic` entity says.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicConfig {
    /// Its address.
    pub address: String,
    /// What the queues of its subscriptions are like; the address is empty.
    pub subscription: QueueSettings,
}

impl QueueConfig {
    /// Reads the settings of a `queue` entity.
    ///
    /// # Errors
    /// If there is no address, or settings are impossible or do not go together.
    pub fn from_attributes(attributes: &Attributes) -> Result<Self, Invalid> {
        let address = address(attributes, "queue")?;
        let settings = settings(attributes, &address)?;
        for name in FOLLOWERS {
            if attributes.text(name) == Some(address.as_str()) {
                let text = format!("'{name}' of queue '{address}' is the queue itself");
                return Err(Invalid::attribute(name, Class::Value, text)
                    .hint(format!("write another address, such as {address}.dead, or remove it")));
            }
        }
        Ok(QueueConfig { settings })
    }
}

impl QueueTemplateConfig {
    /// Reads the settings of a `queueTemplate` entity.
    ///
    /// # Errors
    /// As for a queue.
    pub fn from_attributes(attributes: &Attributes) -> Result<Self, Invalid> {
        // It has no prefix: a pattern is asked for, and judged.
        AddressMatch::from_attributes(attributes)?;
        let pattern = Reader(attributes).text_or("pattern", "");
        free_of_the_routers_own(&pattern)?;
        same_name(attributes, &pattern)?;
        Ok(QueueTemplateConfig { pattern, settings: settings(attributes, "template")?.named("") })
    }
}

impl TopicConfig {
    /// Reads the settings of a `topic` entity.
    ///
    /// # Errors
    /// As for a queue.
    pub fn from_attributes(attributes: &Attributes) -> Result<Self, Invalid> {
        let address = address(attributes, "topic")?;
        Ok(TopicConfig { subscription: settings(attributes, &address)?.named(""), address })
    }
}

/// Settings that are of no queue yet.
trait Named {
    fn named(self, address: &str) -> Self;
}

impl Named for QueueSettings {
    fn named(self, address: &str) -> Self {
        QueueSettings { address: address.into(), ..self }
    }
}

/// The one address that a queue or topic has.
fn address(attributes: &Attributes, what: &str) -> Result<String, Invalid> {
    let address = Reader(attributes).text_or("address", "");
    if address.is_empty() {
        return Err(Invalid::attribute("address", Class::Value, format!("A {what} needs an address"))
            .hint("write address: and a name, such as orders"));
    }
    one_address("address", &address, what)?;
    same_name(attributes, &address)?;
    Ok(address)
}

/// What the attribute `name` says is one address that a queue or topic (`what`) can have.
fn one_address(name: &str, address: &str, what: &str) -> Result<(), Invalid> {
    let wrong = |text: String, hint: &str| Err(Invalid::attribute(name, Class::Value, text).hint(hint));
    if address.starts_with(OWN) {
        let text = format!("'{address}' cannot be a {what}: the router itself uses addresses that begin so");
        return wrong(text, "choose an address that begins with another character");
    }
    if address.split(['.', '/']).any(|token| matches!(token, "*" | "#")) {
        let text = format!("'{address}' is a pattern, not one address");
        return wrong(text, "write a queueTemplate for queues whose addresses fit a pattern");
    }
    // Clients that name it would reach what remains.
    match plain_address(address) {
        plain if plain == address => Ok(()),
        "" => wrong(format!("'{address}' is no address"), "write a name, such as orders"),
        plain => {
            let text = format!("'{address}' is not what clients reach: for them it means '{plain}'");
            wrong(text, &format!("write {plain}"))
        }
    }
}

/// A template takes no address that the router itself uses: nobody could manage it any more.
fn free_of_the_routers_own(pattern: &str) -> Result<(), Invalid> {
    let mut tree = PatternTree::default();
    if let Some(parsed) = Pattern::parse(pattern) {
        tree.insert(&parsed, ());
    }
    if !pattern.starts_with(OWN) && tree.best(MANAGEMENT).is_none() {
        return Ok(());
    }
    let text = format!("'{pattern}' takes in addresses that the router itself uses, such as {MANAGEMENT}");
    Err(Invalid::attribute("pattern", Class::Value, text)
        .hint("begin with a name that no address of the router has, such as queue.#"))
}

/// Nothing else than the address is a name: it is what remains of it in the store.
fn same_name(attributes: &Attributes, address: &str) -> Result<(), Invalid> {
    match attributes.text("name") {
        Some(name) if name != address => {
            let text = format!("The name '{name}' is not the address '{address}'");
            Err(Invalid::attribute("name", Class::Value, text).hint("remove name: it is called by its address"))
        }
        _ => Ok(()),
    }
}

fn settings(attributes: &Attributes, address: &str) -> Result<QueueSettings, Invalid> {
    let read = Reader(attributes);
    for name in FOLLOWERS {
        if let Some(follower) = read.text(name) {
            one_address(name, &follower, "queue")?;
        }
    }
    let number = |name: &str| read.number(name, 0, i64::MAX).map(|it| it.and_then(|it| u64::try_from(it).ok()));
    let limit = |name: &str| read.number(name, 1, i64::MAX).map(|it| it.and_then(|it| u64::try_from(it).ok()));
    let text = |name: &str| read.text(name).map(Arc::from);
    let default = QueueSettings::new(address);
    let settings = QueueSettings {
        durable: read.flag("durable", default.durable),
        priorities: read.flag("priorities", default.priorities),
        max_messages: limit("maxMessages")?,
        max_bytes: limit("maxBytes")?,
        overflow: read.word("overflow", overflow)?.unwrap_or(default.overflow),
        default_ttl: limit("defaultTtl")?,
        max_ttl: limit("maxTtl")?,
        expiry_address: text("expiryAddress"),
        dead_letter_address: text("deadLetterAddress"),
        delivery_limit: read.count("deliveryLimit")?.unwrap_or(default.delivery_limit),
        redelivery_delay: number("redeliveryDelay")?.unwrap_or(default.redelivery_delay),
        redelivery_multiplier: multiplier(&read)?,
        max_redelivery_delay: number("maxRedeliveryDelay")?,
        groups: read.flag("groups", default.groups),
        last_value_key: text("lastValueKey"),
        duplicate_count: read.count("duplicateCount")?.unwrap_or(default.duplicate_count),
        duplicate_time: number("duplicateTime")?.unwrap_or(default.duplicate_time),
        filter: filter(&read)?,
        single_active: read.flag("singleActiveConsumer", default.single_active),
        max_consumers: limit("maxConsumers")?.map(|most| u32::try_from(most).unwrap_or(u32::MAX)),
        browse_only: read.flag("browseOnly", default.browse_only),
        lifetime: read.word("lifetime", lifetime)?.unwrap_or(default.lifetime),
        auto_delete_delay: number("autoDeleteDelay")?.unwrap_or(default.auto_delete_delay),
        ..default
    };
    together(&settings)?;
    Ok(settings)
}

/// What does not go together.
fn together(settings: &QueueSettings) -> Result<(), Invalid> {
    let wrong = |name: &str, text: &str, hint: &str| Err(Invalid::attribute(name, Class::Value, text).hint(hint));
    let no_limit = settings.max_messages.is_none() && settings.max_bytes.is_none();
    if settings.overflow != Overflow::Hold && no_limit {
        let text = "'overflow' says what happens at a limit, but there is no limit";
        return wrong("overflow", text, "add maxMessages: or maxBytes:, or remove overflow");
    }
    if settings.duplicate_time > 0 && settings.duplicate_count == 0 {
        let text = "'duplicateTime' says how long ids are remembered, but none are";
        return wrong("duplicateTime", text, "add duplicateCount:, such as 10000");
    }
    if settings.auto_delete_delay > 0 && settings.lifetime == Lifetime::Manual {
        let text = "'autoDeleteDelay' delays a deletion, but the queue is not deleted by itself";
        return wrong("autoDeleteDelay", text, "add lifetime: unused, empty or unusedAndEmpty");
    }
    match settings.problem() {
        Some(problem) => Err(Invalid::entity(Class::Value, problem)),
        None => Ok(()),
    }
}

fn overflow(word: &str) -> Option<Overflow> {
    Some(match word {
        "hold" => Overflow::Hold,
        "reject" => Overflow::Reject,
        "dropHead" => Overflow::DropHead,
        "ring" => Overflow::Ring,
        _ => return None,
    })
}

fn lifetime(word: &str) -> Option<Lifetime> {
    Some(match word {
        "manual" => Lifetime::Manual,
        "unused" => Lifetime::Unused,
        "empty" => Lifetime::Empty,
        "unusedAndEmpty" => Lifetime::UnusedAndEmpty,
        _ => return None,
    })
}

/// The factor, in percent.
fn multiplier(read: &Reader<'_>) -> Result<u32, Invalid> {
    let Some(text) = read.text("redeliveryMultiplier") else { return Ok(100) };
    let percent = text.trim().parse::<f64>().map_or(f64::NAN, |factor| (factor * 100.0).round());
    if (100.0..=f64::from(MAX_MULTIPLIER)).contains(&percent) {
        // In the range of a u32.
        return Ok(percent as u32);
    }
    let told = format!("'redeliveryMultiplier' is no factor from 1 to {}: '{text}'", MAX_MULTIPLIER / 100);
    Err(Invalid::attribute("redeliveryMultiplier", Class::Value, told).hint("write a number such as 2 or 1.5"))
}

fn filter(read: &Reader<'_>) -> Result<Option<Arc<str>>, Invalid> {
    let Some(text) = read.text("filter") else { return Ok(None) };
    match Selector::parse(&text) {
        Ok(_) => Ok(Some(text.into())),
        Err(error) => {
            let at = error.character + 1;
            let told = format!("The filter at character {at}: expected {}, found {}", error.expected, error.found);
            Err(Invalid::attribute("filter", Class::Value, told).hint(error.remedy))
        }
    }
}
