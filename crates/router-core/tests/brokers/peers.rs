//! What is at the other ends: clients, and a broker with queues.

use std::collections::{BTreeMap, VecDeque};

use amqp::DeliveryState;

use crate::host::{End, Frame, L};

/// Credit that the broker gives, and keeps up.
const BROKER_CREDIT: u64 = 3;

/// A peer's end of a link.
#[derive(Debug)]
pub(crate) struct PeerLink {
    pub(crate) address: String,
    pub(crate) end: End,
    /// A client that sends: how many messages it still has.
    pub(crate) supply: u32,
    /// What is not settled: delivery and message.
    pub(crate) open: BTreeMap<u64, u64>,
    /// The other end has refused it.
    pub(crate) refused: bool,
}

/// A client, or the broker.
#[derive(Default)]
pub(crate) struct Peer {
    pub(crate) is_broker: bool,
    pub(crate) links: BTreeMap<L, PeerLink>,
    /// Frames on their way to the router.
    pub(crate) frames: VecDeque<Frame>,
}

/// What all of the broker's lives have in common.
#[derive(Default)]
pub(crate) struct Queues {
    pub(crate) messages: BTreeMap<String, VecDeque<u64>>,
    next_delivery: u64,
}

impl Queues {
    fn of(&mut self, address: &str) -> &mut VecDeque<u64> {
        self.messages.entry(address.to_owned()).or_default()
    }
}

impl Peer {
    /// A client attaches.
    pub(crate) fn attach(&mut self, link: L, address: &str, sends: bool, supply: u32) {
        let end = End { sends, attached: true, ..End::default() };
        let (address, open) = (address.to_owned(), BTreeMap::new());
        self.frames.push_back(Frame::Attach { link, address: address.clone(), sends });
        self.links.insert(link, PeerLink { address, end, supply, open, refused: false });
    }

    /// Gives credit for more, or asks for what there is and no more.
    pub(crate) fn give_credit(&mut self, link: L, credit: u64, drain: bool) {
        let Some(there) = self.links.get_mut(&link).filter(|there| !there.end.sends && !there.end.detached) else {
            return;
        };
        // A receiver may give credit as soon as it has attached.
        there.end.upto += credit;
        there.end.drain = drain && there.end.credit() > 0;
        let frame = Frame::Credit { link, upto: there.end.upto, drain: there.end.drain };
        self.frames.push_back(frame);
    }

    pub(crate) fn detach(&mut self, link: L) {
        let Some(there) = self.links.get_mut(&link).filter(|there| !there.end.detached) else { return };
        there.end.detached = true;
        self.frames.push_back(Frame::Detach { link });
        if self.links[&link].end.peer_detached {
            self.links.remove(&link);
        }
    }

    /// Sends one message, if there is credit and something to send.
    pub(crate) fn send(&mut self, link: L, queues: &mut Queues) -> bool {
        let is_broker = self.is_broker;
        let Some(there) = self.links.get_mut(&link).filter(|there| there.end.sends && there.end.is_up()) else {
            return false;
        };
        if there.end.credit() == 0 {
            return false;
        }
        let message = match is_broker {
            true => match queues.of(&there.address).pop_front() {
                Some(message) => message,
                None => return self.give_back(link),
            },
            false if there.supply == 0 => return self.give_back(link),
            false => {
                there.supply -= 1;
                queues.next_delivery
            }
        };
        let delivery = queues.next_delivery;
        queues.next_delivery += 1;
        there.end.count += 1;
        there.open.insert(delivery, message);
        self.frames.push_back(Frame::Transfer { link, delivery, message, settled: false });
        true
    }

    /// A sender that is asked to drain and has nothing gives its credit back.
    fn give_back(&mut self, link: L) -> bool {
        let Some(there) = self.links.get_mut(&link).filter(|there| there.end.drain) else { return false };
        there.end.drain = false;
        there.end.count = there.end.upto;
        self.frames.push_back(Frame::Count { link, count: there.end.count });
        true
    }

    /// Settles the oldest message that is not settled.
    pub(crate) fn settle(&mut self, link: L, accept: bool, queues: &mut Queues) -> bool {
        let is_broker = self.is_broker;
        let Some(there) = self.links.get_mut(&link).filter(|there| !there.end.sends && there.end.is_up()) else {
            return false;
        };
        let Some((delivery, message)) = there.open.pop_first() else { return false };
        let state = Some(if accept { DeliveryState::Accepted } else { DeliveryState::Released });
        self.frames.push_back(Frame::Outcome { link, delivery, state, settled: true });
        if is_broker && accept {
            queues.of(&there.address).push_back(message);
        }
        true
    }

    /// A frame has come.
    pub(crate) fn receive(&mut self, frame: Frame, refuse: bool, queues: &mut Queues) {
        match frame {
            Frame::Attach { link, address, sends } => self.attached(link, address, !sends, refuse),
            Frame::Answer { link, refused } => {
                if let Some(there) = self.links.get_mut(&link) {
                    there.end.peer_attached = true;
                    there.refused = refused;
                }
            }
            Frame::Detach { link } => self.detached(link, queues),
            Frame::Credit { link, upto, drain } => {
                if let Some(there) = self.links.get_mut(&link) {
                    assert!(there.end.sends);
                    (there.end.upto, there.end.drain) = (upto.max(there.end.count), drain);
                    if there.end.drain && there.end.credit() == 0 {
                        there.end.drain = false;
                    }
                }
            }
            Frame::Count { link, count } => {
                if let Some(there) = self.links.get_mut(&link) {
                    assert!(count <= there.end.upto, "more credit came back than was given");
                    there.end.count = count;
                    there.end.drain &= there.end.credit() > 0;
                }
            }
            Frame::Transfer { link, delivery, message, settled } => {
                if let Some(there) = self.links.get_mut(&link) {
                    there.end.count += 1;
                    assert!(there.end.count <= there.end.upto, "the router sent more than there was credit for");
                    there.end.drain &= there.end.credit() > 0;
                    assert!(!settled);
                    if !there.end.detached {
                        there.open.insert(delivery, message);
                    }
                    if self.is_broker {
                        self.keep_credit_up(link);
                    }
                }
            }
            Frame::Outcome { link, delivery, state, settled } => {
                // A client does not send again what it could not get rid of.
                let is_broker = self.is_broker;
                if let Some(there) = self.links.get_mut(&link).filter(|_| settled)
                    && let Some(message) = there.open.remove(&delivery)
                    && state != Some(DeliveryState::Accepted)
                    && is_broker
                {
                    queues.of(&there.address).push_back(message);
                }
            }
        }
    }

    /// The router attaches a link at the broker.
    fn attached(&mut self, link: L, address: String, sends: bool, refuse: bool) {
        let end = End { sends, attached: true, peer_attached: true, ..End::default() };
        let there = PeerLink { address, end, supply: 0, open: BTreeMap::new(), refused: refuse };
        self.links.insert(link, there);
        self.frames.push_back(Frame::Answer { link, refused: refuse });
        if refuse {
            return self.detach(link);
        }
        if !sends {
            self.keep_credit_up(link);
        }
    }

    fn keep_credit_up(&mut self, link: L) {
        let Some(missing) = self.links.get(&link).map(|there| BROKER_CREDIT - u64::from(there.end.credit())) else {
            return;
        };
        self.give_credit(link, missing, false);
    }

    fn detached(&mut self, link: L, queues: &mut Queues) {
        let Some(there) = self.links.get_mut(&link) else { return };
        there.end.peer_detached = true;
        if there.end.sends {
            let lost = std::mem::take(&mut there.open);
            if self.is_broker {
                queues.of(&there.address).extend(lost.values());
            }
        }
        if there.end.detached {
            self.links.remove(&link);
        } else {
            self.detach(link);
        }
    }

    /// The broker is gone: what was under way from its queues is in them again.
    pub(crate) fn crash(&mut self, queues: &mut Queues) {
        for link in self.links.values_mut().filter(|link| link.end.sends) {
            queues.of(&link.address).extend(std::mem::take(&mut link.open).values());
        }
    }
}
