//! `waystation stat`.

use std::io::Write;

use clap::{Args, ValueEnum};

use super::router::RouterArguments;
use super::{ConnectArguments, Failure};
use crate::network::{self, Form};
use crate::qdstat::{Report, Request, View, show};

/// What to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// The router as a whole
    General,
    /// Connections
    Connections,
    /// Links
    Links,
    /// Addresses
    Addresses,
    /// Routers of the network
    Nodes,
    /// Connections with edge routers
    Edge,
    /// Auto links
    AutoLinks,
    /// Link routes
    LinkRoutes,
    /// Pools of memory
    Memory,
    /// Policy settings and counters
    Policy,
    /// Policies of virtual hosts
    Vhosts,
    /// User groups of these
    VhostGroups,
    /// Counters of these
    VhostStats,
    /// Certificates, and how many days they are still valid
    Certificates,
    /// The newest lines of the log
    Log,
    /// Everything that makes sense for one router
    All,
}

impl What {
    fn view(self) -> View {
        View::One(match self {
            What::General => Report::General,
            What::Connections => Report::Connections,
            What::Links => Report::Links,
            What::Addresses => Report::Addresses,
            What::Nodes => Report::Nodes,
            What::Edge => Report::Edge,
            What::AutoLinks => Report::AutoLinks,
            What::LinkRoutes => Report::LinkRoutes,
            What::Memory => Report::Memory,
            What::Policy => Report::Policy,
            What::Vhosts => Report::Vhosts,
            What::VhostGroups => Report::VhostGroups,
            What::VhostStats => Report::VhostStats,
            What::Certificates => Report::Certificates,
            What::Log => Report::Log,
            What::All => return View::All,
        })
    }
}

/// Show what a router is doing: its counters, connections, links and addresses
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  waystation stat
  waystation stat links --url broker.example --csv > links.csv
  waystation stat connections --all-routers
  waystation stat certificates
  waystation stat --network
  waystation stat --network --svg > network.svg")]
pub(super) struct StatArguments {
    /// What to show
    #[arg(value_enum, default_value_t = What::General)]
    what: What,

    /// More columns (links, nodes, addresses)
    #[arg(short, long)]
    verbose: bool,

    /// At most so many rows of each table; 0: all
    #[arg(long, value_name = "N", default_value_t = 0)]
    limit: usize,

    /// Comma-separated values instead of aligned columns
    #[arg(long)]
    csv: bool,

    /// Of every router of the network
    #[arg(long, conflicts_with_all = ["router", "edge_router"])]
    all_routers: bool,

    /// The whole network in one picture: every router, what connects them and what it costs, and all paths
    #[arg(long, conflicts_with_all = ["what", "all_routers", "csv", "verbose", "limit"])]
    network: bool,

    /// With --network: for Graphviz
    #[arg(long, requires = "network")]
    dot: bool,

    /// With --network: for browsers
    #[arg(long, requires = "network", conflicts_with = "dot")]
    svg: bool,

    #[command(flatten)]
    router: RouterArguments,

    #[command(flatten)]
    connect: ConnectArguments,
}

pub(super) fn run(arguments: &StatArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let StatArguments { what, verbose, limit, csv, all_routers, .. } = *arguments;
    let options = arguments.connect.options()?;
    let address = arguments.router.address(&options.url);
    if arguments.network {
        let form = match (arguments.dot, arguments.svg) {
            (true, _) => Form::Dot,
            (false, true) => Form::Svg,
            (false, false) => Form::Text,
        };
        return Ok(network::show(form, &options, &address, out)?);
    }
    let request = Request { view: what.view(), all_routers, limit, csv, verbose };
    Ok(show(&request, &options, &address, out)?)
}
