//! The `exchange` and `binding` sections.

use super::addressing::digit;
use super::read::Reader;
use super::words::MatchMethod;
use management::Attributes;
use management::schema::{Class, Invalid};

/// What an `exchange` entity says.
#[derive(Clone, Debug, PartialEq)]
pub struct ExchangeConfig {
    /// The name that bindings refer to.
    pub name: String,
    /// The address that messages are sent to.
    pub address: String,
    /// Its phase, 0 to 9.
    pub phase: u8,
    /// Where messages go that no binding takes.
    pub alternate_address: Option<String>,
    /// The phase of the alternate address, 0 to 9.
    pub alternate_phase: u8,
    /// How binding keys are matched.
    pub match_method: MatchMethod,
}

impl ExchangeConfig {
    /// Reads the settings of a `router.config.exchange` entity.
    ///
    /// # Errors
    /// If name or address is missing, or a phase is out of range.
    pub fn from_attributes(attributes: &Attributes) -> Result<Self, Invalid> {
        let read = Reader(attributes);
        let name = read.text("name").ok_or_else(|| missing("name", "exchange requires a unique name"))?;
        let address = read.text("address").ok_or_else(|| missing("address", "exchange address is mandatory"))?;
        let match_method = match attributes.text("matchMethod") {
            None => MatchMethod::Amqp,
            Some(word) => MatchMethod::parse(word).ok_or_else(|| {
                let text = "Exchange matchMethod must be either 'amqp' or 'mqtt'";
                Invalid::attribute("matchMethod", Class::General, text)
            })?,
        };
        Ok(ExchangeConfig {
            name,
            address,
            phase: phase(attributes, "phase")?,
            alternate_address: read.text("alternateAddress"),
            alternate_phase: phase(attributes, "alternatePhase")?,
            match_method,
        })
    }
}

/// What a `binding` entity says.
#[derive(Clone, Debug, PartialEq)]
pub struct BindingConfig {
    /// The name given by the user.
    pub name: Option<String>,
    /// The exchange.
    pub exchange_name: String,
    /// Which subjects it takes; `None`: all.
    pub binding_key: Option<String>,
    /// Where the message goes.
    pub next_hop_address: String,
    /// The phase of that address, 0 to 9.
    pub next_hop_phase: u8,
}

impl BindingConfig {
    /// Reads the settings of a `router.config.binding` entity.
    ///
    /// # Errors
    /// If the exchange or the next hop is missing, or a phase is out of range.
    pub fn from_attributes(attributes: &Attributes) -> Result<Self, Invalid> {
        let read = Reader(attributes);
        let exchange_name = read
            .text("exchangeName")
            .ok_or_else(|| missing("exchangeName", "Binding configuration requires an exchange"))?;
        let next_hop_address =
            read.text("nextHopAddress").ok_or_else(|| missing("nextHopAddress", "No next hop specified"))?;
        Ok(BindingConfig {
            name: read.text("name"),
            exchange_name,
            binding_key: read.text("bindingKey"),
            next_hop_address,
            next_hop_phase: phase(attributes, "nextHopPhase")?,
        })
    }
}

fn missing(attribute: &str, text: &str) -> Invalid {
    Invalid::attribute(attribute, Class::General, text).hint(format!("add {attribute}:"))
}

fn phase(attributes: &Attributes, name: &str) -> Result<u8, Invalid> {
    digit(attributes.integer(name).unwrap_or(0))
        .ok_or_else(|| Invalid::attribute(name, Class::General, "phase must be in the range 0-9"))
}
