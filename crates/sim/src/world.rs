//! The world: routers, clients and connections, virtual time, and what is going to happen.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::time::Duration;

use router_core::{Level, Now};

use crate::client::{Client, Does, Outgoing};
use crate::frame::Frame;
use crate::ledger::Ledger;
use crate::random::Random;
use crate::router::{ControlTraffic, Router};
use crate::wire::Wire;

/// A peer that is silent for so long is given up (the idle time-out of connections between routers, and a little).
const SILENCE: Duration = Duration::from_secs(16);
/// Waits between attempts to connect: the first, and the longest.
pub(crate) const RETRY: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(2));

/// A router's number in the world.
pub type RouterNo = usize;
/// A client's.
pub type ClientNo = usize;
/// The number of a link between two routers, which is made anew whenever it is lost.
pub type TrunkNo = usize;

/// Something that is going to happen.
pub(crate) enum Event {
    /// A frame reaches an end.
    Frame { wire: u32, to: usize, frame: Box<Frame> },
    /// An end notices that its connection is gone.
    Lost { wire: u32, end: usize },
    /// A router's timer may be due.
    Timer { router: RouterNo, life: u32 },
    /// A trunk is to be connected.
    Connect(TrunkNo),
    /// A client is to connect.
    Join(ClientNo),
    /// Silence in one direction has lasted.
    Silent { wire: u32, direction: usize, since: Duration },
}

pub(crate) struct Site {
    pub(crate) id: String,
    pub(crate) router: Option<Router>,
    /// How many routers were started here.
    pub(crate) life: u32,
    /// When its timer event is.
    pub(crate) timer: Option<Now>,
    pub(crate) instance: i64,
}

pub(crate) struct Trunk {
    pub(crate) ends: [RouterNo; 2],
    pub(crate) cost: u32,
    pub(crate) latency: Duration,
    pub(crate) wire: Option<u32>,
    /// It is not to be connected.
    pub(crate) cut: bool,
    pub(crate) wait: Duration,
}

pub(crate) struct Seat {
    pub(crate) client: Client,
    pub(crate) at: RouterNo,
    pub(crate) wire: Option<u32>,
    pub(crate) gone: bool,
}

/// The world.
pub struct World {
    /// Now.
    pub now: Now,
    /// The source of chance.
    pub random: Random,
    /// What became of every message.
    pub ledger: Ledger,
    pub(crate) max_routers: u16,
    /// Ids of routers that send multicasts as old ones do.
    old: BTreeSet<String>,
    /// Routers share what they know with neighbours.
    share: bool,
    pub(crate) logged: Option<Level>,
    pub(crate) sites: Vec<Site>,
    pub(crate) trunks: Vec<Trunk>,
    pub(crate) seats: Vec<Seat>,
    pub(crate) wires: BTreeMap<u32, Wire>,
    pub(crate) next_wire: u32,
    pub(crate) events: BinaryHeap<Reverse<(Now, u64)>>,
    pub(crate) happenings: BTreeMap<u64, Event>,
    pub(crate) next_event: u64,
}

impl World {
    /// Nothing but time.
    pub fn new(seed: u64) -> Self {
        Self {
            now: Duration::from_secs(1_000),
            random: Random::new(seed),
            ledger: Ledger::default(),
            max_routers: 128,
            old: BTreeSet::new(),
            share: true,
            logged: None,
            sites: Vec::new(),
            trunks: Vec::new(),
            seats: Vec::new(),
            wires: BTreeMap::new(),
            next_wire: 0,
            events: BinaryHeap::new(),
            happenings: BTreeMap::new(),
            next_event: 0,
        }
    }

    /// How many routers a network may have; before any is added.
    pub fn set_max_routers(&mut self, most: u16) {
        self.max_routers = most;
    }

    /// Has a router send multicasts as old ones do: to each neighbour that leads to consumers, whoever sent them a copy
    /// already. Before it is added.
    pub fn make_old(&mut self, id: &str) {
        self.old.insert(id.to_owned());
    }

    /// Has all routers speak the old protocol only; before any is added.
    pub fn share_nothing(&mut self) {
        self.share = false;
    }

    /// Prints what routers log, from this level on; before any is added.
    pub fn print_logs(&mut self, from: Level) {
        self.logged = Some(from);
    }

    /// Adds a router and starts it.
    pub fn add_router(&mut self, id: &str) -> RouterNo {
        self.sites.push(Site { id: id.to_owned(), router: None, life: 0, timer: None, instance: 1_700_000_000 });
        self.start(self.sites.len() - 1);
        self.sites.len() - 1
    }

    /// Connects two routers; the first one makes the connection, and makes it again when it is lost.
    pub fn add_trunk(&mut self, from: RouterNo, to: RouterNo, cost: u32) -> TrunkNo {
        let latency = self.random.between(Duration::from_micros(100), Duration::from_millis(5));
        self.trunks.push(Trunk { ends: [from, to], cost, latency, wire: None, cut: false, wait: RETRY.0 });
        let trunk = self.trunks.len() - 1;
        self.later(Duration::ZERO, Event::Connect(trunk));
        trunk
    }

    /// Adds a client of a router.
    pub fn add_client(&mut self, at: RouterNo) -> ClientNo {
        self.seats.push(Seat { client: Client::default(), at, wire: None, gone: false });
        let client = self.seats.len() - 1;
        self.later(Duration::ZERO, Event::Join(client));
        client
    }

    /// Adds a link to a client.
    pub fn add_link(&mut self, client: ClientNo, does: Does) -> usize {
        let link = self.seats[client].client.add(does);
        self.collect_from_client(client);
        link
    }

    /// Has a client send a message when it has credit for it; returns its number. `to`: on links without an address.
    pub fn send(&mut self, client: ClientNo, link: usize, address: &str, priority: u8, settled: bool) -> u64 {
        let id = self.ledger.new_message(address, settled);
        self.send_message(client, link, Outgoing { id, looks: id, to: Some(address.to_owned()), priority, settled });
        id
    }

    /// The same, unsettled, with a message that looks like all others that are sent so: the same bytes.
    pub fn send_alike(&mut self, client: ClientNo, link: usize, address: &str) -> u64 {
        let id = self.ledger.new_message(address, false);
        self.send_message(
            client,
            link,
            Outgoing { id, looks: 0, to: Some(address.to_owned()), priority: 4, settled: false },
        );
        id
    }

    fn send_message(&mut self, client: ClientNo, link: usize, message: Outgoing) {
        self.seats[client].client.send(link, message, &mut self.ledger);
        self.collect_from_client(client);
    }

    /// A router that runs.
    pub fn router(&self, router: RouterNo) -> Option<&Router> {
        self.sites[router].router.as_ref()
    }

    /// Its id, whether it runs or not.
    pub fn id(&self, router: RouterNo) -> &str {
        &self.sites[router].id
    }

    /// How many routers there are.
    pub fn routers(&self) -> usize {
        self.sites.len()
    }

    /// Whether a client's link is attached.
    pub fn is_attached(&self, client: ClientNo, link: usize) -> bool {
        self.seats[client].client.is_attached(link)
    }

    /// Credit of a client's link that sends.
    pub fn credit(&self, client: ClientNo, link: usize) -> u32 {
        self.seats[client].client.credit(link)
    }

    /// What the routing protocol of a running router has sent since it was started.
    pub fn control_traffic(&self, router: RouterNo) -> ControlTraffic {
        self.sites[router].router.as_ref().map(|router| router.control).unwrap_or_default()
    }

    /// Trunks that work now: their ends and cost.
    pub fn live_trunks(&self) -> impl Iterator<Item = ([RouterNo; 2], u32)> + '_ {
        let runs = |site: usize| self.sites[site].router.is_some();
        self.trunks
            .iter()
            .filter(move |trunk| !trunk.cut && trunk.ends.iter().all(|end| runs(*end)))
            .map(|trunk| (trunk.ends, trunk.cost))
    }

    /// How many trunks there are.
    pub fn trunks(&self) -> usize {
        self.trunks.len()
    }

    /// Starts a router, as one that was stopped or killed.
    pub fn start(&mut self, router: RouterNo) {
        let site = &mut self.sites[router];
        if site.router.is_some() {
            return;
        }
        site.life += 1;
        site.instance += 1;
        site.timer = None;
        let mut running = Router::new(self.now, &site.id, site.instance, self.max_routers, &mut self.random);
        running.set_log(self.logged);
        if self.old.contains(&site.id) {
            running.make_old();
        }
        if !self.share {
            running.share_nothing();
        }
        site.router = Some(running);
        self.collect(router);
    }

    /// Kills a router: what it knew is gone, and its peers find their connections closed.
    pub fn kill(&mut self, router: RouterNo) {
        self.sites[router].router = None;
        let wires: Vec<u32> = self
            .wires
            .iter()
            .filter(|(_, wire)| wire.ends.iter().any(|end| end.is_of(router)))
            .map(|(number, _)| *number)
            .collect();
        wires.into_iter().for_each(|wire| self.close(wire));
    }

    /// Closes the connection of a trunk, which is made anew.
    pub fn break_trunk(&mut self, trunk: TrunkNo) {
        if let Some(wire) = self.trunks[trunk].wire {
            self.close(wire);
        }
    }

    /// Cuts a trunk, or mends it.
    pub fn cut_trunk(&mut self, trunk: TrunkNo, cut: bool) {
        self.trunks[trunk].cut = cut;
        if cut {
            self.break_trunk(trunk);
        } else {
            self.later(Duration::ZERO, Event::Connect(trunk));
        }
    }

    /// Nothing passes in one direction of a trunk's connection any more, nor is it closed until its peer misses it.
    pub fn stall_trunk(&mut self, trunk: TrunkNo, direction: usize) {
        let Some(number) = self.trunks[trunk].wire else { return };
        if let Some(wire) = self.wires.get_mut(&number) {
            wire.stalled[direction] = true;
            let since = self.now;
            self.later(SILENCE, Event::Silent { wire: number, direction, since });
        }
    }

    /// A client goes for good.
    pub fn leave(&mut self, client: ClientNo) {
        self.seats[client].gone = true;
        if let Some(wire) = self.seats[client].wire {
            self.close(wire);
        }
    }

    /// Lets time pass.
    pub fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(&Reverse((when, number))) = self.events.peek().filter(|next| next.0.0 <= end) {
            self.events.pop();
            self.now = when;
            if let Some(event) = self.happenings.remove(&number) {
                self.happen(event);
            }
        }
        self.now = end;
    }

    /// Lets time pass until something is so, but no longer than `most`. Returns whether it is, and how long that took.
    pub fn run_until(&mut self, most: Duration, mut so: impl FnMut(&Self) -> bool) -> Option<Duration> {
        let (start, step) = (self.now, Duration::from_millis(50));
        while !so(self) {
            if self.now >= start + most {
                return None;
            }
            self.run(step);
        }
        Some(self.now - start)
    }

    pub(crate) fn later(&mut self, after: Duration, event: Event) {
        self.at(self.now + after, event);
    }

    pub(crate) fn at(&mut self, when: Now, event: Event) {
        self.next_event += 1;
        self.happenings.insert(self.next_event, event);
        self.events.push(Reverse((when, self.next_event)));
    }

    pub(crate) fn happen(&mut self, event: Event) {
        match event {
            Event::Frame { wire, to, frame } => self.arrive(wire, to, *frame),
            Event::Lost { wire, end } => self.lost(wire, end),
            Event::Timer { router, life } => self.timer(router, life),
            Event::Connect(trunk) => self.connect(trunk),
            Event::Join(client) => self.join(client),
            Event::Silent { wire, direction, since } => {
                let still = self.wires.get(&wire).is_some_and(|wire| wire.open && wire.stalled[direction]);
                if still && self.now >= since + SILENCE {
                    self.close(wire);
                }
            }
        }
    }

    pub(crate) fn timer(&mut self, router: RouterNo, life: u32) {
        let site = &mut self.sites[router];
        if site.life != life || site.timer != Some(self.now) {
            return;
        }
        site.timer = None;
        if let Some(running) = &mut site.router {
            running.handle_timeout(self.now);
            self.collect(router);
        }
    }
}
