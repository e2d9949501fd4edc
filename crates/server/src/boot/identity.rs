//! Who this router is.

use amqp::Value;
use config::{Mode, RouterConfig};
use management::Attributes;
use std::io;

/// How many random characters a generated id ends with.
const RANDOM_CHARACTERS: u32 = 15;
const ALPHABET: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+_";

/// Gives a router without an id one, and adds name and identity.
///
/// # Errors
/// If the system has no random numbers.
pub(super) fn complete(mut attributes: Attributes, mut config: RouterConfig) -> io::Result<(Attributes, RouterConfig)> {
    // Asked for even if not needed: what is missing later would be missed too late.
    let random = system_random()?;
    let id = config.id.get_or_insert_with(|| generated(config.mode, random)).clone();
    let identity = format!("router/{id}");
    for (name, text) in [("id", &id), ("name", &identity), ("identity", &identity)] {
        attributes.set(name, Value::String(text.clone()));
    }
    Ok((attributes, config))
}

/// `Standalone_` and the like, and random characters: the form of the old router.
fn generated(mode: Mode, random: u128) -> String {
    let prefix = match mode {
        Mode::Standalone => "Standalone_",
        Mode::Interior => "Interior_",
        Mode::Edge => "Edge_",
    };
    let character = |n: u32| char::from(ALPHABET[(random >> (6 * n)) as usize % ALPHABET.len()]);
    prefix.chars().chain((0..RANDOM_CHARACTERS).map(character)).collect()
}

/// An unpredictable number.
pub(super) fn random() -> u128 {
    use std::hash::{BuildHasher, RandomState};
    system_random().unwrap_or_else(|_| {
        // The system had random numbers at the start and never runs out of them; should it, names of temporary
        // addresses are at least different from each other.
        let half = || u128::from(RandomState::new().hash_one(0));
        half() << 64 | half()
    })
}

fn system_random() -> io::Result<u128> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::from)?;
    Ok(u128::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(id: Option<&str>) -> (Attributes, RouterConfig) {
        let mut attributes = Attributes::new();
        if let Some(id) = id {
            attributes.set("id", Value::String(id.to_owned()));
        }
        let config = RouterConfig::from_attributes(&attributes).unwrap();
        complete(attributes, config).unwrap()
    }

    #[test]
    fn a_configured_id_is_kept() {
        let (attributes, config) = completed(Some("QDR"));
        assert_eq!((config.id.as_deref(), attributes.text("identity")), (Some("QDR"), Some("router/QDR")));
    }

    #[test]
    fn a_generated_id_tells_the_mode_and_differs_each_time() {
        let (first, second) = (completed(None).1.id.unwrap(), completed(None).1.id.unwrap());
        assert!(first.starts_with("Standalone_") && first.len() == "Standalone_".len() + 15, "{first}");
        assert_ne!(first, second);
    }
}
