//! How important a line is, and which levels somebody wants.

use std::fmt;

/// The importance of a line, low to high.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// Every step, every frame.
    Trace,
    /// For finding faults.
    Debug,
    /// What normal operation does.
    Info,
    /// What an operator should notice.
    Notice,
    /// Something is odd, service goes on.
    Warning,
    /// Something failed.
    Error,
    /// The router cannot go on.
    Critical,
}

impl Level {
    /// All levels, low to high.
    pub const ALL: [Level; 7] =
        [Level::Trace, Level::Debug, Level::Info, Level::Notice, Level::Warning, Level::Error, Level::Critical];

    /// The name that stands in log lines and configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Trace => "trace",
            Level::Debug => "debug",
            Level::Info => "info",
            Level::Notice => "notice",
            Level::Warning => "warning",
            Level::Error => "error",
            Level::Critical => "critical",
        }
    }

    /// The level of this name, in any case of letters; the name may be cut short, as the old router allows: `warn`.
    pub fn from_name(name: &str) -> Option<Level> {
        Self::ALL.into_iter().find(|level| abbreviates(name, level.name()))
    }

    pub(crate) const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// Whether `name` is the beginning of `word`, in any case of letters.
fn abbreviates(name: &str, word: &str) -> bool {
    word.get(..name.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(name))
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A set of levels: the meaning of an `enable` attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelMask(u8);

/// An `enable` value with an item that is no level. The text is the old router's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownLevel(pub String);

impl fmt::Display for UnknownLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is not a valid log level. Should be one of {{none", self.0)?;
        for level in Level::ALL {
            write!(f, ", {level}")?;
        }
        f.write_str("}.")
    }
}
impl std::error::Error for UnknownLevel {}

impl LevelMask {
    /// No level.
    pub const NONE: LevelMask = LevelMask(0);

    /// This level and those above.
    pub const fn from(level: Level) -> Self {
        LevelMask(0x7f & !(level.bit() - 1))
    }

    /// Whether the level belongs to the set.
    pub const fn contains(self, level: Level) -> bool {
        self.0 & level.bit() != 0
    }

    pub(crate) const fn bits(self) -> u8 {
        self.0
    }

    /// Reads an `enable` value: items separated by any of `,;:` and blanks, in any case of letters; each is a level
    /// (that one only), a level with `+` (that and above), `none`, or `default`. `Ok(None)`: `default` is among them,
    /// so inherit from `DEFAULT`. An empty text enables nothing.
    ///
    /// As in the old router an item may be cut short, and is taken for the first of `default`, `none` and the levels,
    /// low to high, that it is the beginning of.
    ///
    /// # Errors
    /// The whole text, if one item of it is none of these.
    pub fn parse(enable: &str) -> Result<Option<LevelMask>, UnknownLevel> {
        let (mut bits, mut inherit) = (0, false);
        let separator = |c: char| c == ',' || c == ';' || c == ':' || c.is_ascii_whitespace();
        for item in enable.split(separator).filter(|item| !item.is_empty()) {
            let (name, and_above) = item.strip_suffix('+').map_or((item, false), |name| (name, true));
            if abbreviates(name, "default") {
                inherit = true;
            } else if !abbreviates(name, "none") {
                let level = Level::from_name(name).ok_or_else(|| UnknownLevel(enable.to_owned()))?;
                bits |= if and_above { LevelMask::from(level).0 } else { level.bit() };
            }
        }
        Ok((!inherit).then_some(LevelMask(bits)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(enable: &str) -> Vec<&'static str> {
        let mask = LevelMask::parse(enable).unwrap().unwrap();
        Level::ALL.into_iter().filter(|level| mask.contains(*level)).map(Level::name).collect()
    }

    #[test]
    fn a_level_alone_enables_only_itself() {
        assert_eq!(levels("info"), ["info"]);
    }

    #[test]
    fn a_level_with_plus_enables_those_above() {
        assert_eq!(levels("warning+"), ["warning", "error", "critical"]);
    }

    #[test]
    fn any_separator_and_any_case_will_do() {
        assert_eq!(levels("Trace;DEBUG:info , error+"), ["trace", "debug", "info", "error", "critical"]);
    }

    #[test]
    fn none_and_an_empty_text_enable_nothing() {
        assert_eq!(LevelMask::parse("none"), Ok(Some(LevelMask::NONE)));
        assert_eq!(LevelMask::parse(""), Ok(Some(LevelMask::NONE)));
    }

    #[test]
    fn default_inherits() {
        assert_eq!(LevelMask::parse("default"), Ok(None));
    }

    #[test]
    fn levels_may_be_cut_short() {
        assert_eq!(levels("warn+"), levels("warning+"));
        assert_eq!(levels("no"), Vec::<&str>::new());
        assert_eq!(levels("not"), ["notice"]);
        assert_eq!(LevelMask::parse("de"), Ok(None));
    }

    #[test]
    fn an_unknown_level_is_refused_with_the_whole_text() {
        let error = LevelMask::parse("info+,bar").unwrap_err();
        assert_eq!(
            error.to_string(),
            "'info+,bar' is not a valid log level. Should be one of {none, trace, debug, info, notice, warning, error, critical}."
        );
    }
}
