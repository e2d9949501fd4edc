//! `waystation policy`.

use std::io::Write;
use std::net::{IpAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand};
use config::{Config, PolicyConfig, VhostConfig};
use management::Attributes;
use security::policy::{LinkRequest, OpenRequest, Policy, Vhost};

use super::Failure;
use super::connect::{ConnectArguments, TlsArguments, duration};
use super::router::RouterArguments;
use crate::client::{Client, Node};

/// Ask what the policy says
#[derive(Debug, Args)]
pub(super) struct PolicyArguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Test(Box<TestArguments>),
}

/// Say whether a user may connect, and use an address, and by which rule
///
/// The rules are those of a configuration file, or of a running router if none is given. How many connections and links
/// there are is not looked at. The exit status is 0 if it is allowed, 1 if it is denied, and 2 if there is no answer: no
/// such file, router or host.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  waystation policy test qdrouterd.conf --user bob --host 10.1.2.3 --vhost example.com --target orders
  waystation policy test --user bob --host 10.1.2.3 --vhost example.com --source news
  waystation policy test --url amqp://admin:secret@router --host 10.1.2.3 --vhost example.com")]
struct TestArguments {
    /// A configuration file
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// The user in question
    #[arg(long, value_name = "NAME", default_value = "anonymous")]
    user: String,

    /// The address or name of the host that the user connects from
    #[arg(long, value_name = "HOST", default_value = "127.0.0.1")]
    host: String,

    /// The host name in the user's open, or the listener's policyVhost
    #[arg(long, value_name = "NAME", default_value = "")]
    vhost: String,

    /// An address that the user would receive from
    #[arg(long, value_name = "ADDRESS", conflicts_with = "target")]
    source: Option<String>,

    /// An address that the user would send to; empty for an anonymous sender
    #[arg(long, value_name = "ADDRESS")]
    target: Option<String>,

    /// The running router: [amqp://][user[:password]@]host[:port]; amqps:// for TLS
    #[arg(long, value_name = "URL", default_value = "127.0.0.1", conflicts_with = "file")]
    url: String,

    /// How many seconds to wait for each thing that the router has to do; 0: for ever
    #[arg(short, long, value_name = "SECONDS", default_value = "5", value_parser = duration)]
    timeout: Duration,

    #[command(flatten)]
    tls: TlsArguments,

    #[command(flatten)]
    router: RouterArguments,
}

pub(super) fn run(arguments: &PolicyArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let Command::Test(arguments) = &arguments.command;
    test(arguments, out)
}

/// The policy and the vhosts.
type Rules = (PolicyConfig, Vec<VhostConfig>);

fn test(arguments: &TestArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let (config, vhosts) = match &arguments.file {
        Some(path) => of_file(path),
        None => of_router(arguments),
    }
    .map_err(Failure::unanswered)?;
    if !config.enable_vhost_policy {
        writeln!(out, "allowed: the policies of vhosts are not in force, as policy enableVhostPolicy is no")?;
        return Ok(());
    }
    let compiled = vhosts.iter().map(|vhost| Arc::new(Vhost::new(vhost, &addresses_of)));
    let policy = Policy::new(&config, compiled.collect());
    let host = address_of(&arguments.host).map_err(Failure::unanswered)?;
    let (user, vhost) = (Some(arguments.user.as_str()), arguments.vhost.as_str());
    let request = OpenRequest { id: 0, name: "", user, host, vhost };
    let link = arguments.link();
    let explanation = policy.explain(&request, link.as_ref(), &addresses_of);
    for step in &explanation.steps {
        writeln!(out, "{step}")?;
    }
    match explanation.denied {
        None => Ok(writeln!(out, "allowed")?),
        Some(reason) => Err(Failure::Told(format!("denied: {reason}"))),
    }
}

impl TestArguments {
    fn link(&self) -> Option<LinkRequest<'_>> {
        let (sender, address) = match (&self.target, &self.source) {
            (Some(target), _) => (true, target),
            (None, Some(source)) => (false, source),
            (None, None) => return None,
        };
        let address = Some(address.as_str()).filter(|address| !address.is_empty());
        Some(LinkRequest { sender, address, dynamic: false, waypoint: false, fallback: false, open: 0 })
    }
}

fn of_file(path: &std::path::Path) -> Result<Rules, Failure> {
    let config = Config::load(path).map_err(|errors| Failure::Told(format!("the file cannot be used\n{errors}")))?;
    let policy = config.policies().next().map(|(_, policy)| policy.clone()).unwrap_or_default();
    Ok((policy, config.vhosts().map(|(_, vhost)| vhost.clone()).collect()))
}

fn of_router(arguments: &TestArguments) -> Result<Rules, Failure> {
    let connect = ConnectArguments {
        url: arguments.url.clone(),
        timeout: arguments.timeout,
        user: None,
        password: None,
        password_file: None,
        sasl_mechanisms: None,
        tls: arguments.tls.clone(),
        virtual_host: None,
    };
    let options = connect.options()?;
    let address = arguments.router.address(&options.url);
    let mut client = Client::connect(&options)?;
    let mut node = Node::attach(&mut client, &address)?;
    let mut entities = |entity_type: &str| -> Result<Vec<Attributes>, Failure> {
        Ok(node.query(&mut client, Some(entity_type), &[], 0)?.into_entities())
    };
    let wrong =
        |invalid: management::schema::Invalid| Failure::Told(format!("the router's rules make no sense: {invalid}"));
    let policy = entities("policy")?.into_iter().next().unwrap_or_default();
    let policy = PolicyConfig::from_attributes(&policy).map_err(wrong)?;
    let vhosts = entities("vhost")?;
    let vhosts = vhosts.iter().map(|vhost| VhostConfig::from_attributes(&without_nulls(vhost)));
    Ok((policy, vhosts.collect::<Result<_, _>>().map_err(wrong)?))
}

/// A query gives null for what an entity does not have.
fn without_nulls(attributes: &Attributes) -> Attributes {
    let given = attributes.iter().filter(|(_, value)| !value.is_null());
    Attributes(given.map(|(name, value)| (name.to_owned(), value.clone())).collect())
}

fn address_of(host: &str) -> Result<IpAddr, Failure> {
    let found = host.parse().ok().or_else(|| addresses_of(host).first().copied());
    found.ok_or_else(|| Failure::Told(format!("--host {host}: no such host; give its address")))
}

/// The addresses of a host by its name.
fn addresses_of(name: &str) -> Vec<IpAddr> {
    let found = (name, 0).to_socket_addrs();
    found.map(|addresses| addresses.map(|address| address.ip()).collect()).unwrap_or_default()
}
