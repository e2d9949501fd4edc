//! Links for one large message at a time, so that it does not hold up the small ones behind it.
//!
//! All that a sender sends after its first large message goes over the same such link, so that its messages keep their
//! order: on each further hop they come in on one link, and go out on one. Only what comes from many senders on one link,
//! such as a data link between routers, is not kept together.
//!
//! Where a neighbour takes them, a message that is passed on before it is complete goes over such a link. When it is
//! through, the link waits for the next one; what waits in great number is detached little by little.

use smallvec::SmallVec;

use crate::arena::{NONE, index_of};
use crate::core::Core;
use crate::link::{Link, Stream};
use crate::{Host, Level, LinkClass, LinkType, Mode, Module, Role};

/// Priority shown for these links: that of ordinary messages.
const STREAM_PRIORITY: u8 = 4;
/// How many links of a connection may wait.
const MAX_IDLE: usize = 128;
/// The same with test hooks.
const MAX_IDLE_WITH_HOOKS: usize = 2;
/// How many links of a connection are detached at once.
const DETACHED_AT_ONCE: usize = 10;

/// Keys of the outgoing links that are kept for what comes in on one link: one for each neighbour that it goes to.
#[derive(Debug, Default)]
pub(crate) struct KeptStreams(SmallVec<[u64; 2]>);

impl<H: Host> Core<H> {
    /// A link for one large message to the neighbour on this connection: one that waits, or a new one.
    pub(crate) fn stream_link(&mut self, host: &mut H, conn: u32) -> u32 {
        while let Some(key) = self.connections[conn].idle_streams.pop() {
            if let Some(link) = self.links.get_mut(key) {
                link.stream = Stream::Busy;
                return index_of(key);
            }
        }
        let class = LinkClass::Streaming;
        // Between an edge router and the interior they are links without an address like any others.
        let link_type =
            if self.connections[conn].info.role == Role::Edge { LinkType::Endpoint } else { LinkType::InterRouter };
        let link = self.open_router_link(host, conn, false, link_type, class, STREAM_PRIORITY);
        self.links[link].stream = Stream::Busy;
        link
    }

    /// The same for what came in on this link; if only one sender's messages come in on it, it keeps the link.
    pub(crate) fn stream_link_for(&mut self, host: &mut H, conn: u32, sender: u64) -> u32 {
        let index = self.stream_link(host, conn);
        let key = self.links.key_at(index);
        let Some(sender) = self.links.get_mut(sender) else { return index };
        let only_one = sender.stream == Stream::Incoming
            || sender.link_type == LinkType::Endpoint && sender.addr != NONE && !sender.own;
        if only_one {
            sender.kept_streams.get_or_insert_default().0.push(key);
            self.links[index].stream = Stream::Kept;
        }
        index
    }

    /// The link to a neighbour that is kept for what comes in on a link.
    pub(crate) fn kept_stream(&self, sender: u64, conn: u32) -> Option<u32> {
        let kept = self.links.get(sender)?.kept_streams.as_ref()?;
        let there = |key: &&u64| self.links.get(**key).is_some_and(|link| link.conn == conn);
        kept.0.iter().find(there).map(|key| index_of(*key))
    }

    /// Keeps links no longer for what comes in on this link, those of which this is true.
    pub(crate) fn release_streams(&mut self, sender: u32, which: impl Fn(&Link<H>) -> bool) {
        let Some(mut kept) = self.links[sender].kept_streams.take() else { return };
        kept.0.retain(|key| {
            let Some(link) = self.links.get_mut(*key) else { return false };
            let released = which(link);
            if released {
                link.stream = Stream::Busy;
                self.return_stream(index_of(*key));
            }
            !released
        });
        self.links[sender].kept_streams = Some(kept).filter(|kept| !kept.0.is_empty());
    }

    /// Keeps no links for senders that have nothing on its way over them.
    pub(crate) fn release_idle_streams(&mut self) {
        let with = self.links.iter().filter(|(_, link)| link.kept_streams.is_some());
        let senders: Vec<_> = with.map(|(key, _)| index_of(key)).collect();
        for sender in senders {
            self.release_streams(sender, |link| link.load() == 0 && link.busy == NONE);
        }
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
        self.connections[conn].idle_streams.push(key);
    }

    /// How many links of a connection may wait.
    fn most_idle(&self) -> usize {
        if self.settings.test_hooks { MAX_IDLE_WITH_HOOKS } else { MAX_IDLE }
    }

    /// Detaches some of the links that wait, where there are too many.
    pub(crate) fn scrub_streams(&mut self, host: &mut H) {
        let most = self.most_idle();
        let many = self.connections.iter().filter(|(_, connection)| connection.idle_streams.len() > most);
        let conns: Vec<_> = many.map(|(key, _)| index_of(key)).collect();
        for conn in conns {
            for _ in 0..DETACHED_AT_ONCE {
                let idle = &mut self.connections[conn].idle_streams;
                if idle.len() <= most {
                    break;
                }
                // The one that has waited longest.
                let key = idle.remove(0);
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
            let most = self.most_idle();
            host.log(
                Module::RouterCore,
                Level::Info,
                format_args!("Streaming link scrubber: Scan interval: {interval} seconds, max free pool: {most} links"),
            );
        }
    }
}
