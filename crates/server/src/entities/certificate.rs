//! `certificate`: the certificates of all profiles, and how long they are valid.

use crate::control::profiles::Profiles;
use crate::entities::attributes::Row;
use amqp::Value;
use management::{Attributes, EntityType};
use std::time::SystemTime;

/// All certificates.
pub(super) fn rows(profiles: &Profiles, entity_type: &EntityType) -> Vec<Attributes> {
    let now = SystemTime::now();
    let row = |(index, (profile, validity)): (usize, (String, security::tls::Validity))| {
        let identity = format!("certificate/{index}");
        Row::identified(entity_type, Value::String(identity.clone()), identity)
            .text("profile", profile)
            .text("file", validity.file.display().to_string())
            .text("use", if validity.trusted { "authority" } else { "own" })
            .text("subject", validity.subject.clone())
            .with("notBefore", Value::Timestamp(validity.not_before.saturating_mul(1000)))
            .with("notAfter", Value::Timestamp(validity.not_after.saturating_mul(1000)))
            .with("daysLeft", Value::Long(validity.days_left(now)))
            .done()
    };
    profiles.validities().into_iter().enumerate().map(row).collect()
}
