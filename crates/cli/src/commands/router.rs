//! The options that say which router of a network is asked.

use clap::Args;

use crate::client::{DEFAULT_MANAGEMENT, Url};

/// Which router of the network is asked; the one connected to if none is named.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Router")]
pub(super) struct RouterArguments {
    /// Ask this interior router of the network
    #[arg(short, long, value_name = "ID", conflicts_with = "edge_router")]
    router: Option<String>,

    /// Ask this edge router of the network
    #[arg(short, long, value_name = "ID")]
    edge_router: Option<String>,
}

impl RouterArguments {
    /// The address of its management node.
    pub(super) fn address(&self, url: &Url) -> String {
        match (&self.router, &self.edge_router) {
            (Some(id), _) => format!("_topo/0/{id}/$management"),
            (None, Some(id)) => format!("_edge/{id}/$management"),
            (None, None) => url.path.clone().unwrap_or_else(|| DEFAULT_MANAGEMENT.to_owned()),
        }
    }
}
