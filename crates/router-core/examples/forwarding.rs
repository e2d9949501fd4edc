//! The core alone, forwarding: what callgrind or a profiler is pointed at when a change may have made it dearer.
//!
//! `forwarding SCENARIO MESSAGES`, where the scenario is `one` (an unsettled message from a sender to a receiver, accepted),
//! `settled` (presettled), `many` (as `one`, over 1,000 addresses in turn), `anonymous`, `balanced` (1,000 receivers) or
//! `multicast` (10 receivers), or `transit` (from one router to another).

use std::fmt;
use std::time::Duration;

use amqp::terminus::{Source, Target, TargetTerminus};
use amqp::{DeliveryState, ErrorCondition};
use router_core::*;

/// A host that keeps just what an endpoint would have to.
#[derive(Default)]
struct CheapHost {
    sent: Vec<OutKey>,
    credit: u64,
    settled: u64,
}

impl Host for CheapHost {
    type Conn = u32;
    type Link = u32;
    type Content = u32;

    fn attach_answer(&mut self, _: u32, _: Option<Source>, _: Option<TargetTerminus>) {}
    fn open_link(&mut self, _: Self::Conn, _: LinkKey, _: OpenLink) -> u32 {
        unreachable!("no routers beside this one")
    }

    fn network(&mut self, _: NetworkEvent<'_>) {}

    fn detach(&mut self, _: u32, _: bool, _: Option<ErrorCondition>) {}
    fn add_credit(&mut self, _: u32, credit: u32) {
        self.credit += u64::from(credit);
    }
    fn drain(&mut self, _: u32, _: bool) {}
    fn drained(&mut self, _: u32) {}
    fn retain(&mut self) -> u32 {
        0
    }
    fn transmit(&mut self, _: u32, key: OutKey, _: Option<&u32>, how: &Transmit<'_>) -> Transmitted {
        if !how.settled {
            self.sent.push(key);
        }
        Transmitted::Complete
    }
    fn abort(&mut self, _: u32, _: OutKey) {}
    fn update_incoming(&mut self, _: u32, _: u32, _: Option<DeliveryState>, settled: bool) {
        self.settled += u64::from(settled);
    }
    fn update_outgoing(&mut self, _: u32, _: OutKey, _: Option<DeliveryState>, _: bool) {}
    fn to_subscriber(
        &mut self,
        _: SubscriberId,
        _: Option<&u32>,
        _: &SubscriberDelivery,
    ) -> Result<(), ErrorCondition> {
        Ok(())
    }
    fn log_enabled(&self, _: Module, _: Level) -> bool {
        false
    }
    fn log(&mut self, _: Module, _: Level, _: fmt::Arguments<'_>) {}
}

struct Run {
    core: Core<CheapHost>,
    host: CheapHost,
    now: Duration,
    conn: ConnKey,
}

impl Run {
    fn new(mode: Mode) -> Self {
        let mut random = 0;
        let settings = RouterSettings {
            router_id: "QDR".into(),
            mode,
            default_treatment: Treatment::Balanced,
            test_hooks: false,
            allow_resumable_link_route: true,
            random: Box::new(move || {
                random += 1;
                random
            }),
        };
        let (mut core, mut host, now) = (Core::new(settings), CheapHost::default(), Duration::from_secs(1));
        let multicast = NewAddressConfig {
            prefix: Some("multicast".into()),
            distribution: Treatment::Multicast,
            ..Default::default()
        };
        if let Err(error) = core.create_address_config(&mut host, multicast) {
            eprintln!("{error}");
        }
        let info = ConnectionInfo { id: core.next_connection_id(), link_capacity: 250, ..Default::default() };
        let conn = core.open_connection(now, &mut host, 1, info);
        Self { core, host, now, conn }
    }

    fn sender(&mut self, address: Option<&str>) -> LinkKey {
        let target = Target { address: address.map(str::to_owned), ..Target::default() };
        self.attach(true, Source::default(), target)
    }

    fn receiver(&mut self, address: &str) -> LinkKey {
        let source = Source { address: Some(address.to_owned()), ..Source::default() };
        let link = self.attach(false, source, Target::default());
        self.core.credit(self.now, &mut self.host, link, 1_000_000_000, false);
        link
    }

    fn attach(&mut self, incoming: bool, source: Source, target: Target) -> LinkKey {
        let attach = AttachInfo {
            name: "link".into(),
            incoming,
            source: Some(source),
            target: Some(TargetTerminus::Target(target)),
            send_settled: false,
            terms: LinkTerms::default(),
        };
        self.core.attach(self.now, &mut self.host, self.conn, 1, attach)
    }

    /// A connection that another router made; the link on which its deliveries come in.
    fn router(&mut self, id: &str, index: RouterIndex) -> LinkKey {
        let info = ConnectionInfo {
            id: self.core.next_connection_id(),
            role: Role::InterRouter,
            incoming: true,
            container: id.to_owned(),
            link_capacity: 250,
            ..Default::default()
        };
        self.conn = self.core.open_connection(self.now, &mut self.host, 1, info);
        let mut came_in = LinkKey::DEAD;
        for capability in ["qd.router", "qd.router-data"] {
            for incoming in [false, true] {
                let source = Source { capabilities: vec![capability.into()], ..Source::default() };
                let target = Target { capabilities: vec![capability.into()], ..Target::default() };
                came_in = self.attach(incoming, source, target);
                self.core.credit(self.now, &mut self.host, came_in, 1_000_000_000, false);
            }
        }
        self.core.add_router(self.now, &mut self.host, index, id);
        let valid_origins = (0..8).map(RouterIndex).collect();
        let route = Route { next_hop: self.conn, cost: 1, comes_by: None, valid_origins };
        self.core.set_route(self.now, &mut self.host, index, Some(route));
        came_in
    }

    fn send(&mut self, link: LinkKey, to: Option<&str>, settled: bool, ingress: Option<&str>) {
        let offer = Offer {
            delivery_id: 0,
            settled,
            complete: true,
            to,
            to_override: None,
            phase: None,
            ingress,
            trace: amqp::message::Trace::default(),
            priority: 4,
            state: None,
            stamp: 0,
            tag: None,
            manner: Default::default(),
        };
        self.core.deliver(self.now, &mut self.host, link, offer);
    }

    /// The receivers accept, in the batches in which endpoints hand dispositions over.
    fn accept(&mut self, at_least: usize) {
        if self.host.sent.len() >= at_least {
            for key in std::mem::take(&mut self.host.sent) {
                self.core.outcome(self.now, &mut self.host, key, Some(DeliveryState::Accepted), true);
            }
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let scenario = arguments.next().unwrap_or_else(|| "one".into());
    let messages: usize = arguments.next().and_then(|number| number.parse().ok()).unwrap_or(1_000_000);
    let (mode, ingress) = match scenario.as_str() {
        "transit" => (Mode::Interior, Some("0/A")),
        _ => (Mode::Standalone, None),
    };
    let mut run = Run::new(mode);
    let (senders, to, settled) = match scenario.as_str() {
        "settled" => (vec![(run.receiver("foo"), run.sender(Some("foo"))).1], None, true),
        "many" => {
            let addresses: Vec<_> = (0..1_000).map(|number| format!("address/{number}")).collect();
            for address in &addresses {
                run.receiver(address);
            }
            (addresses.iter().map(|address| run.sender(Some(address))).collect(), None, false)
        }
        "anonymous" => (vec![(run.receiver("foo"), run.sender(None)).1], Some("foo"), false),
        "transit" => {
            let (from, there) = (run.router("A", RouterIndex(1)), RouterIndex(2));
            run.router("C", there);
            run.core.add_remote_address(run.now, &mut run.host, there, "M0foo", None);
            (vec![from], Some("foo"), false)
        }
        "balanced" => {
            for _ in 0..1_000 {
                run.receiver("foo");
            }
            (vec![run.sender(Some("foo"))], None, false)
        }
        "multicast" => {
            for _ in 0..10 {
                run.receiver("multicast");
            }
            (vec![run.sender(Some("multicast"))], None, false)
        }
        _ => (vec![(run.receiver("foo"), run.sender(Some("foo"))).1], None, false),
    };
    for message in 0..messages {
        run.now += Duration::from_nanos(100);
        run.send(senders[message % senders.len()], to, settled, ingress);
        run.accept(32);
    }
    run.accept(0);
    let sizes = Core::<CheapHost>::object_sizes();
    eprintln!("settled {}, credit given back {}, {sizes:?}", run.host.settled, run.host.credit);
}
