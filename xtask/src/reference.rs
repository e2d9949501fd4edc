//! The reference pages of the book, written from the schema that the router itself goes by, so that they cannot say
//! anything else.

use crate::shell;
use anyhow::{Context, Result, bail};
use management::schema::{Attribute, AttributeType, DefaultValue, EntityType, entity_types, own_types};
use std::fmt::Write;

const CONFIGURATION: &str = "docs/configuration-reference.md";
const MANAGEMENT: &str = "docs/management-reference.md";

/// Writes the pages.
pub(crate) fn write() -> Result<()> {
    for (path, text) in pages() {
        std::fs::write(shell::root().join(path), text).with_context(|| format!("cannot write {path}"))?;
        println!("{path}");
    }
    Ok(())
}

/// Fails if a page is not what [`write`] would make of it.
pub(crate) fn check() -> Result<()> {
    for (path, text) in pages() {
        let committed =
            std::fs::read_to_string(shell::root().join(path)).with_context(|| format!("cannot read {path}"))?;
        if committed != text {
            bail!("{path} is not what the schema says: run `cargo xtask reference` and commit it");
        }
    }
    Ok(())
}

fn pages() -> [(&'static str, String); 2] {
    [(CONFIGURATION, configuration()), (MANAGEMENT, management_entities())]
}

const NOTE: &str = "<!-- Written by `cargo xtask reference` from the router's own schema. -->\n";

fn configuration() -> String {
    let mut page = format!(
        "{NOTE}\n# Configuration reference\n\nEvery section that a configuration file may have, with its attributes. How a \
         file is written is told in [Configuration](configuration.md). *Former name* is a name of old that is still read.\n"
    );
    for entity in entity_types().iter().chain(own_types()).filter(|entity| is_section(entity)) {
        let settable: Vec<&Attribute> = entity.all_attributes().filter(|it| is_settable(entity, it)).collect();
        let _ = write!(page, "\n## {}\n\n{}\n", entity.section, entity.description);
        if entity.singleton {
            page.push_str("\nThere is one at most.\n");
        }
        page.push_str("\n| Attribute | Value | Default | Meaning |\n|---|---|---|---|\n");
        for attribute in settable {
            row(&mut page, attribute);
        }
    }
    page
}

fn management_entities() -> String {
    let mut page = format!(
        "{NOTE}\n# Entity reference\n\nEvery entity type that the management node knows, with its operations and attributes. \
         How to ask is told in [Management](management.md). *c*: may be given in CREATE; *u*: may be changed by UPDATE.\n"
    );
    for entity in entity_types().iter().chain(own_types()).filter(|entity| !entity.is_abstract) {
        let _ = write!(page, "\n## {}\n\n`{}`\n\n{}\n", entity.short, entity.full, entity.description);
        let operations: Vec<String> =
            entity.all_operations().chain(entity.own_operations.iter().copied()).map(|it| format!("`{it}`")).collect();
        let _ = write!(page, "\nOperations: {}\n", operations.join(", "));
        calls(&mut page, entity);
        page.push_str("\n| Attribute | Value | | Meaning |\n|---|---|---|---|\n");
        for attribute in entity.all_attributes() {
            let marks = match (attribute.create, attribute.update) {
                (true, true) => "c u",
                (true, false) => "c",
                (false, true) => "u",
                (false, false) => "",
            };
            let _ = writeln!(page, "| `{}` | {} | {marks} | {} |", attribute.name, kind(attribute), meaning(attribute));
        }
    }
    page
}

/// Operations that take arguments, in the body of the request or among its application properties.
fn calls(page: &mut String, entity: &EntityType) {
    if entity.calls.is_empty() {
        return;
    }
    page.push_str("\n| Operation with arguments | | Value | Default | Meaning |\n|---|---|---|---|---|\n");
    for call in entity.calls {
        let _ = writeln!(page, "| **`{}`** | | | | {} |", call.name, call.description);
        for argument in call.arguments {
            let _ = write!(page, "| | `{}` ", argument.name);
            row_of(page, argument);
        }
    }
}

/// Whether a configuration file may have such a section.
fn is_section(entity: &'static EntityType) -> bool {
    let elsewhere = ["router.connection.linkRoute", "vhostUserGroupSettings", "dummy", "console"];
    let configured = entity.bases().any(|base| base.short == "configurationEntity");
    configured && !entity.is_abstract && !elsewhere.contains(&entity.short)
}

fn is_settable(entity: &'static EntityType, attribute: &Attribute) -> bool {
    // A log entity is there from the start: its section updates it.
    let changed_by_section = entity.short == "log" && (attribute.update || attribute.required);
    (attribute.create || changed_by_section) && !matches!(attribute.name, "identity" | "type")
}

fn row(page: &mut String, attribute: &Attribute) {
    // Writing to a String cannot fail.
    let _ = write!(page, "| `{}` ", attribute.name);
    row_of(page, attribute);
}

/// What follows the name.
fn row_of(page: &mut String, attribute: &Attribute) {
    let default = match attribute.default {
        _ if attribute.required => "*required*".to_owned(),
        None | Some(DefaultValue::Text("")) => String::new(),
        Some(DefaultValue::Text(text)) => format!("`{text}`"),
        Some(DefaultValue::Integer(number)) => number.to_string(),
        Some(DefaultValue::Boolean(yes)) => if yes { "yes" } else { "no" }.to_owned(),
    };
    let _ = writeln!(page, "| {} | {default} | {} |", kind(attribute), meaning(attribute));
}

fn kind(attribute: &Attribute) -> String {
    match attribute.kind {
        AttributeType::String => "text".to_owned(),
        AttributeType::Path => "path".to_owned(),
        AttributeType::Integer => "number".to_owned(),
        AttributeType::Boolean => "yes or no".to_owned(),
        AttributeType::List => "list".to_owned(),
        AttributeType::Map => "map".to_owned(),
        AttributeType::Properties => "JSON object".to_owned(),
        AttributeType::EntityId => "identity".to_owned(),
        AttributeType::Enum(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
    }
}

fn meaning(attribute: &Attribute) -> String {
    let mut text = attribute.description.replace('|', "\\|");
    if attribute.deprecated {
        text.push_str(" *Deprecated.*");
    }
    if let Some(name) = attribute.deprecated_name {
        let _ = write!(text, " *Former name:* `{name}`.");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_page_shows_a_listeners_port() {
        let page = configuration();
        let listener =
            page.split("\n## ").find(|section| section.starts_with("listener\n")).expect("a section for listeners");
        assert!(listener.contains("| `port` | text | `amqp` |"), "{listener}");
    }

    #[test]
    fn former_names_are_shown_beside_the_new_ones() {
        assert!(configuration().contains("*Former name:* `saslConfigPath`."));
    }

    #[test]
    fn the_entity_page_shows_what_can_only_be_read() {
        assert!(management_entities().contains("| `deliveryCount` | number |  |"));
    }
}
