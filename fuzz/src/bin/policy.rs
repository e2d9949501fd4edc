//! The rules of vhosts: whatever an administrator writes and a client asks for, there is an answer, and it is always the same.
//!
//! The input is lines: user, host, vhost, address; then pairs `option=value` of a group of users.
#![no_main]

use amqp::{Map, Value};
use config::{PolicyConfig, VhostConfig};
use libfuzzer_sys::fuzz_target;
use management::Attributes;
use security::policy::{LinkRequest, OpenRequest, Policy, Vhost};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (_, peak) = fuzz::peak(|| judge(text));
    assert!(peak < 1024 * 1024 + 4096 * data.len(), "{peak} bytes held for an input of {}", data.len());
});

fn judge(text: &str) {
    let mut lines = text.lines();
    let mut next = || lines.next().unwrap_or_default();
    let (user, host, vhost, address) = (next(), next(), next(), next());
    let Some(rules) = rules(vhost, lines) else { return };
    let compiled = Vhost::new(&rules, &|name| vec![Ipv4Addr::from_bits(name.len() as u32).into()]);
    let attributes = Attributes::new().with("enableVhostNamePatterns", true.into());
    let config = PolicyConfig::from_attributes(&attributes).expect("nothing is wrong with it");
    let policy = Policy::new(&config, vec![Arc::new(compiled)]);
    let host: IpAddr = host.parse().unwrap_or(Ipv4Addr::LOCALHOST.into());
    let request = OpenRequest { id: 1, name: "fuzz", user: Some(user), host, vhost };
    for sender in [true, false] {
        let link =
            LinkRequest { sender, address: Some(address), dynamic: false, waypoint: false, fallback: false, open: 0 };
        let explanation = policy.explain(&request, Some(&link), &|_| Vec::new());
        let mut admissions = security::policy::Admissions::default();
        let Ok(settings) = admissions.admit(&policy, &request) else { continue };
        let allowed = if sender { &settings.targets } else { &settings.sources };
        assert_eq!(allowed.allow(address), allowed.rule_for(address).is_some(), "a rule is named for what is allowed");
        assert!(!allowed.allow(""), "nothing is no address");
        if explanation.denied.is_none() && !address.is_empty() {
            assert!(settings.check_link(&link).is_ok(), "what is explained is what is done");
        }
    }
}

/// A vhost with one group, if the options make one.
fn rules<'l>(hostname: &str, options: impl Iterator<Item = &'l str>) -> Option<VhostConfig> {
    let options = options.filter_map(|line| line.split_once('='));
    let options = options.map(|(name, text)| (Value::from(name), Value::from(text))).collect();
    let groups = Map(vec![(Value::from("g"), Value::Map(Map(options)))]);
    let attributes = Attributes::new().with("hostname", hostname.into()).with("groups", Value::Map(groups));
    VhostConfig::from_attributes(&attributes).ok()
}
