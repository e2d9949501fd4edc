//! The reports, one file for each kind of thing they are about. Each makes its blocks from the entities that a router
//! told of; attributes that an older router does not have leave their cells empty.

mod addresses;
mod certificates;
mod connections;
mod general;
mod links;
mod log;
mod memory;
mod nodes;
mod policy;
mod routes;
mod vhost_groups;
mod vhosts;

use super::source::Source;
use super::table::{Block, Table};
use crate::client::ClientError;

/// What can be reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// The router as a whole.
    General,
    /// Connections.
    Connections,
    /// Links.
    Links,
    /// Routers of the network.
    Nodes,
    /// Connections of edge routers.
    Edge,
    /// Addresses.
    Addresses,
    /// Pools of memory.
    Memory,
    /// Policy.
    Policy,
    /// Auto links.
    AutoLinks,
    /// Link routes.
    LinkRoutes,
    /// Policies of virtual hosts.
    Vhosts,
    /// Their user groups.
    VhostGroups,
    /// Their statistics.
    VhostStats,
    /// Certificates. (The old tool has no such report.)
    Certificates,
    /// The newest lines of the log.
    Log,
}

impl Report {
    /// What `--all-entities` reports, in its order.
    pub const ALL: [Report; 10] = [
        Report::Links,
        Report::Addresses,
        Report::Connections,
        Report::AutoLinks,
        Report::LinkRoutes,
        Report::General,
        Report::Memory,
        Report::Policy,
        Report::Vhosts,
        Report::VhostStats,
    ];

    /// Whether the time and the router's id stand above it. (The old tool leaves them out above these.)
    pub fn is_framed(self) -> bool {
        !matches!(self, Self::Vhosts | Self::VhostGroups | Self::VhostStats | Self::Log)
    }

    /// Asks a router and makes the report.
    ///
    /// # Errors
    /// If the router does not answer, or refuses.
    pub fn make(self, source: &mut Source<'_>) -> Result<Vec<Block>, ClientError> {
        let verbose = source.verbose;
        Ok(match self {
            Self::General => general::blocks(&source.router()?),
            Self::Connections => connections::blocks(&source.entities("connection")?),
            Self::Edge => connections::edge_blocks(&source.entities("connection")?),
            Self::Links => links::blocks(&source.entities("router.link")?, verbose),
            Self::Nodes => nodes::blocks(&source.entities("router.node")?, verbose),
            Self::Addresses => addresses::blocks(&source.entities("router.address")?, verbose),
            Self::Memory => {
                let pools = source.all_entities("allocator")?;
                memory::blocks(&pools, &source.router()?, source.limit)
            }
            Self::Policy => policy::blocks(source.entities("policy")?.first()),
            Self::AutoLinks => routes::auto_link_blocks(&source.entities("router.config.autoLink")?),
            Self::LinkRoutes => routes::link_route_blocks(&source.entities("router.config.linkRoute")?),
            Self::Vhosts => vhosts::blocks(source.rows("vhost")?),
            Self::VhostGroups => vhost_groups::blocks(&source.entities("vhost")?),
            Self::VhostStats => vhosts::stats_blocks(&source.entities("vhostStats")?),
            Self::Certificates => certificates::blocks(&source.all_entities("certificate")?),
            Self::Log => log::blocks(&source.log()?),
        })
    }
}

/// A report of one table.
fn table(title: &str, headers: Vec<&'static str>, rows: Vec<Vec<String>>) -> Vec<Block> {
    vec![Block::Table(Table { title: title.to_owned(), headers, rows })]
}
