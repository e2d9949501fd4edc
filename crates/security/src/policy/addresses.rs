//! Which addresses may a user use?

use std::sync::Arc;

use config::AddressList;
use router_core::plain_address;

use super::USER;
use super::list::{Item, List, plain_beginning};
use super::patterns::Patterns;

/// The rules for addresses as they were configured, for whatever user.
#[derive(Debug, Default)]
pub struct AddressRules {
    /// Every address is allowed.
    all: bool,
    list: List,
    /// Items with the user's name in them.
    of_user: Vec<OfUser>,
    patterns: Patterns,
}

/// An item of a list with the user's name in it.
#[derive(Debug)]
struct OfUser {
    before: Box<str>,
    after: Box<str>,
    /// More may follow. A star in the name itself is no wild card.
    open: bool,
}

impl AddressRules {
    /// As a group of users has them.
    pub fn new(configured: &AddressList) -> Self {
        match configured {
            AddressList::Nothing => Self::default(),
            AddressList::Addresses(items) => Self::of_list(items.iter().map(String::as_str)),
            AddressList::Patterns(items) => {
                Self { patterns: Patterns::new(items.iter().map(String::as_str)), ..Self::default() }
            }
        }
    }

    /// From addresses, where `*` at the end stands for any end, `*` alone for every address, and `${user}` anywhere
    /// for the user's name.
    pub fn of_list<'i>(items: impl IntoIterator<Item = &'i str>) -> Self {
        let mut rules = Self::default();
        let mut plain = Vec::new();
        for item in items {
            match item.split_once(USER) {
                _ if item == "*" => rules.all = true,
                _ if item.is_empty() => {}
                None => plain.push(Item::written(item)),
                Some((before, after)) => rules.of_user.push(OfUser {
                    before: plain_beginning(before).into(),
                    after: after.strip_suffix('*').unwrap_or_else(|| after.trim_end_matches(['.', '/'])).into(),
                    open: after.ends_with('*'),
                }),
            }
        }
        rules.list = List::new(plain);
        rules
    }

    /// Whether every address is allowed.
    pub fn allow_all(&self) -> bool {
        self.all
    }
}

/// The rules for addresses as they are for one user.
#[derive(Clone, Debug)]
pub struct Addresses {
    rules: Arc<AddressRules>,
    /// The user's name; empty: none.
    user: Box<str>,
    /// Items in which the name was put.
    own: List,
}

impl Addresses {
    /// For this user. Rules with a user's name in them are for nobody if there is none.
    pub fn new(rules: &Arc<AddressRules>, user: Option<&str>) -> Self {
        let user = user.unwrap_or_default();
        let own = rules.of_user.iter().filter(|_| !user.is_empty());
        let own = own.map(|rule| Item { text: format!("{}{user}{}", rule.before, rule.after), open: rule.open });
        Self { rules: Arc::clone(rules), user: user.into(), own: List::new(own) }
    }

    /// Whether every address is allowed, so that none needs to be looked at.
    #[inline]
    pub fn allow_all(&self) -> bool {
        self.rules.all
    }

    /// Whether an address is allowed. It is taken without scheme and host, as the router takes it: whoever may use
    /// `orders` may write `amqp://anything/orders`, and whoever may use `a*` may not write `amqp:/orders`.
    pub fn allow(&self, address: &str) -> bool {
        let plain = plain_address(address);
        if plain.is_empty() {
            // The old router allows no address that is empty, whatever the rules.
            return false;
        }
        let rules = &*self.rules;
        rules.all
            || rules.list.has(plain)
            || self.own.has(plain)
            || rules.patterns.matching(&self.user, plain).is_some()
    }

    /// The rule that allows an address, as one would write it for this user; `None` if none does.
    pub fn rule_for(&self, address: &str) -> Option<String> {
        let plain = plain_address(address);
        if !self.allow(address) {
            return None;
        }
        if self.rules.all {
            return Some("*".to_owned());
        }
        let listed = self.rules.list.item(plain).or_else(|| self.own.item(plain));
        listed.or_else(|| self.rules.patterns.matching(&self.user, plain).map(str::to_owned))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(items: &str, user: &str) -> Addresses {
        let rules = AddressRules::of_list(items.split(','));
        Addresses::new(&Arc::new(rules), Some(user))
    }

    fn allows(items: &str, user: &str, address: &str) -> bool {
        addresses(items, user).allow(address)
    }

    #[test]
    fn without_a_list_nothing_is_allowed() {
        let rules = Arc::new(AddressRules::new(&AddressList::Nothing));
        assert!(!Addresses::new(&rules, Some("bob")).allow("anything"));
    }

    #[test]
    fn the_users_name_may_be_anywhere() {
        for item in ["${user}", "${user}-in", "in-${user}", "a/${user}/b"] {
            let address = item.replace(USER, "bob");
            assert!(allows(item, "bob", &address), "{item}");
            assert!(!allows(item, "alice", &address), "{item}");
        }
    }

    #[test]
    fn a_star_may_follow_the_users_name() {
        assert!(allows("tmp-${user}*", "bob", "tmp-bob-5"));
        assert!(!allows("tmp-${user}*", "bob", "tmp-alice"));
    }

    #[test]
    fn a_star_in_the_users_name_is_no_wild_card() {
        assert!(!allows("tmp-${user}", "*", "tmp-bob"));
        assert!(allows("tmp-${user}", "*", "tmp-*"));
    }

    #[test]
    fn nobody_may_use_what_belongs_to_a_user() {
        let rules = Arc::new(AddressRules::of_list(["tmp-${user}"]));
        assert!(!Addresses::new(&rules, None).allow("tmp-"));
    }

    #[test]
    fn an_empty_address_is_never_allowed() {
        assert!(!allows("*", "bob", ""));
    }

    #[test]
    fn scheme_and_host_of_an_address_do_not_count() {
        assert!(allows("orders", "bob", "amqp://broker:5672/orders"));
        assert!(!allows("a*", "bob", "amqp:/secret"));
    }

    #[test]
    fn the_rule_that_allows_is_named() {
        assert_eq!(addresses("a,b*,c-${user}", "bob").rule_for("bee"), Some("b*".to_owned()));
        assert_eq!(addresses("a,b*,c-${user}", "bob").rule_for("c-bob"), Some("c-bob".to_owned()));
        assert_eq!(addresses("a,b*,c-${user}", "bob").rule_for("d"), None);
    }
}
