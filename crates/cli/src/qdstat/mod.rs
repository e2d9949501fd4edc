//! `qdstat`: shows what a router is doing, with the old tool's command line and tables.

mod address_key;
mod arguments;
pub(crate) mod cells;
mod reports;
pub(crate) mod source;
pub(crate) mod table;

use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use amqp::Value;
use logging::escaped;

use crate::client::{Client, ClientError, ConnectOptions, Node};
use crate::old_tools::{Ended, connect_options, finish, node_address};
use source::Source;

pub use reports::Report;

/// What to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// One report.
    One(Report),
    /// Every report that makes sense for a single router.
    All,
}

/// What to show, of which routers, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// What to show.
    pub view: View,
    /// Of every router of the network.
    pub all_routers: bool,
    /// At most so many rows of a table; 0 for all.
    pub limit: usize,
    /// Comma-separated values instead of aligned columns.
    pub csv: bool,
    /// More columns.
    pub verbose: bool,
}

/// Runs the program with the words of its command line, without its name, and returns its exit status: 0; 1 if a
/// router could not be asked (the reason is on the standard output); 2 if the command line is wrong.
pub fn run(words: &[String], out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    let result = arguments::parse(words).map_err(Ended::from).and_then(|(request, parsed)| {
        let options = connect_options(&parsed)?;
        show(&request, &options, &node_address(&parsed, &options.url), out)
    });
    finish(result, out, err)
}

/// Asks the management node at `address`, and writes what it says.
///
/// # Errors
/// If the router does not answer or refuses, or if the output does not take what it says.
pub fn show(request: &Request, options: &ConnectOptions, address: &str, out: &mut dyn Write) -> Result<(), Ended> {
    let mut client = Client::connect(options)?;
    let node = Node::attach(&mut client, address)?;
    let mut source = Source { client: &mut client, node, limit: request.limit, verbose: request.verbose };
    let routers = routers(&mut source)?;
    if request.all_routers && !routers.is_empty() {
        writeln!(out, "{}", now())?;
        for address in routers {
            // `amqp:/_topo/0/<id>/$management`
            let address = address.strip_prefix("amqp:/").unwrap_or(&address);
            writeln!(out, "Router  {}\n", escaped(address.split('/').nth(2).unwrap_or(address)))?;
            source.node = Node::attach(source.client, address)?;
            print(&mut source, request, out)?;
            writeln!(out)?;
        }
    } else if let View::One(report) = request.view {
        let blocks = report.make(&mut source)?;
        if report.is_framed() {
            frame(&mut source, out)?;
        }
        blocks.iter().try_for_each(|block| block.write(out, request.csv))?;
    } else {
        frame(&mut source, out)?;
        print(&mut source, request, out)?;
    }
    client.close();
    Ok(())
}

/// The management nodes of all routers in the network; none if there is no network, or if the node is too old to say.
fn routers(source: &mut Source<'_>) -> Result<Vec<String>, ClientError> {
    let answer = match source.node.call(source.client, management::client::Request::node("GET-MGMT-NODES")) {
        Err(ClientError::Refused(_)) => Value::Null,
        answer => answer?,
    };
    let addresses = answer.as_sequence().unwrap_or_default().iter().filter_map(Value::as_text);
    Ok(addresses.map(str::to_owned).collect())
}

/// What stands above a report of one router.
fn frame(source: &mut Source<'_>, out: &mut dyn Write) -> Result<(), Ended> {
    let router = source.router()?;
    writeln!(out, "{}\n{}\n", now(), escaped(&cells::plain(&router, "id")))?;
    Ok(())
}

/// What was asked for of one router; of several reports, an empty line follows each.
fn print(source: &mut Source<'_>, request: &Request, out: &mut dyn Write) -> Result<(), Ended> {
    match request.view {
        View::One(report) => report.make(source)?.iter().try_for_each(|block| block.write(out, request.csv))?,
        View::All => {
            for report in Report::ALL {
                report.make(source)?.iter().try_for_each(|block| block.write(out, request.csv))?;
                writeln!(out)?;
            }
        }
    }
    Ok(())
}

/// The time as Python's `datetime` shows it.
fn now() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let micros = now.subsec_micros();
    let fraction = if micros == 0 { String::new() } else { format!(".{micros:06}") };
    format!("{}{fraction} UTC", logging::time_text("%Y-%m-%d %H:%M:%S", now.as_secs(), true))
}
