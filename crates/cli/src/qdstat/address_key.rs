//! Keys of addresses: a letter for the class, for mobile addresses one for the phase, and the text.

/// A key taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AddressKey {
    /// The name of its class; the letter itself if it is none that is known.
    pub class: String,
    /// The text of the address.
    pub text: String,
    /// The phase, of mobile addresses only.
    pub phase: String,
}

impl AddressKey {
    /// Takes a key apart.
    pub(super) fn of(key: &str) -> Self {
        let mut chars = key.chars();
        let letter = chars.next();
        let mut phase = String::new();
        let class = match letter {
            None => "",
            Some('M') => {
                phase.extend(chars.next());
                "mobile"
            }
            Some('R') => "router",
            Some('A') => "area",
            Some('L') => "local",
            Some('T') => "topo",
            Some('C' | 'E') => "link-in",
            Some('D' | 'F') => "link-out",
            Some('H') => "edge",
            Some(other) => return Self { class: other.to_string(), text: chars.as_str().to_owned(), phase },
        };
        Self { class: class.to_owned(), text: chars.as_str().to_owned(), phase }
    }

    /// Whether messages for it go to route containers.
    pub(super) fn is_link_route(&self) -> bool {
        self.class.starts_with("link-")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(key: &str) -> (String, String, String) {
        let AddressKey { class, text, phase } = AddressKey::of(key);
        (class, text, phase)
    }

    #[test]
    fn only_mobile_addresses_have_a_phase() {
        assert_eq!(parts("M1queue.x"), ("mobile".into(), "queue.x".into(), "1".into()));
        assert_eq!(parts("Ltemp.1"), ("local".into(), "temp.1".into(), String::new()));
    }

    #[test]
    fn link_routes_are_classed_by_direction() {
        assert_eq!([parts("Clr").0, parts("Elp.*").0], ["link-in", "link-in"]);
        assert_eq!([parts("Dlr").0, parts("Flp.*").0], ["link-out", "link-out"]);
    }

    #[test]
    fn odd_keys_are_shown_as_they_are() {
        assert_eq!(parts(""), Default::default());
        assert_eq!(parts("Zé"), ("Z".into(), "é".into(), String::new()));
        assert_eq!(parts("M"), ("mobile".into(), String::new(), String::new()));
    }
}
