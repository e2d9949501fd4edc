//! What another configuration would change of the one that a router runs with.

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
    let mut gone: Vec<&Entity> = old.iter().collect();
    let mut come: Vec<&Entity> = Vec::new();
    for entity in new {
        match gone.iter().position(|other| same(other, entity)) {
            Some(index) => drop(gone.remove(index)),
            None => come.push(entity),
        }
    }
    let mut changes = Vec::new();
    for entity in come {
        let index = gone.iter().position(|other| same_name(other, entity));
        let old = index.map(|index| gone.remove(index));
        changes.push(Change { old, new: Some(entity) });
    }
    changes.extend(gone.into_iter().map(|entity| Change { old: Some(entity), new: None }));
    changes
}

/// Whether two entities are the same but for names that were generated.
pub fn same(one: &Entity, other: &Entity) -> bool {
    one.entity_type == other.entity_type && differences(&one.attributes, &other.attributes).is_empty()
}

fn same_name(one: &Entity, other: &Entity) -> bool {
    let key = if one.entity_type.short == "vhost" { "hostname" } else { "name" };
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
    fn what_the_router_is_needs_a_restart() {
        let told = told(ROUTER, "router {\n id: B\n}\n");
        assert!(
            told[0].starts_with("~ router") && told[0].contains("only when the router is started again"),
            "{told:?}"
        );
    }
}
