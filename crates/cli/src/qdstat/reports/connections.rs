//! `-c` and `-e`: connections.

use management::Attributes;

use super::table;
use crate::qdstat::cells::{days, plain, yes_no};
use crate::qdstat::table::Block;

pub(super) fn blocks(connections: &[Attributes]) -> Vec<Block> {
    let headers = vec![
        "id",
        "host",
        "container",
        "role",
        "proto",
        "dir",
        "security",
        "authentication",
        "tenant",
        "last dlv",
        "uptime",
    ];
    let row = |connection: &Attributes| {
        vec![
            plain(connection, "identity"),
            plain(connection, "host"),
            plain(connection, "container"),
            plain(connection, "role"),
            plain(connection, "protocol"),
            plain(connection, "dir"),
            security(connection),
            authentication(connection),
            plain(connection, "tenant"),
            connection.integer("lastDlvSeconds").map_or_else(|| "-".to_owned(), days),
            connection.integer("uptimeSeconds").map(days).unwrap_or_default(),
        ]
    };
    table("Connections", headers, connections.iter().map(row).collect())
}

pub(super) fn edge_blocks(connections: &[Attributes]) -> Vec<Block> {
    if connections.is_empty() {
        return vec![Block::Line("No Edge Router Connections".to_owned())];
    }
    let headers = vec!["id", "host", "container", "role", "dir", "security", "authentication", "tenant", "active"];
    let row = |connection: &Attributes| {
        vec![
            plain(connection, "identity"),
            plain(connection, "host"),
            plain(connection, "container"),
            plain(connection, "role"),
            plain(connection, "dir"),
            security(connection),
            authentication(connection),
            plain(connection, "tenant"),
            yes_no(connection, "active"),
        ]
    };
    let rows: Vec<_> =
        connections.iter().filter(|connection| connection.text("role") == Some("edge")).map(row).collect();
    if rows.is_empty() { Vec::new() } else { table("Connections", headers, rows) }
}

fn security(connection: &Attributes) -> String {
    if connection.boolean("isEncrypted") != Some(true) {
        "no-security".to_owned()
    } else if connection.text("sasl") == Some("GSSAPI") {
        "Kerberos".to_owned()
    } else {
        format!("{}({})", plain(connection, "sslProto"), plain(connection, "sslCipher"))
    }
}

fn authentication(connection: &Attributes) -> String {
    let user = || plain(connection, "user");
    match connection.text("sasl") {
        _ if connection.boolean("isAuthenticated") != Some(true) => "no-auth".to_owned(),
        Some("ANONYMOUS") => "anonymous-user".to_owned(),
        Some("EXTERNAL") => format!("{}(x.509)", user()),
        mechanism => format!("{}({})", user(), mechanism.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use amqp::Value;

    fn connection(pairs: &[(&str, Value)]) -> Attributes {
        Attributes(pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
    }

    #[test]
    fn security_names_protocol_and_cipher_or_kerberos() {
        let tls = [("isEncrypted", true.into()), ("sslProto", "TLSv1.3".into()), ("sslCipher", "AES".into())];
        let kerberos = [("isEncrypted", true.into()), ("sasl", "GSSAPI".into())];
        let texts = [connection(&[]), connection(&tls), connection(&kerberos)].map(|connection| security(&connection));
        assert_eq!(texts, ["no-security", "TLSv1.3(AES)", "Kerberos"]);
    }

    #[test]
    fn authentication_names_user_and_mechanism() {
        let by = |sasl: &str| {
            let pairs = [("isAuthenticated", true.into()), ("sasl", sasl.into()), ("user", "joe".into())];
            authentication(&connection(&pairs))
        };
        assert_eq!([by("ANONYMOUS"), by("EXTERNAL"), by("PLAIN")], ["anonymous-user", "joe(x.509)", "joe(PLAIN)"]);
        assert_eq!(authentication(&connection(&[("user", "anonymous".into())])), "no-auth");
    }

    #[test]
    fn a_connection_without_deliveries_has_a_dash() {
        let Block::Table(table) = &blocks(&[connection(&[("uptimeSeconds", 5_u32.into())])])[0] else {
            panic!("a table")
        };
        assert_eq!(table.rows[0][9..], ["-", "000:00:00:05"]);
    }

    #[test]
    fn only_connections_of_edge_routers_are_edge_connections() {
        let normal = connection(&[("role", "normal".into())]);
        let edge = connection(&[("role", "edge".into()), ("active", true.into())]);
        let Block::Table(table) = &edge_blocks(&[normal.clone(), edge])[0] else { panic!("a table") };
        assert_eq!((table.rows.len(), table.rows[0][8].as_str()), (1, "yes"));
        assert_eq!(edge_blocks(&[normal]), []);
        assert_eq!(edge_blocks(&[]), [Block::Line("No Edge Router Connections".to_owned())]);
    }
}
