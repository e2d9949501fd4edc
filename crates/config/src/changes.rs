//! What another configuration would change of the one that a router runs with.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use crate::configuration::{Config, Entity};
use management::Attributes;

/// Attributes that say which entity it is, not what it does.
const IDENTIFYING: [&str; 3] = ["name", "identity", "type"];
/// What is not shown, as everywhere else.
const SECRET: [&str; 2] = ["password", "saslPassword"];

/// One entity that is not the same in both.
#[derive(Clone, Debug, PartialEq)]
pub struct Change<'c> {
    /// As it is; `None`: it is new.
    pub old: Option<&'c Entity>,
    /// As it would be; `None`: it is no more.
    pub new: Option<&'c Entity>,
}

impl Config {
    /// What changes if `new` takes the place of this one, in the order in which new entities are to be put to work.
    /// Entities are the same if all their attributes are; what is left is paired by type and name.
    pub fn changes<'c>(&'c self, new: &'c Config) -> Vec<Change<'c>> {
        changes(&self.entities, &new.entities)
    }
}

/// See [`Config::changes`].
pub fn changes<'c>(old: &'c [Entity], new: &'c [Entity]) -> Vec<Change<'c>> {
    let mut gone = Unpaired::new(old.iter(), contents);
    let come: Vec<&Entity> = new.iter().filter(|entity| gone.take(entity, contents, same).is_none()).collect();
    let mut gone = Unpaired::new(gone.rest(), name_of);
    let mut changes = Vec::new();
    for entity in come {
        changes.push(Change { old: gone.take(entity, name_of, same_name), new: Some(entity) });
    }
    changes.extend(gone.rest().map(|entity| Change { old: Some(entity), new: None }));
    changes
}

/// Entities that have no partner yet, by a text that partners have in common: there may be very many.
struct Unpaired<'c> {
    entities: Vec<Option<&'c Entity>>,
    places: HashMap<String, VecDeque<usize>>,
}

impl<'c> Unpaired<'c> {
    fn new(entities: impl Iterator<Item = &'c Entity>, text: fn(&Entity) -> String) -> Self {
        let entities: Vec<_> = entities.map(Some).collect();
        let mut places: HashMap<_, VecDeque<_>> = HashMap::new();
        for (place, entity) in entities.iter().flatten().enumerate() {
            places.entry(text(entity)).or_default().push_back(place);
        }
        Self { entities, places }
    }

    /// The first partner of an entity.
    fn take(
        &mut self,
        of: &Entity,
        text: fn(&Entity) -> String,
        pair: fn(&Entity, &Entity) -> bool,
    ) -> Option<&'c Entity> {
        let places = self.places.get_mut(&text(of))?;
        let at = places.iter().position(|place| self.entities[*place].is_some_and(|other| pair(other, of)))?;
        places.remove(at).and_then(|place| self.entities[place].take())
    }

    fn rest(self) -> impl Iterator<Item = &'c Entity> {
        self.entities.into_iter().flatten()
    }
}

/// What entities that are the same have in common.
fn contents(entity: &Entity) -> String {
    let mut attributes: Vec<_> = entity.attributes.iter().filter(|(name, _)| !IDENTIFYING.contains(name)).collect();
    attributes.sort_unstable_by_key(|(name, _)| *name);
    let mut text = entity.entity_type.short.to_owned();
    for (name, value) in attributes {
        text.push(' ');
        text.push_str(name);
        amqp::trace::value(&mut text, value);
    }
    text
}

/// What entities of the same name have in common.
fn name_of(entity: &Entity) -> String {
    let short = entity.entity_type.short;
    match short {
        "router" | "policy" | "store" => short.to_owned(),
        _ => format!("{short} {}", entity.attributes.text(key_of(short)).unwrap_or_default()),
    }
}

fn key_of(short: &str) -> &'static str {
    if short == "vhost" { "hostname" } else { "name" }
}

/// Whether two entities are the same but for names that were generated.
pub fn same(one: &Entity, other: &Entity) -> bool {
    one.entity_type == other.entity_type && differences(&one.attributes, &other.attributes).is_empty()
}

fn same_name(one: &Entity, other: &Entity) -> bool {
    let key = key_of(one.entity_type.short);
    let single = matches!(one.entity_type.short, "router" | "policy" | "store");
    one.entity_type == other.entity_type
        && (single || one.attributes.text(key).is_some_and(|name| other.attributes.text(key) == Some(name)))
}

/// Names of the attributes that are not the same. Names that were generated from the entity's place count as none.
fn differences<'a>(old: &'a Attributes, new: &'a Attributes) -> Vec<&'a str> {
    let mut names: Vec<&str> = old.iter().chain(new.iter()).map(|(name, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| !IDENTIFYING.contains(name) && old.get(name) != new.get(name));
    let own_name = |attributes: &'a Attributes| attributes.text("name").filter(|name| !name.contains('/'));
    if own_name(old) != own_name(new) {
        names.push("name");
    }
    names
}

impl Change<'_> {
    /// Whether a running router cannot make this change. What the router itself is, the policy's frame and where the store
    /// is are read when it starts.
    pub fn needs_restart(&self) -> bool {
        let of = |entity: Option<&Entity>, types: &[&str]| {
            entity.is_some_and(|entity| types.contains(&entity.entity_type.short))
        };
        of(self.new.or(self.old), &["router", "policy"]) || of(self.old, &["store"])
    }
}

impl fmt::Display for Change<'_> {
    /// `+`, `-` or `~`, the section and its name, and for a change each attribute with what it was and what it will be.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(entity) = self.new.or(self.old) else { return Ok(()) };
        let sign = match (self.old, self.new) {
            (None, _) => '+',
            (_, None) => '-',
            _ => '~',
        };
        let name = entity.attributes.text("hostname").filter(|_| entity.entity_type.short == "vhost");
        let name = name.or(entity.attributes.text("name")).unwrap_or_default();
        write!(f, "{sign} {} {name}", entity.entity_type.section)?;
        if self.needs_restart() {
            f.write_str(" (only when the router is started again)")?;
        }
        if let (Some(old), Some(new)) = (self.old, self.new) {
            for attribute in differences(&old.attributes, &new.attributes) {
                let shown = |attributes: &Attributes| match attributes.get(attribute) {
                    None => "nothing".to_owned(),
                    Some(_) if SECRET.contains(&attribute) => "(secret)".to_owned(),
                    Some(value) => {
                        let mut text = String::new();
                        amqp::trace::value(&mut text, value);
                        text
                    }
                };
                write!(f, "\n    {attribute}: {} -> {}", shown(&old.attributes), shown(&new.attributes))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(old: &str, new: &str) -> Vec<String> {
        let config = |text: &str| {
            Config::from_sources(&crate::Source::new("test", text), &mut |_| Ok(Vec::new()))
                .expect("a valid configuration")
        };
        let (old, new) = (config(old), config(new));
        old.changes(&new).iter().map(ToString::to_string).collect()
    }

    const ROUTER: &str = "router {\n id: A\n}\n";

    #[test]
    fn nothing_changes_when_sections_only_change_places() {
        let (one, two) = ("address {\n prefix: a\n}\n", "address {\n prefix: b\n}\n");
        assert_eq!(told(&format!("{ROUTER}{one}{two}"), &format!("{two}{ROUTER}{one}")), Vec::<String>::new());
    }

    #[test]
    fn what_is_added_removed_and_changed_is_told() {
        let old = format!("{ROUTER}listener {{\n name: l\n port: 1\n}}\naddress {{\n name: x\n prefix: a\n}}\n");
        let new = format!("{ROUTER}listener {{\n name: l\n port: 2\n}}\naddress {{\n name: y\n prefix: b\n}}\n");
        let told = told(&old, &new);
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told.contains(&"~ listener l\n    port: \"1\" -> \"2\"".to_owned()), "{told:?}");
        assert!(told.contains(&"+ address y".to_owned()) && told.contains(&"- address x".to_owned()), "{told:?}");
    }

    #[test]
    fn very_many_changes_are_found_as_fast_as_they_are_read() {
        let all = |most| {
            let one = |number: u32| format!("queue {{\n address: q.{number}\n durable: no\n maxMessages: {most}\n}}\n");
            format!("{ROUTER}{}", (0..20_000).map(one).collect::<String>())
        };
        let told = told(&all(1), &all(2));
        assert_eq!(told.len(), 20_000);
        assert!(told.iter().all(|change| change.starts_with("~ queue q.")), "{:?}", told.first());
    }

    #[test]
    fn what_the_router_is_needs_a_restart() {
        let told = told(ROUTER, "router {\n id: B\n}\n");
        assert!(
            told[0].starts_with("~ router") && told[0].contains("only when the router is started again"),
            "{told:?}"
        );
    }
}
