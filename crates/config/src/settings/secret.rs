//! Passwords that need not stand in the configuration: `env:`, `file:`, `pass:`, `literal:`.

use std::fmt;

/// Where a password comes from.
#[derive(Clone, PartialEq, Eq)]
pub enum Secret {
    /// `env:NAME`: the value of an environment variable.
    Environment(String),
    /// `file:PATH`: the first line of a file.
    File(String),
    /// `pass:TEXT` or `literal:TEXT`: the text itself, marked as such.
    Literal(String),
    /// The text itself, unmarked: works, but the router warns.
    Plain(String),
}

impl Secret {
    /// Reads the value of a password attribute.
    pub fn parse(text: &str) -> Self {
        let after = |prefix: &str| text.strip_prefix(prefix).map(|rest| rest.trim().to_owned());
        if let Some(name) = after("env:") {
            return Secret::Environment(name);
        }
        if let Some(path) = after("file:") {
            return Secret::File(path);
        }
        for prefix in ["pass:", "literal:"] {
            if let Some(rest) = text.strip_prefix(prefix) {
                return Secret::Literal(rest.to_owned());
            }
        }
        Secret::Plain(text.to_owned())
    }

    /// Reads the value of `saslPassword`, in which the old router does not know `literal:`: all of the text is the
    /// password then.
    pub fn parse_for_sasl(text: &str) -> Self {
        if text.starts_with("literal:") { Secret::Plain(text.to_owned()) } else { Self::parse(text) }
    }

    /// Whether it should rather be given as `env:`, `file:` or `pass:`.
    pub fn is_plain(&self) -> bool {
        matches!(self, Secret::Plain(_))
    }

    /// Obtains the password.
    ///
    /// # Errors
    /// If the environment variable is not set, or the file cannot be read; the sentence says which.
    pub fn reveal(&self) -> Result<String, String> {
        match self {
            Secret::Environment(name) => {
                std::env::var(name).map_err(|_| format!("the environment variable '{name}' of a password is not set"))
            }
            Secret::File(path) => std::fs::read_to_string(path)
                .map(|text| text.lines().next().unwrap_or("").to_owned())
                .map_err(|error| format!("the password file '{path}' cannot be read: {error}")),
            Secret::Literal(text) | Secret::Plain(text) => Ok(text.clone()),
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Secret::Environment(name) => write!(f, "env:{name}"),
            Secret::File(path) => write!(f, "file:{path}"),
            Secret::Literal(_) | Secret::Plain(_) => f.write_str("********"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_can_be_named_by_an_environment_variable() {
        assert_eq!(Secret::parse("env:TLS_PASSWORD"), Secret::Environment("TLS_PASSWORD".into()));
    }

    #[test]
    fn a_literal_keeps_everything_after_its_prefix() {
        assert_eq!(Secret::parse("literal: a:b ").reveal().unwrap(), " a:b ");
    }

    #[test]
    fn a_password_for_sasl_may_begin_with_literal() {
        assert_eq!(Secret::parse_for_sasl("literal:x").reveal().unwrap(), "literal:x");
        assert_eq!(Secret::parse_for_sasl("pass:x").reveal().unwrap(), "x");
    }

    #[test]
    fn an_unmarked_password_is_taken_as_it_is_and_known_to_be_plain() {
        let secret = Secret::parse("server-password");
        assert!(secret.is_plain());
        assert_eq!(secret.reveal().unwrap(), "server-password");
    }

    #[test]
    fn a_variable_that_is_not_set_is_named_in_the_error() {
        let error = Secret::parse("env:NO_SUCH_VARIABLE_HERE").reveal().unwrap_err();
        assert!(error.contains("NO_SUCH_VARIABLE_HERE"));
    }

    #[test]
    fn the_text_of_a_password_is_not_shown_in_debug_output() {
        assert_eq!(format!("{:?}", Secret::parse("pass:hush")), "********");
    }
}
