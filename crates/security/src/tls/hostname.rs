//! Whether a certificate is for a host, by the rules of the old router's TLS library: any DNS name among the alternative
//! names or any common name of the subject will do, with `*` for (a part of) one label (RFC 2818). Addresses among the
//! alternative names count as well.

use std::net::IpAddr;

use x509_parser::extensions::GeneralName;
use x509_parser::prelude::X509Certificate;

use super::subject;

/// Whether the certificate is for this host.
pub(super) fn matches(certificate: &X509Certificate<'_>, host: &str) -> bool {
    let address: Option<IpAddr> = host.parse().ok();
    let alternative = certificate.subject_alternative_name().ok().flatten();
    let names = alternative.iter().flat_map(|extension| &extension.value.general_names);
    let mut named = names.map(|name| match name {
        GeneralName::DNSName(pattern) => matches_pattern(pattern, host),
        GeneralName::IPAddress(bytes) => address.is_some_and(|address| is_address(bytes, address)),
        _ => false,
    });
    named.any(|matches| matches) || subject::common_names(certificate).iter().any(|name| matches_pattern(name, host))
}

fn is_address(bytes: &[u8], address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.octets() == bytes,
        IpAddr::V6(address) => address.octets() == bytes,
    }
}

/// Whether a name, perhaps with `*` in its labels, is this host.
fn matches_pattern(pattern: &str, host: &str) -> bool {
    let (pattern, host) = (pattern.trim_end_matches('.'), host.trim_end_matches('.'));
    if !pattern.contains('*') {
        return pattern.eq_ignore_ascii_case(host);
    }
    // A pattern is for names, never for addresses.
    if host.parse::<IpAddr>().is_ok() {
        return false;
    }
    let (mut patterns, mut labels) = (pattern.split('.'), host.split('.'));
    loop {
        match (patterns.next(), labels.next()) {
            (None, None) => return true,
            (Some(pattern), Some(label)) if matches_label(pattern, label) => {}
            _ => return false,
        }
    }
}

fn matches_label(pattern: &str, label: &str) -> bool {
    let (pattern, label) = (pattern.to_ascii_lowercase(), label.to_ascii_lowercase());
    match pattern.split_once('*') {
        None => pattern == label,
        Some((before, after)) => {
            label.len() >= before.len() + after.len() && label.starts_with(before) && label.ends_with(after)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_one_label() {
        assert!(matches_pattern("*.example.com", "a.EXAMPLE.com"));
        assert!(!matches_pattern("*.example.com", "a.b.example.com"));
        assert!(!matches_pattern("*.example.com", "example.com"));
    }

    #[test]
    fn a_star_stands_for_part_of_a_label() {
        assert!(matches_pattern("r*r.net", "router.net"));
        assert!(!matches_pattern("r*r.net", "r.net"));
    }

    #[test]
    fn a_pattern_is_not_for_addresses() {
        assert!(!matches_pattern("*.0.0.1", "127.0.0.1"));
        assert!(matches_pattern("127.0.0.1", "127.0.0.1"));
    }
}
