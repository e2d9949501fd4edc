//! What entities have to agree on with each other.

use crate::configuration::Settings;
use crate::draft::Draft;
use crate::report::Report;
use crate::settings::{Mode, Role};
use management::schema::{Class, Invalid};
use management::{Attributes, EntityType, names};

/// Whether a listener or connector of this role can be in a router of this mode. For other entities: yes.
///
/// # Errors
/// If not.
pub fn check_role(entity_type: &'static EntityType, attributes: &Attributes, mode: Mode) -> Result<(), Invalid> {
    if !matches!(entity_type.short, "listener" | "connector") {
        return Ok(());
    }
    let role = attributes.text("role").and_then(Role::parse).unwrap_or(Role::Normal);
    let only_interior = || {
        let entity = names::display(entity_type, attributes);
        let text = format!("role='{role}' only allowed with router mode='interior' for {entity}");
        Err(Invalid::attribute("role", Class::Validation, text).hint("change the role, or the router's mode"))
    };
    match (mode, role) {
        (Mode::Standalone, Role::InterRouter | Role::Edge) => {
            let text = "role='standalone' not allowed to connect to or accept connections from other routers.";
            Err(Invalid::attribute("role", Class::Validation, text)
                .hint("write role: normal, or give the router mode: interior or edge"))
        }
        (Mode::Edge, Role::InterRouter) => only_interior(),
        (Mode::Edge, Role::Edge) if entity_type.short == "listener" => only_interior(),
        _ => Ok(()),
    }
}

/// Checks all entities of a configuration against each other.
pub(crate) fn check(drafts: &[Draft<'_>], report: &mut Report) {
    let router = drafts.iter().find(|draft| draft.entity_type.short == "router");
    let mode = match router.map(|draft| (&draft.settings, &draft.faulty)) {
        None => Some(Mode::Standalone),
        Some((Settings::Router(router), faulty)) if !faulty.iter().any(|name| name == "mode") => Some(router.mode),
        Some(_) => None,
    };
    for (index, draft) in drafts.iter().enumerate() {
        let earlier = &drafts[..index];
        let role = mode.map_or(Ok(()), |mode| check_role(draft.entity_type, &draft.attributes, mode));
        let verdicts = [
            singleton(draft, earlier),
            role,
            unique(draft, earlier),
            addresses(draft, earlier),
            exchange(draft, earlier),
            binding(draft, drafts),
            reference(draft, drafts, "sslProfile", "sslProfile"),
            reference(draft, drafts, "saslPlugin", "authServicePlugin"),
            super::vhost_rules::check(draft, earlier),
        ];
        for invalid in verdicts.into_iter().filter_map(Result::err) {
            let span = draft.span_of(invalid.attribute.as_deref().unwrap_or_default());
            report.invalid(draft.source, span, invalid, None);
        }
    }
}

/// There is one router and one policy.
fn singleton(draft: &Draft<'_>, earlier: &[Draft<'_>]) -> Result<(), Invalid> {
    let Some(other) =
        earlier.iter().find(|other| draft.entity_type.singleton && other.entity_type == draft.entity_type)
    else {
        return Ok(());
    };
    let display = |draft: &Draft<'_>| names::display(draft.entity_type, &draft.attributes);
    let full = draft.entity_type.full;
    let text = format!("Adding {full} singleton {} when {} already exists", display(draft), display(other));
    Err(Invalid::entity(Class::Validation, text)
        .hint(format!("put all attributes into one section; the first is in line {}", line_of(other))))
}

/// Names and identities are unique among entities of a type.
fn unique(draft: &Draft<'_>, earlier: &[Draft<'_>]) -> Result<(), Invalid> {
    if draft.entity_type.singleton {
        return Ok(());
    }
    let same_type = || earlier.iter().filter(|other| other.entity_type == draft.entity_type);
    for attribute in ["name", "identity"] {
        let Some(value) = draft.attributes.text(attribute) else { continue };
        let Some(other) = same_type().find(|other| other.attributes.text(attribute) == Some(value)) else { continue };
        let text = names::duplicate_text(draft.entity_type, attribute, &draft.attributes, &other.attributes);
        let hint = format!("choose another name or remove the section; the first is in line {}", line_of(other));
        let invalid = Invalid::attribute(attribute, Class::Validation, text).hint(hint);
        return Err(if draft.is_written(attribute) { invalid } else { invalid.late() });
    }
    Ok(())
}

/// Each address has one treatment.
fn addresses(draft: &Draft<'_>, earlier: &[Draft<'_>]) -> Result<(), Invalid> {
    let Settings::Address(address) = &draft.settings else { return Ok(()) };
    let same = earlier.iter().find(|other| match &other.settings {
        Settings::Address(other) => other.matches.pattern() == address.matches.pattern(),
        _ => false,
    });
    let Some(other) = same else { return Ok(()) };
    let attribute = if draft.is_written("prefix") { "prefix" } else { "pattern" };
    let text = format!("Already exists: an address with {attribute} '{}'", address.matches.as_str());
    let hint = format!("remove one of the two sections; the first is in line {}", line_of(other));
    Err(Invalid::attribute(attribute, Class::General, text).hint(hint))
}

/// Exchanges differ in name and address.
fn exchange(draft: &Draft<'_>, earlier: &[Draft<'_>]) -> Result<(), Invalid> {
    let Settings::Exchange(exchange) = &draft.settings else { return Ok(()) };
    let others = earlier.iter().filter_map(|other| match &other.settings {
        Settings::Exchange(other) => Some(other),
        _ => None,
    });
    for other in others {
        if other.address == exchange.address && other.phase == exchange.phase {
            return Err(Invalid::attribute("address", Class::General, "duplicate exchange address")
                .hint("give each exchange an address of its own"));
        }
    }
    Ok(())
}

/// A binding belongs to an exchange that exists.
fn binding(draft: &Draft<'_>, all: &[Draft<'_>]) -> Result<(), Invalid> {
    let Settings::Binding(binding) = &draft.settings else { return Ok(()) };
    let exists = all.iter().any(|other| match &other.settings {
        Settings::Exchange(exchange) => exchange.name == binding.exchange_name,
        _ => false,
    });
    if exists {
        return Ok(());
    }
    Err(Invalid::attribute("exchangeName", Class::General, "Named exchange does not exist")
        .hint(format!("add a section exchange with name: {}", binding.exchange_name)))
}

/// What is referred to by name exists.
fn reference(draft: &Draft<'_>, all: &[Draft<'_>], attribute: &str, entity: &str) -> Result<(), Invalid> {
    let Some(name) = draft.attributes.text(attribute).filter(|name| !name.is_empty()) else { return Ok(()) };
    let mut candidates = all.iter().filter(|other| other.entity_type.short == entity);
    if candidates.any(|other| other.attributes.text("name") == Some(name)) {
        return Ok(());
    }
    let text = match attribute {
        "saslPlugin" => format!("Cannot find sasl plugin {name}"),
        _ => format!("Cannot find {entity} {name}"),
    };
    Err(Invalid::attribute(attribute, Class::Validation, text)
        .hint(format!("add a section {entity} with name: {name}, or correct the name here")))
}

fn line_of(draft: &Draft<'_>) -> u32 {
    draft.source.place(draft.node.span.start).line
}
