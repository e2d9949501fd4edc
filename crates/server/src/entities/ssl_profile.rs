//! `sslProfile`: certificates, keys and what else TLS needs.

use crate::control::profiles::Profiles;
use amqp::Value;
use config::SslProfileConfig;
use management::Attributes;

/// All profiles.
pub(super) fn rows(profiles: &Profiles) -> Vec<Attributes> {
    profiles.rows().into_iter().map(hide_password).collect()
}

/// Creates one, or changes it; whether its files can be used shows in the log, as with the old router.
pub(super) fn create(profiles: &Profiles, attributes: Attributes, config: SslProfileConfig) -> Attributes {
    profiles.add(attributes.clone(), config);
    hide_password(attributes)
}

/// Passwords are never shown; that there is one is, and where it comes from.
fn hide_password(mut attributes: Attributes) -> Attributes {
    let from_elsewhere = |text: &str| text.starts_with("env:") || text.starts_with("file:");
    if attributes.text("password").is_some_and(|text| !from_elsewhere(text)) {
        attributes.set("password", Value::String("*".to_owned()));
    }
    attributes
}
