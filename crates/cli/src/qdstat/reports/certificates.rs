//! The certificates of a router, and how long they are valid. (The old tool has no such report.)

use management::Attributes;

use super::table;
use crate::qdstat::cells::plain;
use crate::qdstat::table::Block;

/// The certificates that expire first come first.
pub(super) fn blocks(certificates: &[Attributes]) -> Vec<Block> {
    let mut certificates: Vec<&Attributes> = certificates.iter().collect();
    certificates.sort_by_key(|certificate| certificate.integer("daysLeft"));
    let row = |certificate: &&Attributes| {
        ["profile", "use", "subject", "daysLeft", "file"].map(|name| plain(certificate, name)).to_vec()
    };
    let headers = vec!["profile", "use", "subject", "days-left", "file"];
    table("Certificates", headers, certificates.iter().map(row).collect())
}
