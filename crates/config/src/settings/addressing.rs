//! The `address` section.

use super::read::Reader;
use super::words::Distribution;
use management::Attributes;
use management::schema::{Class, Invalid};

/// The highest priority and the highest phase.
pub const MAX_DIGIT: i64 = 9;

/// Which addresses an entity is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressMatch {
    /// This address and all that begin with it and a separator.
    Prefix(String),
    /// All addresses that fit; `*` stands for one token, `#` for any number.
    Pattern(String),
}

impl AddressMatch {
    /// The prefix or pattern as it was written.
    pub fn as_str(&self) -> &str {
        match self {
            AddressMatch::Prefix(text) | AddressMatch::Pattern(text) => text,
        }
    }

    /// The same as a pattern in its simplest form, tokens separated by `/`: prefix `a.b` is `a/b/#`. Where wild cards
    /// follow each other, those for one token come first, and of the others one is enough.
    pub fn pattern(&self) -> String {
        let mut pattern: Vec<&str> = Vec::new();
        let any = matches!(self, AddressMatch::Prefix(_)).then_some("#");
        for token in tokens(self.as_str()).chain(any) {
            match (pattern.last(), token) {
                (Some(&"#"), "#") => {}
                (Some(&"#"), "*") => pattern.insert(pattern.len() - 1, "*"),
                _ => pattern.push(token),
            }
        }
        pattern.join("/")
    }

    /// Reads `prefix` or `pattern`, of which exactly one must be given.
    ///
    /// # Errors
    /// If none or both are given, or what is given has no tokens.
    pub fn from_attributes(attributes: &Attributes) -> Result<Self, Invalid> {
        let (prefix, pattern) = (attributes.get("prefix"), attributes.get("pattern"));
        let (name, title) = match (prefix, pattern) {
            (None, None) => {
                return Err(Invalid::entity(
                    Class::General,
                    "Either a 'prefix' or 'pattern' attribute must be provided",
                )
                .hint("add prefix: or pattern:"));
            }
            (Some(_), Some(_)) => {
                let text = "Cannot specify both a 'prefix' and a 'pattern' attribute";
                return Err(Invalid::attribute("pattern", Class::General, text).hint("remove one of the two"));
            }
            (Some(_), None) => ("prefix", "Prefix"),
            (None, Some(_)) => ("pattern", "Pattern"),
        };
        let Some(text) = attributes.text(name).filter(|text| !text.is_empty()) else {
            let text = format!("{title} must be a non-empty string type");
            return Err(Invalid::attribute(name, Class::General, text));
        };
        if tokens(text).next().is_none() {
            let text = format!("{title} invalid - no tokens");
            return Err(Invalid::attribute(name, Class::General, text).hint("write more than separators"));
        }
        let text = text.to_owned();
        Ok(if name == "prefix" { AddressMatch::Prefix(text) } else { AddressMatch::Pattern(text) })
    }
}

/// The tokens of an address or pattern: what stands between `.` and `/`.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.trim_matches(['.', '/']).split(['.', '/']).filter(|token| !token.is_empty())
}

/// What an `address` entity says.
#[derive(Clone, Debug, PartialEq)]
pub struct AddressConfig {
    /// The name given by the user.
    pub name: Option<String>,
    /// Which addresses it is about.
    pub matches: AddressMatch,
    /// How messages are spread over consumers.
    pub distribution: Distribution,
    /// Messages pass through a process before they reach consumers.
    pub waypoint: bool,
    /// The phase in which messages of senders enter, 0 to 9.
    pub ingress_phase: u8,
    /// The phase that receivers are given, 0 to 9.
    pub egress_phase: u8,
    /// Priority of messages that have none, 0 to 9.
    pub priority: Option<u8>,
    /// Consumers with fall-back capability get what nobody else takes.
    pub fallback: bool,
}

impl AddressConfig {
    /// Reads the settings of a `router.config.address` entity. The file says `enableFallback`, old management clients
    /// say `fallback`; both are understood.
    ///
    /// # Errors
    /// If it is unclear which addresses it is about, or phases, priority and fall-back are impossible.
    pub fn from_attributes(attributes: &Attributes) -> Result<Self, Invalid> {
        let read = Reader(attributes);
        let matches = AddressMatch::from_attributes(attributes)?;
        let waypoint = read.flag("waypoint", false);
        let fallback = read.flag("enableFallback", false) || read.flag("fallback", false);
        let ingress = attributes.integer("ingressPhase").unwrap_or(0);
        let egress = attributes.integer("egressPhase").unwrap_or(0);
        if fallback && (waypoint || ingress > 0 || egress > 0) {
            let text = "Fallback cannot be specified with waypoint or non-zero ingress and egress phases";
            return Err(Invalid::attribute("enableFallback", Class::General, text));
        }
        let (ingress_phase, egress_phase) = (phase("ingressPhase", ingress)?, phase("egressPhase", egress)?);
        Ok(AddressConfig {
            name: read.text("name"),
            matches,
            distribution: read.word("distribution", Distribution::parse)?.unwrap_or(Distribution::Balanced),
            waypoint,
            ingress_phase: if waypoint { 0 } else { ingress_phase },
            egress_phase: if waypoint { 1 } else { egress_phase },
            priority: priority(attributes)?,
            fallback,
        })
    }
}

fn phase(name: &str, phase: i64) -> Result<u8, Invalid> {
    digit(phase).ok_or_else(|| Invalid::attribute(name, Class::General, "Phase values must be between 0 and 9"))
}

/// The priority; −1 is the old router's way of saying that there is none.
fn priority(attributes: &Attributes) -> Result<Option<u8>, Invalid> {
    match attributes.integer("priority") {
        None | Some(-1) => Ok(None),
        Some(number) => digit(number).map(Some).ok_or_else(|| {
            let text = "Priority value, if present, must be between 0 and QDR_MAX_PRIORITY";
            Invalid::attribute("priority", Class::General, text).hint("write a number from 0 to 9")
        }),
    }
}

/// A number from 0 to [`MAX_DIGIT`].
pub(super) fn digit(number: i64) -> Option<u8> {
    u8::try_from(number).ok().filter(|digit| i64::from(*digit) <= MAX_DIGIT)
}
