//! The entities as the configuration agent sees them.
//!
//! It knows what came from configuration, under names of its own. What belongs to the routing core it knows only by its
//! configured side: the router without its totals, addresses and routes as `address/<n>`, and so on.

use crate::attributes::Attributes;
use crate::backend::Backend;
use crate::schema::{self, EntityType, MANAGEMENT, ROUTER};
use amqp::Value;

/// An entity in the configuration agent's view.
pub(super) struct Seen {
    pub(super) ty: &'static EntityType,
    /// The identity by which the backend knows it.
    pub(super) backend_identity: String,
    pub(super) attributes: Attributes,
}

impl Seen {
    /// Its name or identity.
    pub(super) fn key(&self, key: &str) -> &str {
        self.attributes.text(key).unwrap_or_default()
    }
}

/// All entities, of all types, that the configuration agent knows.
pub(super) fn all(backend: &mut dyn Backend) -> Vec<Seen> {
    let known = schema::entity_types().iter().copied().filter(|ty| !ty.is_abstract && !is_operational(ty));
    known.flat_map(|ty| of_type(ty, backend)).collect()
}

/// All entities of a type or of those that extend it.
pub(super) fn of_base(base: &'static EntityType, backend: &mut dyn Backend) -> Vec<Seen> {
    if !base.is_abstract {
        return of_type(base, backend);
    }
    let mut entities = all(backend);
    entities.retain(|seen| seen.ty.is_a(base));
    entities
}

/// What only the routing core knows: not part of the view, unless it is asked for by type.
fn is_operational(ty: &EntityType) -> bool {
    !ty.core_columns.is_empty() && ty.section == ty.short && *ty != ROUTER
}

/// All entities of just this type.
fn of_type(ty: &'static EntityType, backend: &mut dyn Backend) -> Vec<Seen> {
    if *ty == MANAGEMENT {
        return vec![management()];
    }
    let see = |attributes: Attributes| {
        let backend_identity = attributes.text("identity").unwrap_or_default().to_owned();
        let attributes = match ty {
            ty if *ty == ROUTER => configured_router(attributes),
            ty if !ty.core_columns.is_empty() && !is_operational(ty) => configured(ty, attributes),
            _ => attributes,
        };
        Seen { ty, backend_identity, attributes }
    };
    backend.list(ty).into_iter().map(see).collect()
}

/// The entity of one of this router's own types that has this name or identity.
pub(super) fn one_of_own(ty: &'static EntityType, key: &str, value: &str, backend: &mut dyn Backend) -> Option<Seen> {
    let attributes = backend.find(ty, key, value)?;
    let backend_identity = attributes.text("identity").unwrap_or_default().to_owned();
    Some(Seen { ty, backend_identity, attributes })
}

/// Some of the entities of one of this router's own types.
pub(super) fn page_of_own(
    ty: &'static EntityType,
    offset: usize,
    count: usize,
    backend: &mut dyn Backend,
) -> Vec<Attributes> {
    backend.page(ty, offset, count)
}

/// The management node itself.
pub(super) fn management() -> Seen {
    let attributes = Attributes::new()
        .with("identity", Value::from("self"))
        .with("name", Value::from("self"))
        .with("type", Value::from(MANAGEMENT.full));
    Seen { ty: &MANAGEMENT, backend_identity: "self".to_owned(), attributes }
}

/// The configured side of the router. Its totals are the core agent's; like in the old router three of them are there,
/// and zero.
fn configured_router(mut router: Attributes) -> Attributes {
    router.0.retain(|(name, _)| {
        let configured = ROUTER.attribute(name).is_some_and(|attribute| attribute.create);
        configured || matches!(name.as_str(), "area" | "hostName" | "identity" | "type")
    });
    for name in ["addrCount", "linkCount", "nodeCount"] {
        router.set(name, Value::Int(0));
    }
    router
}

/// The configured side of an entity that the core numbers.
fn configured(ty: &'static EntityType, entity: Attributes) -> Attributes {
    let own = format!("{}/", ty.section);
    let name = entity.text("name").map(str::to_owned);
    let identity = match &name {
        Some(name) if name.starts_with(&own) => name.clone(),
        _ => format!("{own}{}", entity.text("identity").unwrap_or_default()),
    };
    let mut seen = Attributes::new();
    for (attribute, value) in entity.iter() {
        let renamed =
            if attribute == "fallback" && ty.short == "router.config.address" { "enableFallback" } else { attribute };
        if ty.attribute(renamed).is_some() {
            seen.set(renamed, value.clone());
        }
    }
    seen.set("name", Value::String(name.unwrap_or_else(|| identity.clone())));
    seen.set("identity", Value::String(identity));
    seen.set("type", Value::from(ty.full));
    seen
}
