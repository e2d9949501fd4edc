//! The options of both tools that say where to connect to and as whom, and which router to ask.

use std::path::PathBuf;
use std::time::Duration;

use crate::client::{ClientError, ConnectOptions, DEFAULT_MANAGEMENT, SaslOptions, TlsOptions, Url, names};
use crate::python::argparse::{Opt, Parsed, Takes};
use crate::python::seconds;

const fn text(names: &'static [&'static str]) -> Opt {
    Opt { names, takes: Takes::Text, group: 0 }
}

/// Where to connect to and as whom.
pub const CONNECTION_OPTIONS: &[Opt] = &[
    text(&["-b", "--bus"]),
    Opt { names: &["-t", "--timeout"], takes: Takes::Float, group: 0 },
    text(&["--ssl-certificate"]),
    text(&["--ssl-key"]),
    text(&["--ssl-trustfile"]),
    text(&["--ssl-password"]),
    text(&["--ssl-password-file"]),
    text(&["--sasl-mechanisms"]),
    text(&["--sasl-username"]),
    text(&["--sasl-password"]),
    text(&["--sasl-password-file"]),
    Opt { names: &["--ssl-disable-peer-name-verify"], takes: Takes::Nothing, group: 0 },
];

/// The group of the options that name the router to ask.
pub(super) const TARGET_GROUP: u8 = 1;

/// Which router to ask.
pub const TARGET_OPTIONS: &[Opt] = &[
    Opt { names: &["-r", "--router"], takes: Takes::Text, group: TARGET_GROUP },
    Opt { names: &["-d", "--edge-router"], takes: Takes::Text, group: TARGET_GROUP },
];

/// What the command line says about the connection.
///
/// # Errors
/// If the URL makes no sense or the password file cannot be read.
pub fn connect_options(parsed: &Parsed) -> Result<ConnectOptions, ClientError> {
    let mut url = Url::parse(parsed.get("--bus").unwrap_or("0.0.0.0")).map_err(ClientError::Value)?;
    let timeout = parsed.get("--timeout").map_or(Some(Duration::from_secs(5)), seconds);
    let password = match parsed.get("--sasl-password-file") {
        Some(path) => Some(read_secret(path)?),
        None => parsed.get("--sasl-password").map(str::to_owned),
    };
    let path = |name| parsed.get(name).map(PathBuf::from);
    let key_password = match parsed.get("--ssl-password-file") {
        Some(path) => Some(read_secret(path)?),
        None => parsed.get("--ssl-password").map(str::to_owned),
    };
    let tls = TlsOptions {
        certificate: path("--ssl-certificate"),
        key: path("--ssl-key"),
        key_password,
        trust_file: path("--ssl-trustfile"),
        any_host: parsed.has("--ssl-disable-peer-name-verify"),
    };
    url.use_tls_if(tls.ask_for_tls());
    Ok(ConnectOptions {
        // A negative time-out is over at once.
        timeout: timeout.unwrap_or(Duration::from_nanos(1)),
        sasl: SaslOptions {
            mechanisms: parsed.get("--sasl-mechanisms").map(names),
            user: parsed.get("--sasl-username").map(str::to_owned),
            password,
            always: false,
        },
        tls,
        ..ConnectOptions::new(url)
    })
}

/// The address of the management node that the command line names: of another router in the network, or of any node
/// that the URL ends with.
pub fn node_address(parsed: &Parsed, url: &Url) -> String {
    if let Some(id) = parsed.get("--router") {
        format!("_topo/0/{id}/$management")
    } else if let Some(id) = parsed.get("--edge-router") {
        format!("_edge/{id}/$management")
    } else {
        url.path.clone().unwrap_or_else(|| DEFAULT_MANAGEMENT.to_owned())
    }
}

/// The first line of a file that holds a password.
fn read_secret(path: &str) -> Result<String, ClientError> {
    let text = std::fs::read_to_string(path).map_err(|error| ClientError::File { path: path.to_owned(), error })?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}
