//! From where may users connect?

use std::net::IpAddr;

use config::RemoteHost;

/// The addresses from which the users of a group may connect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts {
    anywhere: bool,
    /// From and to, these included, of one family; sorted and apart from each other.
    ranges: Box<[(IpAddr, IpAddr)]>,
}

impl Hosts {
    /// From what is configured. `addresses_of` knows the addresses of a host by its name; a name of which it knows none
    /// lets nobody in.
    pub fn new(configured: &[RemoteHost], addresses_of: &dyn Fn(&str) -> Vec<IpAddr>) -> Self {
        let mut hosts = Self::default();
        let mut ranges = Vec::new();
        for host in configured {
            match host {
                RemoteHost::Any => hosts.anywhere = true,
                RemoteHost::Range(low, high) => ranges.push((low.to_canonical(), high.to_canonical())),
                RemoteHost::Host(name) => {
                    let known = match name.parse() {
                        Ok(address) => vec![address],
                        Err(_) => addresses_of(name),
                    };
                    ranges.extend(known.into_iter().map(|address| (address.to_canonical(), address.to_canonical())));
                }
            }
        }
        ranges.retain(|(low, high)| low <= high && low.is_ipv4() == high.is_ipv4());
        ranges.sort_unstable();
        // Those that overlap are made one, so that a search finds the only one that an address can be in.
        ranges.dedup_by(|(low, high), (_, earlier)| {
            let overlaps = *low <= *earlier && low.is_ipv4() == earlier.is_ipv4();
            if overlaps {
                *earlier = (*earlier).max(*high);
            }
            overlaps
        });
        hosts.ranges = ranges.into();
        hosts
    }

    /// The names among what is configured, whose addresses have to be looked up.
    pub fn names(configured: &[RemoteHost]) -> impl Iterator<Item = &str> {
        configured.iter().filter_map(|host| match host {
            RemoteHost::Host(name) if name.parse::<IpAddr>().is_err() => Some(name.as_str()),
            _ => None,
        })
    }

    /// Whether users may connect from this address. An IPv4 address in the form of IPv6 counts as what it is.
    pub fn contain(&self, host: IpAddr) -> bool {
        let host = host.to_canonical();
        let after = self.ranges.partition_point(|(low, _)| *low <= host);
        let range = after.checked_sub(1).and_then(|index| self.ranges.get(index));
        self.anywhere || range.is_some_and(|(low, high)| low.is_ipv4() == host.is_ipv4() && host <= *high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::Ipv4Addr;

    fn range(low: &str, high: &str) -> RemoteHost {
        RemoteHost::Range(low.parse().unwrap(), high.parse().unwrap())
    }

    fn contain(configured: &[RemoteHost], host: &str) -> bool {
        Hosts::new(configured, &|_| Vec::new()).contain(host.parse().unwrap())
    }

    #[test]
    fn a_range_includes_both_ends() {
        let ranges = [range("10.0.0.1", "10.0.0.9")];
        assert!(contain(&ranges, "10.0.0.1") && contain(&ranges, "10.0.0.9"));
        assert!(!contain(&ranges, "10.0.0.0") && !contain(&ranges, "10.0.0.10"));
    }

    #[test]
    fn ranges_of_one_family_say_nothing_of_the_other() {
        assert!(!contain(&[range("0.0.0.0", "255.255.255.255")], "::1"));
        assert!(!contain(&[range("::", "ffff::")], "10.0.0.1"));
    }

    #[test]
    fn an_ipv4_address_in_the_form_of_ipv6_is_an_ipv4_address() {
        assert!(contain(&[range("10.0.0.1", "10.0.0.9")], "::ffff:10.0.0.5"));
    }

    #[test]
    fn without_hosts_nobody_may_connect() {
        assert!(!contain(&[], "127.0.0.1"));
    }

    #[test]
    fn a_name_stands_for_all_its_addresses() {
        let known = |name: &str| {
            assert_eq!(name, "printer");
            vec!["10.0.0.7".parse().unwrap(), "fd00::7".parse().unwrap()]
        };
        let hosts = Hosts::new(&[RemoteHost::Host("printer".into())], &known);
        assert!(hosts.contain("10.0.0.7".parse().unwrap()) && hosts.contain("fd00::7".parse().unwrap()));
        assert!(!hosts.contain("10.0.0.8".parse().unwrap()));
    }

    #[test]
    fn a_name_without_addresses_lets_nobody_in() {
        assert!(!contain(&[RemoteHost::Host("nowhere".into())], "127.0.0.1"));
    }

    proptest! {
        #[test]
        fn the_search_finds_what_a_look_at_every_range_finds(
            ranges in proptest::collection::vec((0u32..40, 0u32..40), 0..8),
            host in 0u32..40,
        ) {
            let address = |number| IpAddr::V4(Ipv4Addr::from_bits(number));
            let configured: Vec<_> = ranges.iter().map(|&(low, high)| RemoteHost::Range(address(low), address(high))).collect();
            let slow = ranges.iter().any(|&(low, high)| low <= host && host <= high);
            prop_assert_eq!(Hosts::new(&configured, &|_| Vec::new()).contain(address(host)), slow);
        }
    }
}
