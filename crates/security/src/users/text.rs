//! The file's text: one line for each user and hash, in the form of RFC 5803 after the user's name.
//!
//! ```text
//! joe:SCRAM-SHA-256$16384:c2FsdA==$StoredKey:ServerKey
//! ```

use std::fmt::Write as _;

use super::{MAX_NAME, MAX_USERS, Users};
use crate::prepare;
use crate::scram::{Hash, Verifier, decode, encode};

/// Iterations beyond which a line is taken to be a mistake: each log-in would take seconds.
const MOST_ITERATIONS: u32 = 10_000_000;
const HEAD: &str =
    "# Users, written by `waystation user`. There are no passwords here, but what they can be tried against.\n";

impl Users {
    /// What stands in the file.
    pub fn to_text(&self) -> String {
        let mut text = HEAD.to_owned();
        for (name, user) in &self.0 {
            let name = escape(name);
            for (hash, verifier) in &user.verifiers {
                let Verifier { iterations, salt, stored_key, server_key } = verifier;
                let (salt, stored, server) = (encode(salt), encode(stored_key), encode(server_key));
                // Writing to a text does not fail.
                let _ = writeln!(text, "{name}:{}${iterations}:{salt}${stored}:{server}", hash.mechanism());
            }
        }
        text
    }

    /// What the file says.
    ///
    /// # Errors
    /// The number of a line that is none, from 1 on, and what is wrong with it.
    pub fn from_text(text: &str) -> Result<Self, (usize, &'static str)> {
        let mut users = Self::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (name, hash, verifier) = read_line(line).map_err(|why| (index + 1, why))?;
            users.0.entry(name).or_default().verifiers.insert(hash, verifier);
            if users.0.len() > MAX_USERS {
                return Err((index + 1, "there are too many users"));
            }
        }
        Ok(users)
    }
}

fn read_line(line: &str) -> Result<(String, Hash, Verifier), &'static str> {
    let (name, rest) = line.split_once(':').ok_or("there is no ':' after a name")?;
    // A name that is not in the form in which names are compared belongs to nobody.
    let usable = |name: &String| name.len() <= MAX_NAME && prepare(name).is_ok_and(|prepared| prepared == *name);
    let name = unescape(name).filter(usable).ok_or("this is no name")?;
    let mut fields = rest.split('$');
    let mut field = || fields.next().ok_or("a field is missing");
    let hash = Hash::of_mechanism(field()?).ok_or("the mechanism is none of SCRAM-SHA-1, -256 and -512")?;
    let (iterations, salt) = field()?.split_once(':').ok_or("the salt is missing")?;
    let (stored, server) = field()?.split_once(':').ok_or("a key is missing")?;
    let iterations: std::num::NonZeroU32 = iterations.parse().map_err(|_| "this is no number of iterations")?;
    if iterations.get() > MOST_ITERATIONS {
        return Err("there are too many iterations");
    }
    let key = |text| decode(text).filter(|key| key.len() == hash.size()).ok_or("this is no key of that hash");
    let verifier = Verifier {
        iterations,
        salt: decode(salt).filter(|salt| !salt.is_empty()).ok_or("the salt is not in base 64")?,
        stored_key: key(stored)?,
        server_key: key(server)?,
    };
    Ok((name, hash, verifier))
}

/// A name without what separates it from the rest, or looks like a comment.
fn escape(name: &str) -> String {
    let mut text = String::new();
    for character in name.chars() {
        match character {
            ':' => text.push_str("%3A"),
            '%' => text.push_str("%25"),
            '#' => text.push_str("%23"),
            ' ' => text.push_str("%20"),
            other => text.push(other),
        }
    }
    text
}

fn unescape(name: &str) -> Option<String> {
    let mut parts = name.split('%');
    let mut text = parts.next()?.to_owned();
    for part in parts {
        let code = u8::from_str_radix(part.get(..2)?, 16).ok().filter(u8::is_ascii)?;
        text.push(char::from(code));
        text.push_str(part.get(2..)?);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let mut users = Users::default();
        for name in ["joe", "a:b", "50% off", "#1", " x", "Zoë"] {
            users.set(name, "secret").unwrap();
        }
        assert_eq!(Users::from_text(&users.to_text()), Ok(users));
    }

    #[test]
    fn a_line_that_is_none_is_named() {
        let good =
            "\n# comment\njoe:SCRAM-SHA-1$4096:c2FsdA==$AAAAAAAAAAAAAAAAAAAAAAAAAAA=:AAAAAAAAAAAAAAAAAAAAAAAAAAA=\n";
        assert!(Users::from_text(good).is_ok());
        let key = "AAAAAAAAAAAAAAAAAAAAAAAAAAA=";
        let broken = format!("a%0Ab:SCRAM-SHA-1$4096:c2FsdA==${key}:{key}");
        for bad in
            [&broken, "joe", "joe:secret", ":SCRAM-SHA-1$1:AA==$AA==:AA==", "joe:SCRAM-SHA-256$4096:c2FsdA==$AA==:AA=="]
        {
            assert_eq!(Users::from_text(&format!("{good}{bad}")).unwrap_err().0, 4, "{bad}");
        }
    }

    #[test]
    fn a_line_that_would_keep_the_processor_busy_is_refused() {
        let key = "AAAAAAAAAAAAAAAAAAAAAAAAAAA=";
        let line = format!("joe:SCRAM-SHA-1$4294967295:c2FsdA==${key}:{key}");
        assert_eq!(Users::from_text(&line), Err((1, "there are too many iterations")));
    }
}
