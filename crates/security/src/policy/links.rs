//! May this link be attached?

use super::Settings;

/// A link that the peer attaches.
#[derive(Clone, Copy, Debug)]
pub struct LinkRequest<'a> {
    /// The peer sends on it.
    pub sender: bool,
    /// The address of the target where the peer sends, of the source where it receives.
    pub address: Option<&'a str>,
    /// The peer asks for an address made up by the router.
    pub dynamic: bool,
    /// The terminus claims to be a waypoint.
    pub waypoint: bool,
    /// The terminus claims to be a fall-back destination.
    pub fallback: bool,
    /// Links of this direction that the peer has already.
    pub open: u32,
}

impl LinkRequest<'_> {
    /// What it comes down to whether the link is allowed.
    pub fn subject(&self) -> LinkDenial {
        let named = self.address.is_some_and(|address| !address.is_empty());
        match (self.sender, named) {
            (false, _) if self.dynamic => LinkDenial::Dynamic,
            (_, true) => LinkDenial::Address,
            (true, false) => LinkDenial::Anonymous,
            (false, false) => LinkDenial::NoSource,
        }
    }
}

/// Why a link is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkDenial {
    /// The connection has as many senders, or receivers, as it may.
    TooMany,
    /// It must be no waypoint.
    Waypoint,
    /// It must be no fall-back destination.
    Fallback,
    /// The address is not allowed.
    Address,
    /// A sender has to name an address.
    Anonymous,
    /// A receiver has to know its address.
    Dynamic,
    /// A receiver names no address.
    NoSource,
}

impl Settings {
    /// Whether a link may be attached.
    ///
    /// # Errors
    /// Why not.
    pub fn check_link(&self, link: &LinkRequest<'_>) -> Result<(), LinkDenial> {
        let most = if link.sender { self.max_senders } else { self.max_receivers };
        if most.is_some_and(|most| link.open >= most) {
            return Err(LinkDenial::TooMany);
        }
        if !link.sender && link.dynamic {
            return if self.allow_dynamic_source { Ok(()) } else { Err(LinkDenial::Dynamic) };
        }
        let Some(address) = link.address.filter(|address| !address.is_empty()) else {
            return match link.sender {
                true if self.allow_anonymous_sender => Ok(()),
                true => Err(LinkDenial::Anonymous),
                false => Err(LinkDenial::NoSource),
            };
        };
        if link.waypoint && !self.allow_waypoint_links {
            return Err(LinkDenial::Waypoint);
        }
        if link.fallback && !self.allow_fallback_links {
            return Err(LinkDenial::Fallback);
        }
        let allowed = if link.sender { &self.targets } else { &self.sources };
        if allowed.allow(address) { Ok(()) } else { Err(LinkDenial::Address) }
    }
}

impl LinkDenial {
    /// Whether there is simply one too many; else it is the link itself that is not allowed.
    pub fn is_limit(self) -> bool {
        self == Self::TooMany
    }

    /// What the old router's log says of it: the words that follow `DENY AMQP Attach`. `who` is the user, `host` its
    /// address and `vhost` the host name in its open.
    pub fn describe(self, link: &LinkRequest<'_>, who: &str, host: &str, vhost: &str) -> String {
        let kind = if link.sender { "sender" } else { "receiver" };
        let named = link.address.unwrap_or_default();
        let of = format!("for user '{who}', rhost '{host}', vhost '{vhost}'");
        match self {
            Self::TooMany if link.sender => format!("sender {of} based on maxSenders limit"),
            Self::TooMany => format!("receiver {of} based on maxReceivers limit"),
            Self::Waypoint => format!("{kind} link '{named}' {of}.  Waypoint capability not permitted"),
            Self::Fallback => format!("{kind} link '{named}' {of}.  Fallback capability not permitted"),
            Self::Address if link.sender => format!("sender link '{named}' {of} based on link target name"),
            Self::Address => format!("receiver link '{named}' {of} based on link source name"),
            Self::Anonymous => format!("anonymous sender {of}"),
            // The comma at the end is the old router's.
            Self::Dynamic => format!("receiver dynamic source {of},"),
            Self::NoSource => format!("receiver link '' {of}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Authorised;

    fn settings() -> Settings {
        let authorised = Authorised { sources: vec!["in".into()], targets: vec!["out".into()] };
        Settings::authorised(&authorised, Some("bob"))
    }

    fn sender(address: Option<&str>) -> LinkRequest<'_> {
        LinkRequest { sender: true, address, dynamic: false, waypoint: false, fallback: false, open: 0 }
    }

    fn receiver(address: Option<&str>) -> LinkRequest<'_> {
        LinkRequest { sender: false, ..sender(address) }
    }

    #[test]
    fn senders_are_held_to_targets_and_receivers_to_sources() {
        assert_eq!(settings().check_link(&sender(Some("out"))), Ok(()));
        assert_eq!(settings().check_link(&receiver(Some("in"))), Ok(()));
        assert_eq!(settings().check_link(&sender(Some("in"))), Err(LinkDenial::Address));
        assert_eq!(settings().check_link(&receiver(Some("out"))), Err(LinkDenial::Address));
    }

    #[test]
    fn the_last_link_within_the_limit_is_allowed_and_the_next_is_not() {
        let settings = Settings { max_senders: Some(2), ..settings() };
        let nth = |open| settings.check_link(&LinkRequest { open, ..sender(Some("out")) });
        assert_eq!((nth(1), nth(2)), (Ok(()), Err(LinkDenial::TooMany)));
    }

    #[test]
    fn a_sender_without_an_address_is_anonymous() {
        let settings = Settings { allow_anonymous_sender: false, ..settings() };
        assert_eq!(settings.check_link(&sender(None)), Err(LinkDenial::Anonymous));
        assert_eq!(settings.check_link(&sender(Some(""))), Err(LinkDenial::Anonymous));
    }

    #[test]
    fn a_receiver_without_an_address_is_refused_whatever_is_allowed() {
        assert_eq!(settings().check_link(&receiver(None)), Err(LinkDenial::NoSource));
    }

    #[test]
    fn a_dynamic_source_needs_a_permission_and_no_address() {
        let dynamic = LinkRequest { dynamic: true, ..receiver(None) };
        assert_eq!(settings().check_link(&dynamic), Ok(()));
        let forbidding = Settings { allow_dynamic_source: false, ..settings() };
        assert_eq!(forbidding.check_link(&dynamic), Err(LinkDenial::Dynamic));
    }

    #[test]
    fn capabilities_need_permissions_of_their_own() {
        let waypoint = LinkRequest { waypoint: true, ..sender(Some("out")) };
        assert_eq!(settings().check_link(&waypoint), Err(LinkDenial::Waypoint));
        let fallback = LinkRequest { fallback: true, ..receiver(Some("in")) };
        assert_eq!(settings().check_link(&fallback), Err(LinkDenial::Fallback));
        let allowing = Settings { allow_waypoint_links: true, allow_fallback_links: true, ..settings() };
        assert_eq!((allowing.check_link(&waypoint), allowing.check_link(&fallback)), (Ok(()), Ok(())));
    }

    #[test]
    fn denials_are_described_in_the_old_routers_words() {
        let text = |denial: LinkDenial, link: &LinkRequest<'_>| denial.describe(link, "bob", "10.0.0.1", "h");
        let of = "for user 'bob', rhost '10.0.0.1', vhost 'h'";
        assert_eq!(text(LinkDenial::TooMany, &sender(None)), format!("sender {of} based on maxSenders limit"));
        assert_eq!(
            text(LinkDenial::Address, &receiver(Some("q"))),
            format!("receiver link 'q' {of} based on link source name")
        );
        assert_eq!(text(LinkDenial::Dynamic, &receiver(None)), format!("receiver dynamic source {of},"));
    }
}
