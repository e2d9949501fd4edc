//! Connections of the world: how they are made and lost, and how frames pass.

use std::time::Duration;

use crate::frame::Frame;
use crate::wire::{End, Wire};
use crate::world::{ClientNo, Event, RETRY, RouterNo, TrunkNo, World};

/// How long it takes to notice that a socket was closed, at most.
const NOTICE: Duration = Duration::from_millis(20);

impl World {
    pub(crate) fn add_wire(&mut self, ends: [End; 2], latency: Duration, cost: u32) -> u32 {
        self.next_wire += 1;
        self.wires.insert(self.next_wire, Wire::new(ends, latency, cost));
        self.next_wire
    }

    pub(crate) fn connect(&mut self, number: TrunkNo) {
        let trunk = &mut self.trunks[number];
        if trunk.cut || trunk.wire.is_some() {
            return;
        }
        let [from, to] = trunk.ends;
        let (cost, latency) = (trunk.cost, trunk.latency);
        // An attempt that fails is followed by a later one, with some chance in it.
        let wait = trunk.wait;
        trunk.wait = (wait * 2).min(RETRY.1);
        if self.sites[from].router.is_none() || self.sites[to].router.is_none() {
            let wait = self.random.between(wait / 2, wait);
            return self.later(wait, Event::Connect(number));
        }
        self.trunks[number].wait = RETRY.0;
        let wire = self.add_wire([End::Router(from), End::Router(to)], latency, cost);
        self.trunks[number].wire = Some(wire);
        for (side, end) in [(1, to), (0, from)] {
            if let Some(router) = &mut self.sites[end].router {
                router.add_conn(wire, side, true);
            }
        }
        self.collect(from);
    }

    pub(crate) fn join(&mut self, client: ClientNo) {
        let seat = &self.seats[client];
        if seat.gone || seat.wire.is_some() {
            return;
        }
        let at = seat.at;
        if self.sites[at].router.is_none() {
            return self.later(RETRY.0, Event::Join(client));
        }
        let wire = self.add_wire([End::Client(client), End::Router(at)], Duration::from_micros(50), 1);
        self.seats[client].wire = Some(wire);
        if let Some(router) = &mut self.sites[at].router {
            router.add_conn(wire, 1, false);
        }
        self.send_frame(wire, 0, Frame::Open { answer: false, container: "client".to_owned(), shares: false });
    }

    /// Closes a connection: what is on its way is lost, and each end notices after a while.
    pub(crate) fn close(&mut self, number: u32) {
        let Some(wire) = self.wires.get_mut(&number).filter(|wire| wire.open) else { return };
        wire.open = false;
        for end in 0..2 {
            let after = self.random.between(Duration::ZERO, NOTICE);
            self.later(after, Event::Lost { wire: number, end });
        }
    }

    pub(crate) fn lost(&mut self, number: u32, end: usize) {
        let Some(wire) = self.wires.get_mut(&number) else { return };
        wire.noticed[end] = true;
        let (this, both) = (wire.ends[end], wire.noticed == [true; 2]);
        if both {
            self.wires.remove(&number);
        }
        match this {
            End::Router(router) => {
                if let Some(running) = &mut self.sites[router].router {
                    running.lost(self.now, number);
                    self.collect(router);
                }
                if end == 0
                    && let Some(trunk) = self.trunks.iter().position(|trunk| trunk.wire == Some(number))
                {
                    self.trunks[trunk].wire = None;
                    let wait = self.random.between(RETRY.0 / 2, RETRY.0);
                    self.later(wait, Event::Connect(trunk));
                }
            }
            End::Client(client) => {
                let seat = &mut self.seats[client];
                seat.wire = None;
                seat.client.lost(&mut self.ledger);
                self.later(RETRY.0, Event::Join(client));
            }
        }
    }

    pub(crate) fn arrive(&mut self, number: u32, to: usize, frame: Frame) {
        let Some(wire) = self.wires.get(&number).filter(|wire| wire.open) else { return };
        if wire.stalled[1 - to] {
            return;
        }
        match wire.ends[to] {
            End::Router(router) => {
                let cost = wire.cost;
                if let Some(running) = &mut self.sites[router].router {
                    running.frame(self.now, number, cost, frame);
                    self.collect(router);
                }
            }
            End::Client(client) => {
                self.seats[client].client.frame(client, frame, &mut self.ledger);
                self.collect_from_client(client);
            }
        }
    }

    /// Sends what a router has to send, and sees to its timer.
    pub(crate) fn collect(&mut self, router: RouterNo) {
        let Some(running) = &mut self.sites[router].router else { return };
        let mut frames = std::mem::take(&mut running.host.out);
        for (wire, frame) in frames.drain(..) {
            let side = self.wires.get(&wire).and_then(|wire| wire.ends.iter().position(|end| end.is_of(router)));
            let Some(side) = side else { continue };
            if let (Some(bytes), Some(running)) = (frame.control_bytes(), &mut self.sites[router].router) {
                running.control.messages += 1;
                running.control.bytes += bytes as u64;
            }
            self.send_frame(wire, side, frame);
        }
        let site = &mut self.sites[router];
        let Some(running) = &mut site.router else { return };
        running.host.out = frames;
        if let Some(due) = running.next_timeout().map(|due| due.max(self.now))
            && site.timer.is_none_or(|timer| due < timer)
        {
            site.timer = Some(due);
            let life = site.life;
            self.at(due, Event::Timer { router, life });
        }
    }

    pub(crate) fn collect_from_client(&mut self, client: ClientNo) {
        let frames = std::mem::take(&mut self.seats[client].client.out);
        if let Some(wire) = self.seats[client].wire {
            frames.into_iter().for_each(|frame| self.send_frame(wire, 0, frame));
        }
    }

    /// Puts a frame on its way: in order, after the connection's latency.
    pub(crate) fn send_frame(&mut self, number: u32, from: usize, frame: Frame) {
        let Some(wire) = self.wires.get_mut(&number).filter(|wire| wire.open) else { return };
        let when = wire.arrival(self.now);
        self.at(when, Event::Frame { wire: number, to: 1 - from, frame: Box::new(frame) });
    }
}
