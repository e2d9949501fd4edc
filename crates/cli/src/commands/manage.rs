//! `waystation manage`.

use std::io::Write;

use clap::Args;

use super::router::RouterArguments;
use super::{ConnectArguments, Failure};
use crate::qdmanage::{Request, perform};

/// Show and change the entities of a router: listeners, addresses, connections and all others
///
/// OPERATION is one of query, create, read, update, delete, get-types, get-attributes, get-operations, get-annotations,
/// get-mgmt-nodes, get-log, get-schema, or any other that an entity has. What comes back is printed as JSON.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  waystation manage query --type connection host container user
  waystation manage create --type address prefix=news distribution=multicast
  waystation manage update --type log --name log/DEFAULT enable=debug+
  waystation manage delete --type listener --name internal
  waystation manage get-attributes listener")]
pub(super) struct ManageArguments {
    /// What to do
    #[arg(value_name = "OPERATION")]
    operation: String,

    /// Attributes: names for query, NAME=VALUE for create and update (NAME alone unsets one); a type for get-...
    #[arg(value_name = "ATTRIBUTE")]
    words: Vec<String>,

    /// Type of the entities: listener, address, linkRoute, autoLink, connection, link, node, log, ...
    #[arg(long = "type", value_name = "TYPE")]
    entity_type: Option<String>,

    /// The entity's name
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// The entity's identity
    #[arg(long, value_name = "ID")]
    identity: Option<String>,

    /// Read attributes from the standard input: a JSON map, or a list of maps for several entities
    #[arg(long)]
    stdin: bool,

    /// The request's body, JSON or plain text (operations that are not standard ones)
    #[arg(long, value_name = "JSON")]
    body: Option<String>,

    /// A JSON map of further properties of the request (operations that are not standard ones)
    #[arg(long, value_name = "JSON")]
    properties: Option<String>,

    /// Delete a queue or topic even if it has messages, which are lost, or consumers, which are detached
    #[arg(long)]
    force: bool,

    /// Print JSON on one line
    #[arg(long)]
    compact: bool,

    #[command(flatten)]
    router: RouterArguments,

    #[command(flatten)]
    connect: ConnectArguments,
}

pub(super) fn run(arguments: ManageArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let options = arguments.connect.options()?;
    let address = arguments.router.address(&options.url);
    let request = Request {
        operation: arguments.operation,
        conditions: Vec::new(),
        words: arguments.words,
        entity_type: arguments.entity_type,
        name: arguments.name,
        identity: arguments.identity,
        stdin: arguments.stdin,
        body: arguments.body,
        properties: arguments.properties,
        force: arguments.force,
        indent: (!arguments.compact).then_some(2),
    };
    let most = request.most_words();
    if request.words.len() > most {
        let surplus = request.words[most..].join(" ");
        return Err(Failure::Told(format!("{} takes no further words: {surplus}", request.operation)));
    }
    Ok(perform(&request, &options, &address, out)?)
}
