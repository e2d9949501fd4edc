//! The router's end of all links: what an endpoint would know of them, and the frames it would send.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use amqp::terminus::{Source, TargetTerminus};
use amqp::{DeliveryState, ErrorCondition};
use router_core::*;

/// Number of a link, the same at both ends. 0 stands in for one that is not attached yet.
pub(crate) type L = u32;

/// A frame, or what matters of it. Both ends send the same kinds.
#[derive(Clone, Debug)]
pub(crate) enum Frame {
    /// By the one that begins the link. `sends`: that one sends on it.
    Attach {
        link: L,
        address: String,
        sends: bool,
    },
    /// The other one's attach.
    Answer {
        link: L,
        refused: bool,
    },
    Detach {
        link: L,
    },
    /// The receiver's: deliveries up to this count may be begun.
    Credit {
        link: L,
        upto: u64,
        drain: bool,
    },
    /// The sender's: it counts so many, for it gives credit back.
    Count {
        link: L,
        count: u64,
    },
    Transfer {
        link: L,
        delivery: u64,
        message: u64,
        settled: bool,
    },
    /// The receiver's outcome.
    Outcome {
        link: L,
        delivery: u64,
        state: Option<DeliveryState>,
        settled: bool,
    },
}

/// One end of a link.
#[derive(Clone, Debug, Default)]
pub(crate) struct End {
    pub(crate) sends: bool,
    pub(crate) attached: bool,
    pub(crate) peer_attached: bool,
    pub(crate) detached: bool,
    pub(crate) peer_detached: bool,
    /// Deliveries that the sender has begun, as far as this end knows.
    pub(crate) count: u64,
    /// Deliveries that may be begun altogether.
    pub(crate) upto: u64,
    /// Receiver: it has asked for a drain. Sender: it is asked for one.
    pub(crate) drain: bool,
    /// Receiver: its credit is to be told once both ends are attached.
    pub(crate) untold: bool,
}

impl End {
    pub(crate) fn credit(&self) -> u32 {
        (self.upto - self.count.min(self.upto)) as u32
    }

    pub(crate) fn is_up(&self) -> bool {
        self.attached && self.peer_attached && !self.detached && !self.peer_detached
    }

    /// The receiver's flow, if it can be sent now.
    pub(crate) fn flow(&mut self, link: L) -> Option<Frame> {
        self.untold = !self.is_up();
        self.is_up().then_some(Frame::Credit { link, upto: self.upto, drain: self.drain })
    }
}

/// The router's end of a link.
#[derive(Debug)]
pub(crate) struct RouterLink {
    pub(crate) conn: usize,
    pub(crate) key: LinkKey,
    pub(crate) end: End,
}

#[derive(Default)]
pub(crate) struct BooksHost {
    pub(crate) links: BTreeMap<L, RouterLink>,
    /// Frames on their way to peers, by connection.
    pub(crate) frames: BTreeMap<usize, VecDeque<Frame>>,
    /// Links that the core wants.
    pub(crate) openings: VecDeque<(usize, LinkKey, OpenLink)>,
    pub(crate) offered: u64,
    pub(crate) log: Vec<String>,
}

impl BooksHost {
    pub(crate) fn send(&mut self, conn: usize, frame: Frame) {
        self.frames.entry(conn).or_default().push_back(frame);
    }

    /// Lets a receiving end's flow go out, if it may.
    pub(crate) fn tell_credit(&mut self, link: L) {
        if let Some(there) = self.links.get_mut(&link)
            && let Some(frame) = there.end.flow(link)
        {
            let conn = there.conn;
            self.send(conn, frame);
        }
    }
}

impl Host for BooksHost {
    type Conn = usize;
    type Link = L;
    type Content = Arc<u64>;

    fn attach_answer(&mut self, link: L, source: Option<Source>, target: Option<TargetTerminus>) {
        let Some(there) = self.links.get_mut(&link) else { return };
        there.end.attached = true;
        let refused = if there.end.sends { source.is_none() } else { target.is_none() };
        let conn = there.conn;
        self.send(conn, Frame::Answer { link, refused });
        if self.links[&link].end.untold {
            self.tell_credit(link);
        }
    }
    fn open_link(&mut self, conn: usize, key: LinkKey, open: OpenLink) -> L {
        self.openings.push_back((conn, key, open));
        0
    }
    fn detach(&mut self, link: L, _closed: bool, _error: Option<ErrorCondition>) {
        let Some(there) = self.links.get_mut(&link).filter(|there| !there.end.detached) else { return };
        there.end.detached = true;
        let (conn, gone) = (there.conn, there.end.peer_detached);
        if gone {
            self.links.remove(&link);
        }
        self.send(conn, Frame::Detach { link });
    }
    fn add_credit(&mut self, link: L, credit: u32) {
        let Some(there) = self.links.get_mut(&link) else { return };
        assert!(!there.end.sends && credit > 0);
        there.end.upto += u64::from(credit);
        self.tell_credit(link);
    }
    fn drain(&mut self, link: L, drain: bool) {
        let Some(there) = self.links.get_mut(&link) else { return };
        assert!(!there.end.sends, "asked a receiver to drain");
        there.end.drain = drain;
        self.tell_credit(link);
    }
    fn drained(&mut self, link: L) {
        let Some(there) = self.links.get_mut(&link) else { return };
        assert!(there.end.sends, "gave credit back to a sender");
        there.end.count = there.end.upto;
        there.end.drain = false;
        let (conn, count) = (there.conn, there.end.count);
        self.send(conn, Frame::Count { link, count });
    }
    fn retain(&mut self) -> Arc<u64> {
        Arc::new(self.offered)
    }
    fn transmit(&mut self, link: L, key: OutKey, content: Option<&Arc<u64>>, how: &Transmit<'_>) -> Transmitted {
        let message = content.map_or(self.offered, |content| **content);
        // The connection may be lost already, which the core is being told.
        let Some(there) = self.links.get_mut(&link) else { return Transmitted::Complete };
        assert!(there.end.sends && there.end.is_up(), "sent on a link that is not up: {link} {:?}", there.end);
        assert!(there.end.credit() > 0, "sent without credit");
        there.end.count += 1;
        let conn = there.conn;
        self.send(conn, Frame::Transfer { link, delivery: key.0, message, settled: how.settled });
        Transmitted::Complete
    }
    fn abort(&mut self, _: L, _: OutKey) {
        unreachable!("all messages are complete");
    }
    fn update_incoming(&mut self, link: L, delivery: u32, state: Option<DeliveryState>, settled: bool) {
        let Some(conn) = self.links.get(&link).map(|there| there.conn) else { return };
        self.send(conn, Frame::Outcome { link, delivery: delivery.into(), state, settled });
    }
    fn update_outgoing(&mut self, _: L, _: OutKey, _: Option<DeliveryState>, _: bool) {}
    fn to_subscriber(
        &mut self,
        _: SubscriberId,
        _: Option<&Arc<u64>>,
        _: &SubscriberDelivery,
    ) -> Result<(), ErrorCondition> {
        unreachable!("nobody subscribes")
    }
    fn network(&mut self, _: NetworkEvent<'_>) {}
    fn log_enabled(&self, _: Module, _: Level) -> bool {
        true
    }
    fn log(&mut self, _: Module, _: Level, text: fmt::Arguments<'_>) {
        self.log.push(text.to_string());
    }
}
