//! Who this router is.

use config::{Config, Mode};
use std::io;

/// How many random characters a generated id ends with.
const RANDOM_CHARACTERS: u32 = 15;
const ALPHABET: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+_";

/// Gives a router without an id one.
///
/// # Errors
/// If the system has no random numbers.
pub(super) fn complete(config: &mut Config) -> io::Result<()> {
    // Asked for even if not needed: what is missing later would be missed too late.
    let random = system_random()?;
    if config.router.id.is_none() {
        config.name_router(&generated(config.router.mode, random));
    }
    Ok(())
}

/// `Standalone_` and the like, and random characters: the form of the old router.
fn generated(mode: Mode, random: u128) -> String {
    let prefix = match mode {
        Mode::Standalone => "Standalone_",
        Mode::Interior => "Interior_",
        Mode::Edge => "Edge_",
    };
    format!("{prefix}{}", text_of(random))
}

fn text_of(random: u128) -> String {
    let character = |n: u32| char::from(ALPHABET[(random >> (6 * n)) as usize % ALPHABET.len()]);
    (0..RANDOM_CHARACTERS).map(character).collect()
}

/// Fifteen characters that nobody can foresee, for names.
pub(crate) fn random_text() -> String {
    text_of(random())
}

/// An unpredictable number.
pub(crate) fn random() -> u128 {
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

    fn id_of_unnamed_router() -> String {
        let mut config = Config::built_in(None);
        config.router.id = None;
        complete(&mut config).unwrap();
        config.router.id.unwrap()
    }

    #[test]
    fn a_generated_id_tells_the_mode_and_differs_each_time() {
        let (first, second) = (id_of_unnamed_router(), id_of_unnamed_router());
        assert!(first.starts_with("Standalone_") && first.len() == "Standalone_".len() + 15, "{first}");
        assert_ne!(first, second);
    }
}
