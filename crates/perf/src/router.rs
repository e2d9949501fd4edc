//! A router in memory: bytes in, bytes out.

use crate::host::{Conn, Connections};
use crate::serve::{MAX_FRAME_SIZE, Serve};
use amqp::message::{Header, MessageAnnotations, RoutingProperties, Scan, Scanner, SectionKind};
use amqp::performative::Attach;
use amqp::performative::{Role, SenderSettleMode};
use amqp::terminus::TargetTerminus;
use amqp_endpoint::{Connection, ConnectionConfig, Event, IncomingTransfer, Input, LinkId, Now, Side};
use router_core::{
    AttachInfo, ConnectionInfo, Core, InKey, LinkKey, LinkTerms, Mode, NewAutoLink, NewLinkRoute, Offer, Offered,
    OutKey, Role as ConnectionRole, RouteDirection, RouteVia, RouterSettings, Treatment,
};
use security::policy::Addresses;
use std::sync::Arc;

/// The old router's default credit of a link.
const LINK_CAPACITY: u32 = 250;

/// Endpoints and a routing core, driven as a shard drives them.
pub(crate) struct Router {
    core: Core<Connections>,
    host: Connections,
    now: Now,
    /// How messages come to their receiver.
    way: Way,
    /// Where the client may send, if policy is in force: then messages may name no other user than this one, too.
    policy: Option<(Addresses, &'static str)>,
}

/// How messages come to their receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// It attaches for an address.
    Address,
    /// It is a container, at which the router attaches a link of its own for the address.
    AutoLink,
    /// It is a container, at which the sender's link is attached.
    LinkRoute,
}

/// Container id of the connection that is opened first, which is the receiver's.
const CONTAINER: &str = "container";

impl Router {
    /// `policy`: see [`Router`].
    pub(crate) fn new(way: Way, policy: Option<(Addresses, &'static str)>) -> Self {
        let mut draws = 0;
        let settings = RouterSettings {
            router_id: "perf".to_owned(),
            mode: Mode::Standalone,
            default_treatment: Treatment::Balanced,
            test_hooks: false,
            allow_resumable_link_route: true,
            // The same every time.
            random: Box::new(move || {
                draws += 1;
                draws
            }),
        };
        Router { core: Core::new(settings), host: Connections::default(), now: Now::ZERO, way, policy }
    }

    /// Has what is sent to an address go to the container.
    pub(crate) fn lead_to_container(&mut self, address: &str) {
        let Self { core, host, now, way, .. } = self;
        let via = RouteVia::Container(CONTAINER.to_owned());
        let direction = if *way == Way::AutoLink { RouteDirection::Out } else { RouteDirection::In };
        let made = match way {
            Way::Address => return,
            Way::AutoLink => {
                let (address, phase) = (address.to_owned(), 0);
                let new = NewAutoLink {
                    name: None,
                    address,
                    direction,
                    phase,
                    via,
                    external_address: None,
                    fallback: false,
                    on_demand: None,
                };
                core.create_auto_link(*now, host, new).map_err(|error| error.to_string())
            }
            Way::LinkRoute => {
                let new = NewLinkRoute {
                    name: None,
                    prefix: Some(address.to_owned()),
                    pattern: None,
                    direction,
                    via,
                    add_external_prefix: None,
                    del_external_prefix: None,
                };
                core.create_link_route(*now, host, new).map_err(|error| error.to_string())
            }
        };
        made.unwrap_or_else(|error| panic!("no way to the container: {error}"));
        self.host.open_links(&mut self.core, self.now);
    }

    /// One turn: what a connection's socket has is read, the core acts on it, and all connections say what there is to
    /// say. This is what is counted, so it must not be taken apart by the compiler.
    #[inline(never)]
    fn counted(&mut self, conn: usize, bytes: Arc<Vec<u8>>) {
        self.host.buffer = Arc::clone(&bytes);
        let mut input = Input::new(&bytes);
        while let Some(event) = self.host.conns[conn].endpoint.poll(self.now, &mut input) {
            self.take(conn, event);
        }
        assert_eq!(input.consumed(), bytes.len(), "clients send whole frames");
        self.host.open_links(&mut self.core, self.now);
        for conn in &mut self.host.conns {
            conn.endpoint.flush(self.now);
        }
    }

    fn take(&mut self, conn: usize, event: Event<'_>) {
        let Self { core, host, now, .. } = self;
        match event {
            Event::Transfer(transfer) => self.transfer(conn, transfer),
            Event::Outcome { key, state, settled } => core.outcome(*now, host, OutKey(key), state, settled),
            Event::SenderOutcome { key, state, settled } => core.sender_outcome(*now, host, InKey(key), state, settled),
            Event::Credit { context, credit, drain, .. } => core.credit(*now, host, LinkKey(context), credit, drain),
            Event::Drained { context, returned, .. } => core.drained(*now, host, LinkKey(context), returned),
            Event::Opened(_) => {
                host.conns[conn].endpoint.open(None);
                let info = ConnectionInfo {
                    id: core.next_connection_id(),
                    role: if conn == 0 { ConnectionRole::RouteContainer } else { ConnectionRole::Normal },
                    container: if conn == 0 { CONTAINER.to_owned() } else { String::new() },
                    link_capacity: LINK_CAPACITY,
                    ..Default::default()
                };
                let key = core.open_connection(*now, host, conn, info);
                host.conns[conn].key = Some(key);
            }
            Event::AttachAnswered(link, mut answer) => {
                let Some(key) = host.conns[conn].endpoint.link(link).map(|link| LinkKey(link.context)) else { return };
                let terms = terms_of(&mut answer);
                core.attach_answered(*now, host, key, answer.source, answer.target, terms);
            }
            Event::Attached(link, mut attach) => {
                let Some(key) = host.conns[conn].key else { return };
                let named = matches!(&attach.target, Some(TargetTerminus::Target(target)) if target.address.is_some());
                host.conns[conn].anonymous = attach.role == Role::Sender && !named;
                let terms = terms_of(&mut attach);
                let info = AttachInfo {
                    name: attach.name,
                    incoming: attach.role == Role::Sender,
                    source: attach.source,
                    target: attach.target,
                    send_settled: attach.snd_settle_mode == SenderSettleMode::Settled,
                    terms,
                };
                let link_key = core.attach(*now, host, key, (conn, link), info);
                host.conns[conn].endpoint.set_link_context(link, link_key.0);
            }
            _ => {}
        }
    }

    fn transfer(&mut self, conn: usize, transfer: IncomingTransfer<'_>) {
        let anonymous = self.host.conns[conn].anonymous;
        let look = look(transfer.payload, anonymous, self.policy.is_some());
        if let Some((targets, user)) = &self.policy {
            assert!(look.user_id.is_none_or(|claimed| claimed == user.as_bytes()), "it is the client's own");
            // In the shard a message to the address of the one before it costs less; here each is looked up.
            assert!(!anonymous || look.to.is_some_and(|to| targets.allow(to)), "it is allowed");
        }
        let offer = Offer {
            delivery_id: transfer.delivery_id,
            settled: transfer.settled,
            complete: true,
            to: look.to,
            to_override: None,
            phase: None,
            ingress: None,
            trace: amqp::message::Trace::default(),
            priority: look.priority,
            state: transfer.state,
            stamp: 0,
            tag: (self.way == Way::LinkRoute).then_some(transfer.tag),
            manner: transfer.manner,
        };
        let start = transfer.payload.as_ptr() as usize - self.host.buffer.as_ptr() as usize;
        self.host.offered = start..start + transfer.payload.len();
        let link: LinkId = transfer.link;
        let answer = self.core.deliver(self.now, &mut self.host, LinkKey(transfer.context), offer);
        if let Offered::Tracked(key) = answer {
            self.host.conns[conn].endpoint.set_incoming_key(link, transfer.delivery_id, key.0);
        }
    }
}

impl Serve for Router {
    fn connect(&mut self) -> usize {
        let config = ConnectionConfig {
            container_id: "perf".to_owned(),
            max_frame_size: MAX_FRAME_SIZE,
            idle_time_out: None,
            ..ConnectionConfig::default()
        };
        let side = Side::Acceptor { sasl: None, sasl_required: false };
        let endpoint = Connection::new(config, side, self.now);
        self.host.conns.push(Conn { endpoint, key: None, session: None, anonymous: false });
        self.host.conns.len() - 1
    }

    fn turn(&mut self, conn: usize, bytes: Arc<Vec<u8>>) {
        self.counted(conn, bytes);
    }

    fn output(&mut self, conn: usize) -> Vec<u8> {
        let endpoint = &mut self.host.conns[conn].endpoint;
        let bytes = endpoint.output().to_vec();
        endpoint.consume_output(bytes.len());
        bytes
    }

    fn wait(&mut self) -> bool {
        false
    }
}

fn terms_of(attach: &mut Attach) -> LinkTerms {
    LinkTerms {
        snd_settle_mode: attach.snd_settle_mode,
        rcv_settle_mode: attach.rcv_settle_mode,
        max_message_size: attach.max_message_size,
        offered_capabilities: std::mem::take(&mut attach.offered_capabilities),
        desired_capabilities: std::mem::take(&mut attach.desired_capabilities),
        properties: attach.properties.take(),
    }
}

/// What a shard looks for in a message.
struct Look<'m> {
    priority: u8,
    to: Option<&'m str>,
    user_id: Option<&'m [u8]>,
}

/// Looks at a message as a shard does before it is offered to the core; `to` and `user_id`: they are needed.
fn look(message: &[u8], to: bool, user_id: bool) -> Look<'_> {
    let mut look = Look { priority: 4, to: None, user_id: None };
    let mut scanner = Scanner::new(message, true);
    while let Ok(Scan::Section(section)) = scanner.next() {
        match section.kind {
            SectionKind::Header => {
                look.priority = Header::decode(section.value).map_or(look.priority, |header| header.priority.min(9));
            }
            SectionKind::MessageAnnotations => drop(MessageAnnotations::decode(section.value)),
            SectionKind::Properties if to || user_id => {
                let decode = if to { RoutingProperties::decode } else { RoutingProperties::decode_user_id };
                if let Ok(view) = decode(section.value) {
                    (look.to, look.user_id) = (view.to, view.user_id);
                }
            }
            _ => {}
        }
    }
    look
}
