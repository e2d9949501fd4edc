//! Links for one large message at a time, so that it does not hold up the small ones behind it.
//!
//! Where a neighbour takes them, a message that is passed on before it is complete goes over such a link. When it is
//! through, the link waits for the next one; what waits in great number is detached little by little.

use crate::arena::{NONE, index_of};
use crate::core::Core;
use crate::link::Stream;
use crate::{Host, Level, LinkClass, LinkType, Mode, Module};

/// Priority shown for these links: that of ordinary messages.
const STREAM_PRIORITY: u8 = 4;
/// How many links of a connection may wait.
const MAX_IDLE: usize = 128;

impl<H: Host> Core<H> {
    /// A link for one large message to the neighbour on this connection: one that waits, or a new one.
    pub(crate) fn stream_link(&mut self, host: &mut H, conn: u32) -> u32 {
        while let Some(key) = self.connections[conn].neighbor.as_mut().and_then(|neighbor| neighbor.idle_streams.pop())
        {
            if let Some(link) = self.links.get_mut(key) {
                link.stream = Stream::Busy;
                return index_of(key);
            }
        }
        let class = LinkClass::Streaming;
        let link = self.open_router_link(host, conn, false, LinkType::InterRouter, class, STREAM_PRIORITY);
        self.links[link].stream = Stream::Busy;
        link
    }

    /// If a link for large messages has nothing to do, it waits for the next one.
    pub(crate) fn return_stream(&mut self, index: u32) {
        let link = &mut self.links[index];
        if link.stream != Stream::Busy || link.queue_head != NONE || link.busy != NONE {
            return;
        }
        link.stream = Stream::Idle;
        let conn = link.conn;
        let key = self.links.key_at(index);
        if let Some(neighbor) = &mut self.connections[conn].neighbor {
            neighbor.idle_streams.push(key);
        }
    }

    /// How many links of a connection are detached at once.
    fn detached_at_once(&self) -> usize {
        if self.settings.test_hooks { 2 } else { 10 }
    }

    /// Detaches some of the links that wait, where there are too many.
    pub(crate) fn scrub_streams(&mut self, host: &mut H) {
        for at in 0..self.neighbors.len() {
            let conn = self.neighbors[at];
            if conn == NONE {
                continue;
            }
            for _ in 0..self.detached_at_once() {
                let Some(neighbor) = &mut self.connections[conn].neighbor else { break };
                if neighbor.idle_streams.len() <= MAX_IDLE {
                    break;
                }
                // The one that has waited longest.
                let key = neighbor.idle_streams.remove(0);
                if let Some(link) = self.links.get(key) {
                    let detached = link.host;
                    self.remove_link(host, index_of(key), "Link detached");
                    host.detach(detached, true, None);
                }
            }
        }
    }

    /// Logs how the links that wait are looked after.
    pub(crate) fn log_scrubber(&self, host: &mut H) {
        if self.settings.mode != Mode::Standalone {
            let interval = self.scan_interval().as_secs();
            host.log(
                Module::RouterCore,
                Level::Info,
                format_args!(
                    "Streaming link scrubber: Scan interval: {interval} seconds, max free pool: {MAX_IDLE} links"
                ),
            );
        }
    }
}
