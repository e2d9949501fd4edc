//! The options that say where to connect to and as whom.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::Failure;
use crate::client::{ClientError, ConnectOptions, SaslOptions, TlsOptions, Url, names};

/// Where to connect to and as whom.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Connection")]
pub struct ConnectArguments {
    /// Where to connect: [amqp://][user[:password]@]host[:port]; amqps:// for TLS
    #[arg(short, long, value_name = "URL", default_value = "127.0.0.1")]
    pub url: String,

    /// How many seconds to wait for each thing that the peer has to do; 0: for ever
    #[arg(short, long, value_name = "SECONDS", default_value = "5", value_parser = duration)]
    pub timeout: Duration,

    /// The user to authenticate as
    #[arg(long, alias = "sasl-username", value_name = "NAME")]
    pub user: Option<String>,

    /// The user's password; others can see it in the list of processes, so prefer --password-file
    #[arg(long, alias = "sasl-password", value_name = "PASSWORD", conflicts_with = "password_file")]
    pub password: Option<String>,

    /// A file whose first line is the user's password
    #[arg(long, alias = "sasl-password-file", value_name = "FILE")]
    pub password_file: Option<PathBuf>,

    /// The SASL mechanisms that may be used, separated by commas: SCRAM-SHA-256, PLAIN, EXTERNAL, ANONYMOUS, GSSAPI
    /// and others; any, if not given
    #[arg(long, value_name = "NAMES")]
    pub sasl_mechanisms: Option<String>,

    /// TLS
    #[command(flatten)]
    pub tls: TlsArguments,

    /// The host to ask for when the connection opens; a multi-tenant listener takes it as the tenant
    #[arg(long, value_name = "NAME")]
    pub virtual_host: Option<String>,
}

/// TLS, which an amqps: URL asks for, and the first two of these.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "TLS")]
pub struct TlsArguments {
    /// PEM file of the authorities that the server's certificate may come from; without it, those that the system trusts
    #[arg(long, value_name = "FILE")]
    pub tls_ca: Option<PathBuf>,

    /// PEM file of the certificate to show to the server
    #[arg(long, value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,

    /// PEM file of the certificate's key, if it is not in the same file
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,

    /// A file whose first line is the key's password
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key_password_file: Option<PathBuf>,

    /// Take the server's certificate even if it is for another host
    #[arg(long)]
    pub tls_any_host: bool,
}

impl TlsArguments {
    fn options(&self) -> Result<TlsOptions, ClientError> {
        Ok(TlsOptions {
            certificate: self.tls_cert.clone(),
            key: self.tls_key.clone(),
            key_password: self.tls_key_password_file.as_deref().map(read_secret).transpose()?,
            trust_file: self.tls_ca.clone(),
            any_host: self.tls_any_host,
        })
    }
}

impl ConnectArguments {
    /// What they mean.
    ///
    /// # Errors
    /// If the URL makes no sense or the password file cannot be read.
    pub fn options(&self) -> Result<ConnectOptions, Failure> {
        let mut url = Url::parse(&self.url).map_err(|text| Failure::Told(format!("--url {}: {text}", self.url)))?;
        let tls = self.tls.options()?;
        url.use_tls_if(tls.ask_for_tls());
        let password = match &self.password_file {
            Some(path) => Some(read_secret(path)?),
            None => self.password.clone(),
        };
        Ok(ConnectOptions {
            timeout: self.timeout,
            sasl: SaslOptions {
                mechanisms: self.sasl_mechanisms.as_deref().map(names),
                user: self.user.clone(),
                password,
                always: true,
            },
            tls,
            virtual_host: self.virtual_host.clone(),
            ..ConnectOptions::new(url)
        })
    }
}

fn read_secret(path: &std::path::Path) -> Result<String, ClientError> {
    let path = path.to_string_lossy().into_owned();
    let text = std::fs::read_to_string(&path).map_err(|error| ClientError::File { path, error })?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

/// A number of seconds, with or without a fraction.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let text = text.strip_suffix('s').unwrap_or(text);
    crate::python::seconds(text).ok_or_else(|| "expected a number of seconds, such as 2.5".to_owned())
}
