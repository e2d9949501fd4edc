//! `qdstat`: shows what a router is doing, with the old tool's command line and tables.

mod address_key;
mod arguments;
mod cells;
mod reports;
mod source;
mod table;

use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use amqp::Value;

use crate::client::{Client, ClientError, Node};
use crate::old_tools::{Ended, connect_options, finish, node_address};
use arguments::Arguments;
use source::Source;

pub use reports::Report;
pub use table::Block;

/// Runs the program with the words of its command line, without its name, and returns its exit status: 0; 1 if a
/// router could not be asked (the reason is on the standard output); 2 if the command line is wrong.
pub fn run(words: &[String], out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    let result = Arguments::parse(words).map_err(Ended::from).and_then(|arguments| show(&arguments, out));
    finish(result, out, err)
}

fn show(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Ended> {
    let options = connect_options(&arguments.parsed)?;
    let mut client = Client::connect(&options)?;
    let node = Node::attach(&mut client, &node_address(&arguments.parsed, &options.url))?;
    let mut source =
        Source { client: &mut client, node, limit: arguments.limit, verbose: arguments.verbose };
    let routers = routers(&mut source)?;
    if arguments.all_routers && !routers.is_empty() {
        writeln!(out, "{}", now())?;
        for address in routers {
            // `amqp:/_topo/0/<id>/$management`
            let address = address.strip_prefix("amqp:/").unwrap_or(&address);
            writeln!(out, "Router  {}\n", address.split('/').nth(2).unwrap_or(address))?;
            source.node = Node::attach(source.client, address)?;
            print(&mut source, arguments, out)?;
            writeln!(out)?;
        }
    } else if arguments.all_entities {
        frame(&mut source, out)?;
        print(&mut source, arguments, out)?;
    } else {
        for report in &arguments.reports {
            let blocks = report.make(&mut source)?;
            if report.is_framed() {
                frame(&mut source, out)?;
            }
            blocks.iter().try_for_each(|block| block.write(out, arguments.csv))?;
        }
    }
    client.close();
    Ok(())
}

/// The management nodes of all routers in the network; none if there is no network, or if the node is too old to say.
fn routers(source: &mut Source<'_>) -> Result<Vec<String>, ClientError> {
    let answer = match source.node.get(source.client, "GET-MGMT-NODES", None) {
        Err(ClientError::Status { .. }) => Value::Null,
        answer => answer?,
    };
    let addresses = answer.as_sequence().unwrap_or_default().iter().filter_map(Value::as_text);
    Ok(addresses.map(str::to_owned).collect())
}

/// What stands above a report of one router.
fn frame(source: &mut Source<'_>, out: &mut dyn Write) -> Result<(), Ended> {
    let router = source.router()?;
    writeln!(out, "{}\n{}\n", now(), cells::plain(&router, "id"))?;
    Ok(())
}

/// All reports of one router; with more than one, an empty line follows each.
fn print(source: &mut Source<'_>, arguments: &Arguments, out: &mut dyn Write) -> Result<(), Ended> {
    for report in &arguments.reports {
        let blocks = report.make(source)?;
        blocks.iter().try_for_each(|block| block.write(out, arguments.csv))?;
        if arguments.all_entities {
            writeln!(out)?;
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

/// Writes blocks one after another, as `waystation stat` shows them.
///
/// # Errors
/// If the output does not take them.
pub fn write_blocks(blocks: &[Block], out: &mut dyn Write, csv: bool) -> io::Result<()> {
    blocks.iter().try_for_each(|block| block.write(out, csv))
}
