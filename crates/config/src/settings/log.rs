//! The `log` section.

use super::read::Reader;
use management::Attributes;
use management::schema::{Class, Invalid};

/// What a `log` entity says about one module. What is `None` is inherited from module `DEFAULT`.
#[derive(Clone, Debug, PartialEq)]
pub struct LogConfig {
    /// The module.
    pub module: String,
    /// Which levels are written; see [`logging::LevelMask::parse`]. An empty text is none of them.
    pub enable: Option<String>,
    /// Lines begin with the time.
    pub include_timestamp: Option<bool>,
    /// Lines end with the place in the source.
    pub include_source: Option<bool>,
    /// `stderr`, `stdout`, `syslog` or the path of a file.
    pub output_file: Option<String>,
}

impl LogConfig {
    /// Reads the settings of a `log` entity.
    ///
    /// # Errors
    /// If `enable` holds a word that is no level.
    pub fn from_attributes(attributes: &Attributes) -> Result<Self, Invalid> {
        let read = Reader(attributes);
        let enable = attributes.text("enable").map(str::to_owned);
        if let Some(levels) = &enable {
            logging::LevelMask::parse(levels).map_err(|error| {
                Invalid::attribute("enable", Class::Configuration, format!("Configuration: {error}"))
                    .hint("write levels such as info+ or debug,error+")
                    .late()
            })?;
        }
        Ok(LogConfig {
            module: read.text_or("module", "DEFAULT"),
            enable,
            include_timestamp: attributes.boolean("includeTimestamp"),
            include_source: attributes.boolean("includeSource"),
            output_file: read.text("outputFile"),
        })
    }
}
