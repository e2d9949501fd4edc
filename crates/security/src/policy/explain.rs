//! Why is something allowed, or not? In words for a person, rule by rule.

use std::net::IpAddr;

use config::{GroupConfig, RemoteHost};
use router_core::{Pattern, PatternTree};

use super::{Group, Hosts, LinkDenial, LinkRequest, OpenRequest, Policy, Settings, Vhost};

/// What the rules say of a connection, and of a link on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// The rules that were met, in the order in which they are asked.
    pub steps: Vec<String>,
    /// Why it is denied; `None`: it is allowed.
    pub denied: Option<String>,
}

impl Policy {
    /// Says what holds for a connection, and for a link that it attaches, without regard to how many there are. For
    /// `addresses_of` see [`Hosts::new`].
    pub fn explain(
        &self,
        request: &OpenRequest<'_>,
        link: Option<&LinkRequest<'_>>,
        addresses_of: &dyn Fn(&str) -> Vec<IpAddr>,
    ) -> Explanation {
        let mut explanation = Explanation::default();
        explanation.denied = self.walk(request, link, addresses_of, &mut explanation.steps).err();
        explanation
    }

    fn walk(
        &self,
        request: &OpenRequest<'_>,
        link: Option<&LinkRequest<'_>>,
        addresses_of: &dyn Fn(&str) -> Vec<IpAddr>,
        steps: &mut Vec<String>,
    ) -> Result<(), String> {
        let (asked, host) = (request.vhost, request.host);
        let user = request.user.unwrap_or("(none)");
        let vhost = self.find(asked).ok_or_else(|| format!("there is no vhost for '{asked}', and no default vhost"))?;
        steps.push(format!("vhost '{}', {}", vhost.name, how_found(vhost, asked)));
        let group = vhost.group_of(request.user);
        let group = group.ok_or_else(|| {
            format!("user '{user}' is in no group of vhost '{}', and allowUnknownUser is no", vhost.name)
        })?;
        steps.push(format!("group '{}', {}", group.config.name, how_member(&group.config, user)));
        let Some(by) = host_rule(&group.config, host, addresses_of) else {
            return Err(format!("host {host} is not in remoteHosts of group '{}'", group.config.name));
        };
        steps.push(format!("host {host}, by remoteHosts '{by}'"));
        match link {
            Some(link) => explain_link(self, vhost, group, request, link, steps),
            None => Ok(()),
        }
    }
}

fn how_found(vhost: &Vhost, asked: &str) -> String {
    if *vhost.name == *asked {
        return "by its name".to_owned();
    }
    if vhost.aliases.iter().any(|alias| **alias == *asked) {
        return format!("by its alias '{asked}'");
    }
    let matching = [&vhost.name].into_iter().chain(&vhost.aliases).find(|name| matches(name, asked));
    match matching {
        Some(pattern) => format!("by pattern '{pattern}', for '{asked}'"),
        None => format!("the default, for '{asked}'"),
    }
}

fn matches(pattern: &str, name: &str) -> bool {
    let mut tree = PatternTree::default();
    Pattern::parse(pattern).is_some_and(|pattern| tree.insert(&pattern, ())) && tree.best(name).is_some()
}

fn how_member(group: &GroupConfig, user: &str) -> String {
    if group.users.iter().any(|named| named == user) {
        format!("which names user '{user}'")
    } else if group.users.iter().any(|named| named == "*") {
        format!("which names '*', for user '{user}'")
    } else {
        format!("for user '{user}' in no other group, by allowUnknownUser")
    }
}

/// What lets a host in, as one would write it.
fn host_rule(group: &GroupConfig, host: IpAddr, addresses_of: &dyn Fn(&str) -> Vec<IpAddr>) -> Option<String> {
    let lets_in = |rule: &&RemoteHost| Hosts::new(std::slice::from_ref(*rule), addresses_of).contain(host);
    group.remote_hosts.iter().find(lets_in).map(|rule| match rule {
        RemoteHost::Any => "*".to_owned(),
        RemoteHost::Host(name) => name.clone(),
        RemoteHost::Range(low, high) => format!("{low}-{high}"),
    })
}

fn explain_link(
    policy: &Policy,
    vhost: &Vhost,
    group: &Group,
    request: &OpenRequest<'_>,
    link: &LinkRequest<'_>,
    steps: &mut Vec<String>,
) -> Result<(), String> {
    let settings = Settings::new(policy, vhost, group, request.user);
    let (kind, attribute) = if link.sender { ("target", "targets") } else { ("source", "sources") };
    let address = link.address.unwrap_or_default();
    let pattern = format!("{}Pattern", kind);
    match settings.check_link(link) {
        Ok(()) if link.address.is_none() => {
            steps.push("an anonymous sender, by allowAnonymousSender; each message is held against targets".to_owned());
            Ok(())
        }
        Ok(()) => {
            let allowed = if link.sender { &settings.targets } else { &settings.sources };
            let rule = allowed.rule_for(address).unwrap_or_default();
            steps.push(format!("{kind} '{address}', by rule '{rule}' of {attribute} or {pattern}"));
            Ok(())
        }
        Err(LinkDenial::Anonymous) => Err("allowAnonymousSender is no".to_owned()),
        Err(_) => {
            Err(format!("{kind} '{address}' is in neither {attribute} nor {pattern} of group '{}'", group.config.name))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use amqp::{Map, Value};
    use config::{PolicyConfig, VhostConfig};
    use management::Attributes;
    use std::sync::Arc;

    fn policy() -> Policy {
        let members = [("users", "bob"), ("remoteHosts", "10.0.0.0/24"), ("targets", "ord*")];
        let members = members.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect();
        let groups = Map(vec![("g".into(), Value::Map(Map(members)))]);
        let attributes = Attributes::new().with("hostname", "h".into()).with("groups", Value::Map(groups));
        let vhost = VhostConfig::from_attributes(&attributes.with("aliases", "alias".into())).unwrap();
        let config = PolicyConfig::from_attributes(&Attributes::new()).unwrap();
        Policy::new(&config, vec![Arc::new(Vhost::new(&vhost, &|_| Vec::new()))])
    }

    fn explain(user: &str, host: &str, vhost: &str, target: &str) -> Explanation {
        let request = OpenRequest { id: 0, name: "", user: Some(user), host: host.parse().unwrap(), vhost };
        let link = LinkRequest {
            sender: true,
            address: Some(target),
            dynamic: false,
            waypoint: false,
            fallback: false,
            open: 0,
        };
        policy().explain(&request, Some(&link), &|_| Vec::new())
    }

    #[test]
    fn what_is_allowed_is_told_rule_by_rule() {
        let explanation = explain("bob", "10.0.0.7", "alias", "orders");
        assert_eq!(explanation.denied, None);
        let expected = [
            "vhost 'h', by its alias 'alias'",
            "group 'g', which names user 'bob'",
            "host 10.0.0.7, by remoteHosts '10.0.0.0-10.0.0.255'",
            "target 'orders', by rule 'ord*' of targets or targetPattern",
        ];
        assert_eq!(explanation.steps, expected);
    }

    #[test]
    fn a_denial_names_the_rule_that_is_missing() {
        let denied = |explanation: Explanation| explanation.denied.unwrap();
        assert!(denied(explain("bob", "10.0.0.7", "elsewhere", "orders")).contains("no vhost for 'elsewhere'"));
        assert!(denied(explain("alice", "10.0.0.7", "h", "orders")).contains("user 'alice' is in no group"));
        assert!(denied(explain("bob", "10.0.1.7", "h", "orders")).contains("host 10.0.1.7 is not in remoteHosts"));
        assert!(denied(explain("bob", "10.0.0.7", "h", "news")).contains("target 'news' is in neither targets"));
    }
}
