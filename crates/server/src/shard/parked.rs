//! Attaches that wait: an edge router asks the interior what an address is before it goes on with a client's link,
//! because the interior may have a link route for it.

use std::sync::atomic::Ordering;

use amqp::ErrorCondition;
use amqp::terminus::{Source, TargetTerminus};
use amqp_endpoint::LinkId;
use router_core::{AttachInfo, ConnKey, Core, Host};

use super::event::{LookUp, ShardEvent};
use super::host::ShardHost;
use super::place::LinkRef;

/// What becomes of an attach that has waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is gone on with, as if there were no interior.
    Local,
    /// It is passed on over this connection to the interior.
    Route(ConnKey),
    /// It is refused: nobody is there who could take it.
    NoRoute,
}

/// An attach that waits. What the peer does meanwhile on the link is kept by the endpoint: its credit, its detach.
pub(super) struct Parked {
    token: u64,
    attach: AttachInfo,
}

impl ShardHost {
    /// Has an attach wait, if the interior is to be asked about its address. False: it is not.
    pub(super) fn park(&mut self, core: &Core<Self>, at: LinkRef, key: ConnKey, attach: &AttachInfo) -> bool {
        if !self.shared.asks_interior.load(Ordering::Relaxed) {
            return false;
        }
        let Some(address) = core.to_look_up(key, attach) else { return false };
        let token = self.shared.look_ups.fetch_add(1, Ordering::Relaxed);
        let Some(conn) = self.conn(at.conn) else { return false };
        conn.link_mut(LinkId(at.link)).parked = Some(Box::new(Parked { token, attach: attach.clone() }));
        let client_sends = attach.incoming;
        self.shared.tell(ShardEvent::LookUp(LookUp { token, link: at, address, client_sends }));
        true
    }

    /// An attach has waited long enough. One that is not there any more was detached, or its connection is gone.
    pub(super) fn looked_up(&mut self, core: &mut Core<Self>, at: LinkRef, token: u64, verdict: Verdict) {
        let Some(conn) = self.conn(at.conn) else { return };
        let Some(key) = conn.key else { return };
        let link = conn.link_mut(LinkId(at.link));
        let Some(parked) = link.parked.take_if(|parked| parked.token == token) else { return };
        match verdict {
            Verdict::Local => {
                self.go_on_attaching(core, at, key, parked.attach);
                // The core has not heard of what the peer has granted since.
                self.report_credit(core, at.conn.slot, LinkId(at.link));
            }
            Verdict::Route(uplink) => {
                self.attaching = self.origin_of(at);
                let link_key = core.attach_up(self.now, self, key, at, parked.attach, uplink);
                self.attaching = None;
                if let Some(conn) = self.conn(at.conn) {
                    conn.endpoint.set_link_context(LinkId(at.link), link_key.0);
                }
                self.report_credit(core, at.conn.slot, LinkId(at.link));
            }
            Verdict::NoRoute => {
                let error = ErrorCondition::new("qd:no-route-to-dest", "No route to the destination node");
                let (source, target) = refusal(parked.attach);
                Host::attach_answer(self, at, source, target);
                Host::detach(self, at, true, Some(error));
            }
        }
    }

    /// The peer has detached a link: if its attach is waiting, it is answered.
    pub(super) fn detached_while_parked(&mut self, slot: u32, link: LinkId, closed: bool) -> bool {
        let Some(conn) = self.conns.get_mut(slot as usize) else { return false };
        let at = conn.link_ref(link);
        let parked = conn.link_mut(link).parked.take().is_some();
        if parked {
            Host::detach(self, at, closed, None);
        }
        parked
    }
}

/// The termini of an answer that refuses an attach: the local one is null.
fn refusal(attach: AttachInfo) -> (Option<Source>, Option<TargetTerminus>) {
    match attach.incoming {
        true => (attach.source, None),
        false => (None, attach.target),
    }
}
