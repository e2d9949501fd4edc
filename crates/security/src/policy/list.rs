//! Addresses and beginnings of addresses, searched in logarithmic time.

use router_core::plain_address;

/// What a list of addresses allows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct List {
    /// Sorted.
    exact: Box<[Box<str>]>,
    /// Sorted, and none begins with another: so only the greatest that is not above an address can be its beginning.
    beginnings: Box<[Box<str>]>,
}

/// An item of a list: an address, or all addresses with a beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) text: String,
    /// Whether more may follow.
    pub(super) open: bool,
}

impl Item {
    /// An item as it was written, where `*` at the end stands for anything.
    pub(super) fn written(text: &str) -> Self {
        match text.strip_suffix('*') {
            Some(beginning) => Self { text: plain_beginning(beginning).to_owned(), open: true },
            None => Self { text: plain_address(text).to_owned(), open: false },
        }
    }
}

/// The beginning of an address in the form in which addresses are compared: without scheme and host.
pub(super) fn plain_beginning(text: &str) -> &str {
    // What the router cuts from the front of an address does not depend on how the rest goes on, as long as it does.
    let whole = format!("{text}x");
    let cut = whole.len() - plain_address(&whole).len();
    text.get(cut..).unwrap_or_default()
}

impl List {
    /// From items in any order.
    pub(super) fn new(items: impl IntoIterator<Item = Item>) -> Self {
        let (mut exact, mut beginnings): (Vec<Box<str>>, Vec<Box<str>>) = (Vec::new(), Vec::new());
        for item in items {
            let kind = if item.open { &mut beginnings } else { &mut exact };
            kind.push(item.text.into());
        }
        exact.sort_unstable();
        exact.dedup();
        beginnings.sort_unstable();
        // Sorted, whatever begins with another comes right after it, or after others that do.
        beginnings.dedup_by(|later, earlier| later.starts_with(&**earlier));
        Self { exact: exact.into(), beginnings: beginnings.into() }
    }

    /// Whether an address in plain form is on the list.
    #[inline]
    pub(super) fn has(&self, address: &str) -> bool {
        self.is_exact(address) || self.beginning_of(address).is_some()
    }

    /// Whether it stands on the list as it is.
    fn is_exact(&self, address: &str) -> bool {
        self.exact.binary_search_by(|known| (**known).cmp(address)).is_ok()
    }

    fn beginning_of(&self, address: &str) -> Option<&str> {
        let after = self.beginnings.partition_point(|known| **known <= *address);
        let known = self.beginnings.get(after.checked_sub(1)?)?;
        address.starts_with(&**known).then_some(known)
    }

    /// The item that allows an address, as one would write it.
    pub(super) fn item(&self, address: &str) -> Option<String> {
        if self.is_exact(address) {
            return Some(address.to_owned());
        }
        self.beginning_of(address).map(|beginning| format!("{beginning}*"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn list(items: &[&str]) -> List {
        List::new(items.iter().map(|item| Item::written(item)))
    }

    #[test]
    fn an_item_without_a_star_is_one_address() {
        assert!(list(&["tmp"]).has("tmp"));
        assert!(!list(&["tmp"]).has("tmp1"));
    }

    #[test]
    fn a_star_at_the_end_is_any_end() {
        let list = list(&["tmp*"]);
        assert!(list.has("tmp") && list.has("tmp-1") && !list.has("tm"));
    }

    #[test]
    fn a_separator_before_the_star_counts() {
        assert!(!list(&["tmp.*"]).has("tmpx"));
        assert!(list(&["tmp.*"]).has("tmp.x"));
    }

    #[test]
    fn an_item_may_be_written_as_a_url() {
        assert!(list(&["amqp:/_topo/0/R/temp.*"]).has("_topo/0/R/temp.abc"));
    }

    proptest! {
        #[test]
        fn the_search_finds_what_a_look_at_every_item_finds(
            items in proptest::collection::vec("[ab.]{0,4}\\*?", 0..12),
            address in "[ab.]{1,5}",
        ) {
            let items: Vec<Item> = items.iter().map(|item| Item::written(item)).collect();
            let slow = items.iter().any(|item| match item.open {
                true => address.starts_with(&item.text),
                false => address == item.text,
            });
            prop_assert_eq!(List::new(items).has(&address), slow);
        }
    }
}
