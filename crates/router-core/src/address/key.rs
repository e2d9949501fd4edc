//! From the text of an address to the key of its entry.
//!
//! A key is a class letter, for mobile addresses a phase, and the rest: `M0orders`, `Ltemp.x`, `Rother`.

use crate::Mode;

/// Phase character of the fallback of a mobile address.
pub(crate) const FALLBACK_PHASE: char = 'F';

/// What kind of address a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// On this router only.
    Local,
    /// On all routers.
    Topological,
    /// In another area.
    Area,
    /// On another router.
    Router,
    /// On an edge router.
    Edge,
    /// Anywhere: the ordinary addresses of clients.
    Mobile,
}

impl Class {
    /// The letter that begins the key.
    pub(crate) fn letter(self) -> char {
        match self {
            Self::Local => 'L',
            Self::Topological => 'T',
            Self::Area => 'A',
            Self::Router => 'R',
            Self::Edge => 'H',
            Self::Mobile => 'M',
        }
    }
}

/// An address text taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parsed<'a> {
    /// Class.
    pub(crate) class: Class,
    /// What follows the class letter (and phase) in the key.
    pub(crate) rest: &'a str,
    /// The text without scheme, host and a final separator.
    pub(crate) text: &'a str,
}

/// Takes an address text apart, as seen by the router `router_id`.
pub(crate) fn parse<'a>(address: &'a str, router_id: &str, mode: Mode) -> Parsed<'a> {
    let text = strip(address);
    let (class, rest) = if let Some(path) = text.strip_prefix("_topo/") {
        topological(path, router_id)
    } else if let Some(path) = text.strip_prefix("_edge/") {
        match path.split_once('/') {
            Some((id, rest)) if id == router_id => (Class::Local, rest),
            Some((id, _)) => (Class::Edge, id),
            None => (Class::Edge, path),
        }
    } else if let Some(rest) = text.strip_prefix("_local/") {
        (Class::Local, rest)
    } else {
        (Class::Mobile, text)
    };
    match (mode, class) {
        // An edge router knows no other: whatever is elsewhere goes up its link to the interior.
        (Mode::Edge, Class::Router | Class::Edge) => Parsed { class: Class::Local, rest: "_edge", text },
        _ => Parsed { class, rest, text },
    }
}

/// What follows `_topo/`: area and router, each of which may be `all`. The one area there is has the name `0`.
fn topological<'a>(path: &'a str, router_id: &str) -> (Class, &'a str) {
    match path.split_once('/') {
        None => (Class::Area, path),
        Some(("0" | "all", path)) => match path.split_once('/') {
            Some(("all", rest)) => (Class::Topological, rest),
            Some((id, rest)) if id == router_id => (Class::Local, rest),
            Some((id, _)) => (Class::Router, id),
            None => (Class::Router, path),
        },
        Some((area, _)) => (Class::Area, area),
    }
}

/// Removes one final separator, and a leading `/`, `scheme:/`, `//host/` or `scheme://host/`.
pub fn strip(address: &str) -> &str {
    let text = address.strip_suffix(['.', '/']).unwrap_or(address);
    let after_slash = match (text.strip_prefix('/'), colon_and_slash(text)) {
        (Some(rest), _) => rest,
        (None, Some(colon)) if colon > 0 && colon + 2 < text.len() => &text[colon + 2..],
        _ => return text,
    };
    match after_slash.strip_prefix('/') {
        None => after_slash,
        Some(host_and_path) => host_and_path.split_once('/').map_or(text, |(_host, path)| path),
    }
}

/// Where the first `:/` is. (Looking for one byte first is much cheaper than the general search.)
fn colon_and_slash(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut from = 0;
    loop {
        let colon = from + bytes[from..].iter().position(|byte| *byte == b':')?;
        if bytes.get(colon + 1) == Some(&b'/') {
            return Some(colon);
        }
        from = colon + 1;
    }
}

/// Writes the key of `parsed` into `key`. The phase and the tenant's prefix are for mobile addresses only.
pub(crate) fn write_key(key: &mut String, parsed: &Parsed<'_>, phase: char, tenant: &str) {
    key.clear();
    key.push(parsed.class.letter());
    if parsed.class == Class::Mobile {
        key.push(phase);
        key.push_str(tenant);
    }
    key.push_str(parsed.rest);
}

/// The character for a phase, 0 to 9, or for the fallback as it travels.
pub(crate) fn phase_char(phase: u8) -> char {
    char::from(b'0'.saturating_add(phase))
}

/// The phase of a key as it travels in `x-opt-qd.phase`: 22, the distance of `F` from `0`, for a fallback; 0 for
/// addresses without phases.
pub(crate) fn phase_of_key(key: &str) -> u8 {
    match key.as_bytes() {
        [b'M', phase, ..] => phase.saturating_sub(b'0'),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(address: &str) -> String {
        let mut key = String::new();
        write_key(&mut key, &parse(address, "QDR", Mode::Standalone), '0', "");
        key
    }

    #[test]
    fn texts_become_the_keys_of_the_old_router() {
        let expected = [
            ("foo", "M0foo"),
            ("/slash/x/", "M0slash/x"),
            ("amqp:/foo", "M0foo"),
            ("amqp://host:5672/foo.", "M0foo"),
            ("amqp://user@host/a/b", "M0a/b"),
            ("http://h:1/a/b", "M0a/b"),
            ("x.y:/c", "M0c"),
            ("a:b://h/d", "M0d"),
            ("//host/x", "M0x"),
            ("///q", "M0q"),
            ("_local/x", "Lx"),
            ("/_local/x", "Lx"),
            ("amqp://h/_local/w", "Lw"),
            ("_topo/0/QDR/bar", "Lbar"),
            ("amqp:/_topo/0/QDR/temp.x", "Ltemp.x"),
            ("_topo/0/all/foo", "Tfoo"),
            ("_topo/all/all/foo", "Tfoo"),
            ("_topo/0/OTHER/bar", "ROTHER"),
            ("_topo/all/foo", "Rfoo"),
            ("_topo/0/QDR", "RQDR"),
            ("_topo/0", "A0"),
            ("_topo/9/X/bar", "A9"),
            ("_edge/QDR/bar", "Lbar"),
            ("_edge/QDR", "HQDR"),
            ("_edge/E1/bar", "HE1"),
        ];
        for (address, expected) in expected {
            assert_eq!(key(address), expected, "key of {address:?}");
        }
    }

    #[test]
    fn texts_that_only_look_like_addresses_with_a_host_stay_as_they_are() {
        for (address, expected) in [
            ("//z", "M0//z"),
            ("amqp:z", "M0amqp:z"),
            ("amqp://hostonly", "M0amqp://hostonly"),
            ("://x/y", "M0://x/y"),
            ("x:/", "M0x:"),
            ("x://", "M0x:/"),
            ("/amqp:/q", "M0amqp:/q"),
            ("_topo", "M0_topo"),
            ("_local/", "M0_local"),
            ("_TOPO/0/QDR/z", "M0_TOPO/0/QDR/z"),
            ("_topo.0.QDR.x", "M0_topo.0.QDR.x"),
            ("z//", "M0z/"),
            ("/", "M0"),
            ("", "M0"),
        ] {
            assert_eq!(key(address), expected, "key of {address:?}");
        }
    }

    #[test]
    fn phase_and_tenant_are_part_of_mobile_keys_only() {
        let mut mobile = String::new();
        write_key(&mut mobile, &parse("foo", "QDR", Mode::Standalone), '2', "acme/");
        let mut local = String::new();
        write_key(&mut local, &parse("_local/foo", "QDR", Mode::Standalone), '2', "acme/");
        assert_eq!((mobile.as_str(), local.as_str()), ("M2acme/foo", "Lfoo"));
    }

    #[test]
    fn an_edge_router_sends_what_is_elsewhere_up_its_link() {
        let parsed = parse("_topo/0/OTHER/x", "EDGE", Mode::Edge);
        assert_eq!((parsed.class, parsed.rest), (Class::Local, "_edge"));
    }

    #[test]
    fn the_fallback_phase_travels_as_22() {
        assert_eq!((phase_of_key("MFx"), phase_char(22)), (22, FALLBACK_PHASE));
    }
}
