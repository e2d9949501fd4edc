//! `-p`: policy.

use management::Attributes;

use crate::qdstat::cells::plain;
use crate::qdstat::table::Block;

pub(super) fn blocks(policy: Option<&Attributes>) -> Vec<Block> {
    let none = Attributes::new();
    let policy = policy.unwrap_or(&none);
    let directory = Some(plain(policy, "policyDir")).filter(|text| !text.is_empty());
    let configuration = vec![
        ("Maximum Concurrent Connections", plain(policy, "maxConnections")),
        ("Maximum Message Size", plain(policy, "maxMessageSize")),
        ("Enable Vhost Policy", plain(policy, "enableVhostPolicy")),
        ("Enable Vhost Name Patterns", plain(policy, "enableVhostNamePatterns")),
        ("Policy Directory", directory.unwrap_or_else(|| "(nil)".to_owned())),
        ("Default Vhost", plain(policy, "defaultVhost")),
    ];
    let status = vec![
        ("Connections Processed", plain(policy, "connectionsProcessed")),
        ("Connections Denied", plain(policy, "connectionsDenied")),
        ("Connections Current", plain(policy, "connectionsCurrent")),
        ("Links Denied", plain(policy, "linksDenied")),
        ("Maximum Message Size Denied", plain(policy, "maxMessageSizeDenied")),
        ("Total Denials", plain(policy, "totalDenials")),
    ];
    vec![Block::pairs("Policy Configuration", configuration), Block::blank(), Block::pairs("Policy Status", status)]
}
