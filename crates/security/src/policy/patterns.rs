//! Patterns of addresses, of which some begin or end with the user's name.

use router_core::{Pattern, PatternTree, plain_address};

use super::USER;
use super::list::plain_beginning;

/// What separates the tokens of an address.
const SEPARATORS: [char; 2] = ['.', '/'];

/// A set of patterns. The trees hold the patterns as they were written, to tell which one it was.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    plain: PatternTree<Box<str>>,
    /// What follows the user's name.
    user_first: PatternTree<Box<str>>,
    /// What comes before it.
    user_last: PatternTree<Box<str>>,
    /// The pattern by which the user's name alone is an address.
    user_alone: Option<Box<str>>,
}

impl Patterns {
    /// From patterns as they were written. Those in which the name is not a token of its own match nothing.
    pub(super) fn new<'i>(items: impl IntoIterator<Item = &'i str>) -> Self {
        let mut patterns = Self::default();
        for item in items {
            if let Some(rest) = item.strip_prefix(USER) {
                add_beside_user(
                    &mut patterns.user_first,
                    &mut patterns.user_alone,
                    item,
                    rest,
                    rest.starts_with(SEPARATORS),
                );
            } else if let Some(rest) = item.strip_suffix(USER) {
                let rest = plain_beginning(rest);
                add_beside_user(
                    &mut patterns.user_last,
                    &mut patterns.user_alone,
                    item,
                    rest,
                    rest.ends_with(SEPARATORS),
                );
            } else if !item.contains(USER)
                && let Some(pattern) = Pattern::parse(plain_address(item))
            {
                patterns.plain.insert(&pattern, item.into());
            }
        }
        patterns
    }

    /// The pattern that an address in plain form matches.
    #[inline]
    pub(super) fn matching(&self, user: &str, address: &str) -> Option<&str> {
        self.plain.best(address).map(AsRef::as_ref).or_else(|| self.of_user(user, address))
    }

    /// Whether there are patterns with the user's name.
    fn of_user(&self, user: &str, address: &str) -> Option<&str> {
        if user.is_empty() {
            return None;
        }
        if address == user {
            return self.user_alone.as_deref();
        }
        let first = address.strip_prefix(user).and_then(|rest| rest.strip_prefix(SEPARATORS));
        if let Some(found) = first.and_then(|rest| best(&self.user_first, rest)) {
            return Some(found);
        }
        let last = address.strip_suffix(user).and_then(|rest| rest.strip_suffix(SEPARATORS));
        last.and_then(|rest| best(&self.user_last, rest))
    }
}

/// The name has to be a token: `separated` from what it stands beside.
fn add_beside_user(
    tree: &mut PatternTree<Box<str>>,
    alone: &mut Option<Box<str>>,
    item: &str,
    rest: &str,
    separated: bool,
) {
    if rest.trim_matches(SEPARATORS).chars().all(|char| char == '#' || SEPARATORS.contains(&char)) {
        // Nothing else, or any number of tokens.
        alone.get_or_insert_with(|| item.into());
    }
    if separated && let Some(pattern) = Pattern::parse(rest) {
        tree.insert(&pattern, item.into());
    }
}

/// The tree takes no notice of separators at the ends, but beside the user's name they make empty tokens.
fn best<'t>(tree: &'t PatternTree<Box<str>>, rest: &str) -> Option<&'t str> {
    let whole = !rest.is_empty() && !rest.starts_with(SEPARATORS) && !rest.ends_with(SEPARATORS);
    whole.then(|| tree.best(rest)).flatten().map(AsRef::as_ref)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(pattern: &str, user: &str, address: &str) -> bool {
        Patterns::new([pattern]).matching(user, address).is_some()
    }

    #[test]
    fn a_star_is_one_token_and_a_hash_any_number() {
        assert!(allows("addr/*/queue/*", "", "addr/x/queue/one"));
        assert!(!allows("addr/*/queue/*", "", "addr/queue/one"));
        assert!(allows("a.#", "", "a") && allows("a.#", "", "a.b.c"));
    }

    #[test]
    fn the_users_name_may_be_the_first_token() {
        assert!(allows("${user}.news", "bob", "bob.news"));
        assert!(!allows("${user}.news", "bob", "bobby.news"));
        assert!(!allows("${user}.news", "bob", "alice.news"));
    }

    #[test]
    fn the_users_name_may_be_the_last_token() {
        assert!(allows("queue.${user}", "bob", "queue.bob"));
        assert!(!allows("queue.${user}", "bob", "queue.jim-bob"));
    }

    #[test]
    fn the_users_name_alone_is_an_address_if_anything_may_follow() {
        assert!(allows("${user}", "bob", "bob"));
        assert!(allows("${user}.#", "bob", "bob"));
        assert!(!allows("${user}.*", "bob", "bob"));
    }

    #[test]
    fn a_user_with_the_name_of_a_wild_card_gains_nothing_by_it() {
        assert!(!allows("${user}.news", "*", "bob.news"));
        assert!(!allows("queue.${user}", "#", "queue.bob"));
    }

    #[test]
    fn an_address_with_the_token_itself_is_not_the_users() {
        assert!(!allows("${user}.news", "bob", "${user}.news"));
    }

    #[test]
    fn separators_beside_the_users_name_are_not_swallowed() {
        assert!(!allows("${user}.news", "bob", "bob..news"));
        assert!(!allows("queue.${user}", "bob", "queue..bob"));
    }

    #[test]
    fn nobody_has_no_name_to_put_in() {
        assert!(!allows("${user}", "", ""));
        assert!(!allows("${user}/x", "", "/x"));
    }
}
