//! What entities have to agree on with each other.

use crate::configuration::Settings;
use crate::draft::Draft;
use crate::report::Report;
use crate::settings::{AddressConfig, Mode, Role};
use crate::store_rules::Kept;
use crate::vhost_rules::VhostNames;
use management::schema::{Class, EXCHANGE, Invalid, QUEUE_SETTINGS, STORE};
use management::{Attributes, EntityType, names};
use std::collections::{HashMap, HashSet};

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

/// Checks all entities of a configuration against each other. Gives the places of those that have no effect.
pub(crate) fn check(drafts: &[Draft<'_>], report: &mut Report) -> Vec<usize> {
    let router = drafts.iter().find(|draft| draft.entity_type.short == "router");
    let mode = match router.map(|draft| (&draft.settings, &draft.faulty)) {
        None => Some(Mode::Standalone),
        Some((Settings::Router(router), faulty)) if !faulty.iter().any(|name| name == "mode") => Some(router.mode),
        Some(_) => None,
    };
    let names = named(drafts);
    let patterns = drafts
        .iter()
        .any(|draft| matches!(&draft.settings, Settings::Policy(policy) if policy.enable_vhost_name_patterns));
    let mut earlier = Earlier::default();
    let mut kept = Kept::new(drafts);
    let mut without_effect = Vec::new();
    for (place, draft) in drafts.iter().enumerate() {
        let role = mode.map_or(Ok(()), |mode| check_role(draft.entity_type, &draft.attributes, mode));
        let address = earlier.address(draft);
        let repeated = address == Ok(true);
        let verdicts = [
            role,
            address.map(drop),
            earlier.singleton(draft),
            earlier.unique(draft),
            earlier.exchange(draft),
            earlier.vhost(draft, patterns),
            kept.unique(draft),
            kept.has_store(draft),
            binding(draft, &names),
            reference(draft, &names, "sslProfile", "sslProfile"),
            reference(draft, &names, "saslPlugin", "authServicePlugin"),
        ];
        for invalid in verdicts.into_iter().filter_map(Result::err) {
            let span = draft.span_of(invalid.attribute.as_deref().unwrap_or_default());
            report.invalid(draft.source, span, invalid, None);
        }
        if repeated {
            report.warn(
                draft.source,
                draft.node.span,
                "This section repeats an earlier one and has no effect; remove it",
            );
            without_effect.push(place);
        }
        if let Settings::Vhost(vhost) = &draft.settings {
            for warning in vhost.warnings() {
                report.warn(draft.source, draft.span_of("groups"), warning);
            }
        }
    }
    without_effect
}

/// What the sections before the present one have taken.
#[derive(Default)]
struct Earlier<'d> {
    singletons: HashMap<&'static str, &'d Draft<'d>>,
    /// By type, attribute and value.
    unique: HashMap<(&'static str, &'static str, &'d str), &'d Draft<'d>>,
    /// By pattern.
    addresses: HashMap<String, &'d Draft<'d>>,
    /// By address and phase.
    exchanges: HashSet<(&'d str, u8)>,
    vhosts: VhostNames<'d>,
}

impl<'d> Earlier<'d> {
    /// There is one router and one policy.
    fn singleton(&mut self, draft: &'d Draft<'d>) -> Result<(), Invalid> {
        if !draft.entity_type.singleton {
            return Ok(());
        }
        let Some(other) = self.singletons.insert(draft.entity_type.short, draft) else { return Ok(()) };
        let display = |draft: &Draft<'_>| names::display(draft.entity_type, &draft.attributes);
        let full = draft.entity_type.full;
        let text = format!("Adding {full} singleton {} when {} already exists", display(draft), display(other));
        let hint = format!("put all attributes into one section; another is in line {}", line_of(other));
        Err(Invalid::entity(Class::Validation, text).hint(hint))
    }

    /// Names and identities are unique among entities of a type.
    fn unique(&mut self, draft: &'d Draft<'d>) -> Result<(), Invalid> {
        // Those of the store are judged by what they keep.
        let kept = draft.entity_type.is_a(&QUEUE_SETTINGS) || *draft.entity_type == STORE;
        if draft.entity_type.singleton || kept {
            return Ok(());
        }
        for attribute in ["name", "identity"] {
            let Some(value) = draft.attributes.text(attribute) else { continue };
            let Some(other) = self.unique.insert((draft.entity_type.short, attribute, value), draft) else { continue };
            let text = names::duplicate_text(draft.entity_type, attribute, &draft.attributes, &other.attributes);
            let hint = format!("choose another name or remove the section; another is in line {}", line_of(other));
            let invalid = Invalid::attribute(attribute, Class::Validation, text).hint(hint);
            return Err(if draft.is_written(attribute) { invalid } else { invalid.late() });
        }
        Ok(())
    }

    /// Each address has one treatment. A section that repeats an earlier one, word by word, has no effect: the old router
    /// starts with such files, and nothing in them is ambiguous. True: this is one.
    fn address(&mut self, draft: &'d Draft<'d>) -> Result<bool, Invalid> {
        let Settings::Address(address) = &draft.settings else { return Ok(false) };
        let Some(other) = self.addresses.insert(address.matches.pattern(), draft) else { return Ok(false) };
        let named_alike = |other: &AddressConfig| AddressConfig { name: address.name.clone(), ..other.clone() };
        if matches!(&other.settings, Settings::Address(other) if named_alike(other) == *address) {
            return Ok(true);
        }
        let attribute = if draft.is_written("prefix") { "prefix" } else { "pattern" };
        let text = format!("Already exists: an address with {attribute} '{}'", address.matches.as_str());
        let hint = format!("remove one of the two sections; another is in line {}", line_of(other));
        Err(Invalid::attribute(attribute, Class::General, text).hint(hint))
    }

    /// Every name stands for one vhost.
    fn vhost(&mut self, draft: &'d Draft<'d>, patterns: bool) -> Result<(), Invalid> {
        let Settings::Vhost(vhost) = &draft.settings else { return Ok(()) };
        self.vhosts.check(vhost, patterns)
    }

    /// Exchanges differ in their addresses.
    fn exchange(&mut self, draft: &'d Draft<'d>) -> Result<(), Invalid> {
        let Settings::Exchange(exchange) = &draft.settings else { return Ok(()) };
        if self.exchanges.insert((&exchange.address, exchange.phase)) {
            return Ok(());
        }
        Err(Invalid::attribute("address", Class::General, "duplicate exchange address")
            .hint("give each exchange an address of its own"))
    }
}

/// The names of all entities, with their types.
fn named<'d>(drafts: &'d [Draft<'_>]) -> HashSet<(&'static str, &'d str)> {
    drafts.iter().filter_map(|draft| Some((draft.entity_type.short, draft.attributes.text("name")?))).collect()
}

/// A binding belongs to an exchange that exists.
fn binding(draft: &Draft<'_>, names: &HashSet<(&'static str, &str)>) -> Result<(), Invalid> {
    let Settings::Binding(binding) = &draft.settings else { return Ok(()) };
    if names.contains(&(EXCHANGE.short, binding.exchange_name.as_str())) {
        return Ok(());
    }
    Err(Invalid::attribute("exchangeName", Class::General, "Named exchange does not exist")
        .hint(format!("add a section exchange with name: {}", binding.exchange_name)))
}

/// What is referred to by name exists.
fn reference(
    draft: &Draft<'_>,
    names: &HashSet<(&'static str, &str)>,
    attribute: &str,
    entity: &'static str,
) -> Result<(), Invalid> {
    let Some(name) = draft.attributes.text(attribute).filter(|name| !name.is_empty()) else { return Ok(()) };
    if names.contains(&(entity, name)) {
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
