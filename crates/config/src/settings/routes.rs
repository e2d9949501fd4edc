//! The `linkRoute` and `autoLink` sections.

use super::addressing::{AddressMatch, digit};
use super::read::Reader;
use super::words::Direction;
use management::Attributes;
use management::schema::{Class, Invalid};

/// Which connection a route belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteVia {
    /// The connections to the container of this id.
    Container(String),
    /// The connections of the listener or connector of this name.
    Connection(String),
    /// None of this router.
    Nothing,
}

impl RouteVia {
    fn from_attributes(attributes: &Attributes) -> Result<Self, Invalid> {
        let read = Reader(attributes);
        match (read.text("containerId"), read.text("connection")) {
            (Some(_), Some(_)) => {
                let text = "Both connection and containerId cannot be specified. Specify only one";
                Err(Invalid::attribute("connection", Class::General, text).hint("remove one of the two"))
            }
            (Some(container), None) => Ok(RouteVia::Container(container)),
            (None, Some(connection)) => Ok(RouteVia::Connection(connection)),
            (None, None) => Ok(RouteVia::Nothing),
        }
    }
}

/// What a `linkRoute` entity says.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkRouteConfig {
    /// The name given by the user.
    pub name: Option<String>,
    /// Which addresses are routed.
    pub matches: AddressMatch,
    /// Which links are routed: `in` clients' senders, `out` clients' receivers.
    pub direction: Direction,
    /// Where they are routed to.
    pub via: RouteVia,
    /// What is put before the address on its way to the container.
    pub add_external_prefix: Option<String>,
    /// What is removed from the address on its way to the container.
    pub del_external_prefix: Option<String>,
}

impl LinkRouteConfig {
    /// Reads the settings of a `router.config.linkRoute` entity.
    ///
    /// # Errors
    /// If it is unclear which links it is about or where they go.
    pub fn from_attributes(attributes: &Attributes) -> Result<Self, Invalid> {
        let read = Reader(attributes);
        let Some(word) = attributes.text("direction").or_else(|| attributes.text("dir")) else {
            let text = "No 'direction' attribute provided - it is mandatory";
            return Err(Invalid::attribute("direction", Class::General, text).hint("add direction: in or out"));
        };
        let direction = direction(word)?;
        if attributes.text("distribution").is_some_and(|word| word != "linkBalanced") {
            let text = "Invalid value for 'distribution'";
            return Err(Invalid::attribute("distribution", Class::General, text).hint("write linkBalanced"));
        }
        Ok(LinkRouteConfig {
            name: read.text("name"),
            matches: AddressMatch::from_attributes(attributes)?,
            direction,
            via: RouteVia::from_attributes(attributes)?,
            add_external_prefix: read.text("addExternalPrefix"),
            del_external_prefix: read.text("delExternalPrefix"),
        })
    }
}

/// What an `autoLink` entity says.
#[derive(Clone, Debug, PartialEq)]
pub struct AutoLinkConfig {
    /// The name given by the user.
    pub name: Option<String>,
    /// The address in the router.
    pub address: String,
    /// `in`: the container sends to the router.
    pub direction: Direction,
    /// The phase of the address, 0 to 9.
    pub phase: u8,
    /// Where the link is attached.
    pub via: RouteVia,
    /// The node at the container, if its name is not the address.
    pub external_address: Option<String>,
    /// The link takes or brings what nobody else takes.
    pub fallback: bool,
}

impl AutoLinkConfig {
    /// Reads the settings of a `router.config.autoLink` entity; former names are understood.
    ///
    /// # Errors
    /// If it is unclear which link is to be attached where.
    pub fn from_attributes(attributes: &Attributes) -> Result<Self, Invalid> {
        let read = Reader(attributes);
        let address = read.text("address").or_else(|| read.text("addr"));
        let word = read.text("direction").or_else(|| read.text("dir"));
        let (Some(address), Some(word)) = (address, word) else {
            return Err(Invalid::entity(Class::General, "address and direction fields are mandatory")
                .hint("add address: and direction: in or out"));
        };
        let direction = direction(&word)?;
        let fallback = read.flag("fallback", false);
        let usual = i64::from(direction == Direction::In && !fallback);
        let phase = digit(attributes.integer("phase").unwrap_or(usual))
            .ok_or_else(|| Invalid::attribute("phase", Class::General, "autoLink phase must be between 0 and 9"))?;
        Ok(AutoLinkConfig {
            name: read.text("name"),
            address,
            direction,
            phase,
            via: RouteVia::from_attributes(attributes)?,
            external_address: read.text("externalAddress").or_else(|| read.text("externalAddr")),
            fallback,
        })
    }
}

fn direction(word: &str) -> Result<Direction, Invalid> {
    Direction::parse(word).ok_or_else(|| {
        Invalid::attribute("direction", Class::General, "Invalid value for 'direction'").hint("write in or out")
    })
}
