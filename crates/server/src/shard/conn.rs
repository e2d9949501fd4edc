//! One connection as its shard sees it: the socket, the endpoint over it, and what is on its way on its links.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;

use amqp::ErrorCondition;
use amqp::terminus::{Source, TargetTerminus};
use amqp_endpoint::{Connection, LinkId, Now, SessionId};
use router_core::{ConnKey, OutKey};
use security::policy::Authorised;

use super::arrival::Listener;
use super::census;
use super::feeding::Streaming;
use super::incoming::{Incoming, Progress};
use super::outgoing::{Delivery, OUTPUT_HIGH, Step};
use super::own_links::Opening;
use super::own_sessions::OwnSessions;
use super::parked::Parked;
use super::place::{ConnRef, LinkRef};
use super::policed::{Counted, Judged, Policed};
use super::settings::{ConnectionSettings, ConnectorAttempt, Role};
use super::transport::Transport;
use crate::content::{Buffered, Depth};
use crate::telemetry::Hops;

/// What a client is called that did not say who it is.
const ANONYMOUS_USER: &str = "anonymous";

/// A connection.
pub(super) struct Conn {
    /// Its number, as logs and management show it.
    pub(super) id: u64,
    pub(super) at: ConnRef,
    pub(super) transport: Transport,
    pub(super) endpoint: Connection,
    pub(super) settings: Arc<ConnectionSettings>,
    pub(super) peer: Peer,
    /// When it was accepted or made.
    pub(super) began: Now,
    /// Its key in the core, from the exchange of Opens on.
    pub(super) key: Option<ConnKey>,
    /// What SASL found: mechanism and user.
    pub(super) authenticated: (Option<String>, Option<String>),
    /// What an authentication service lets the peer do; it is known before the peer opens the connection.
    pub(super) authorised: Option<Box<Authorised>>,
    /// The policy that holds for it, if one does.
    pub(super) policed: Option<Box<Policed>>,
    /// Bytes of the largest message that may come in.
    pub(super) max_message_size: u64,
    /// The peer is a router that shares what it knows: its delivery tags may have stamps.
    pub(super) shares: bool,
    /// Links by their index in the endpoint.
    pub(super) links: Vec<Link>,
    /// Sessions that this router has begun for links of its own.
    pub(super) sessions: OwnSessions,
    /// Links with deliveries that wait, each once.
    pub(super) sending: VecDeque<u32>,
    /// Links on which messages are being streamed.
    pub(super) streams: Vec<u32>,
    /// Bytes of messages that are being gathered.
    pub(super) gathered: usize,
    /// What its buffers held when it was flushed last.
    pub(super) buffered: Buffered,
    /// By session, how many links are held up because memory is short.
    pub(super) held_up: BTreeMap<u32, usize>,
    /// A frame of which the end has not come.
    pub(super) leftover: Vec<u8>,
    /// When its earliest timer is due.
    pub(super) timer: Option<Now>,
    /// When it is given up: an attempt to connect, or last words that cannot be written.
    pub(super) deadline: Option<Now>,
    pub(super) flags: Flags,
    /// Links of the router's own whose name is not free yet.
    pub(super) postponed: Vec<Opening>,
    /// Where messages that somebody traces are noted, if that is wanted.
    pub(super) hops: Option<Arc<Hops>>,
}

/// Yes-or-no facts about a connection.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts, not states of one machine")]
pub(super) struct Flags {
    /// The outgoing connection is not made yet.
    pub(super) connecting: bool,
    /// A layer under AMQP is not ready yet; until it is, the endpoint is there only for its timers.
    pub(super) preparing: bool,
    /// It is in the list of connections to be flushed.
    pub(super) dirty: bool,
    /// It is in the list of connections to be read.
    pub(super) queued: bool,
    /// The socket may have bytes for us.
    pub(super) readable: bool,
    /// The peer has closed its side: reading must go on to the end.
    pub(super) half_closed: bool,
    /// Its time is up; whether it was silent is being looked at.
    pub(super) suspected: bool,
    /// Not read, because a message that comes in on it waits for its slowest reader.
    pub(super) paused: bool,
    /// Not read, because memory is very short.
    pub(super) resting: bool,
    /// The core knows that it takes no messages now.
    pub(super) choked: bool,
    /// The endpoint may have events without new bytes.
    pub(super) attention: bool,
    /// SASL has negotiated a security layer that is still to be put in place.
    pub(super) securing: bool,
    /// The transport is gone, or is to be.
    pub(super) broken: bool,
    /// The core and the log have heard of its end.
    pub(super) ended: bool,
    /// Its frames are logged.
    pub(super) traced: bool,
    /// Somebody may want to hear of each of its messages.
    pub(super) watched: bool,
}

/// Who is at the other end.
pub(super) enum Peer {
    /// A client of a listener.
    Accepted {
        /// Where it came from.
        from: SocketAddr,
        /// The listener.
        to: Arc<Listener>,
        /// Its place among those who are connected.
        place: census::Place,
    },
    /// Where a connector led.
    Connected {
        /// The attempt.
        attempt: Box<ConnectorAttempt>,
        /// How many of its addresses were tried.
        tried: usize,
    },
}

/// A link as its connection's owner sees it.
#[derive(Default)]
pub(super) struct Link {
    /// The peer sends: the delivery that is not complete yet.
    pub(super) incoming: Option<Box<Incoming>>,
    /// We send: deliveries that wait, the first perhaps begun.
    pub(super) waiting: VecDeque<Box<Delivery>>,
    /// The session in which the peer is held up for it, because memory is short.
    pub(super) held_up: Option<SessionId>,
    /// The session that is to be given back when it is gone.
    pub(super) session: Option<SessionId>,
    /// How far one must see into an incoming message.
    pub(super) depth: Depth,
    /// It carries the messages of the routing protocol, which nobody can take in parts.
    pub(super) control: bool,
    /// It is in the connection's list of links that send.
    pub(super) queued: bool,
    /// The peer asked us to drain.
    pub(super) draining: bool,
    /// It gets its unused credit back once nothing waits.
    pub(super) drained_owed: bool,
    /// It is one with another link: nothing of what passes is looked at.
    pub(super) routed: bool,
    /// How it is to be detached once nothing waits.
    pub(super) farewell: Option<Box<(bool, Option<ErrorCondition>)>>,
    /// For message logging: source and target.
    pub(super) ends: Option<Box<(String, String)>>,
    /// How policy counts it.
    pub(super) counted: Counted,
    /// Where messages that come in may go has to be looked at; what was found last.
    pub(super) judged: Option<Box<Judged>>,
    /// The peer's attach, while it waits for what the interior knows of its address.
    pub(super) parked: Option<Box<Parked>>,
}

impl Link {
    /// A link between these two, of a connection that is `watched`; `own_user_id_only`: the user-id of messages is looked at.
    pub(super) fn new(
        settings: &ConnectionSettings,
        watched: bool,
        own_user_id_only: bool,
        source: Option<&Source>,
        target: Option<&TargetTerminus>,
    ) -> Self {
        let control = settings.role == Role::InterRouter && is_control(target);
        let (source, target) = (source_address(source), target_address(target));
        let depth = match target {
            _ if watched => Depth::ApplicationProperties,
            Some(_) if own_user_id_only => Depth::UserId,
            Some(_) => Depth::Annotations,
            None => Depth::Properties,
        };
        let ends = watched.then(|| Box::new((source.unwrap_or_default(), target.unwrap_or_default())));
        Self { depth, control, ends, ..Self::default() }
    }
}

/// Whether a target says that its link is for the routing protocol.
fn is_control(target: Option<&TargetTerminus>) -> bool {
    let Some(TargetTerminus::Target(target)) = target else { return false };
    target.capabilities.first().is_some_and(|capability| capability.as_str() == "qd.router")
}

/// The address of a source that names one.
fn source_address(source: Option<&Source>) -> Option<String> {
    source.and_then(|source| source.address.clone())
}

/// The address of a target, or something in its stead when messages need not name one.
fn target_address(target: Option<&TargetTerminus>) -> Option<String> {
    match target {
        Some(TargetTerminus::Target(target)) if target.dynamic => Some(String::new()),
        Some(TargetTerminus::Target(target)) => target.address.clone(),
        Some(TargetTerminus::Coordinator { .. }) => Some("$coordinator".to_owned()),
        None => None,
    }
}

/// See [`Conn::user`].
pub(super) fn user_of<'c>(peer: &Peer, authenticated: &'c (Option<String>, Option<String>)) -> Option<&'c str> {
    let incoming = matches!(peer, Peer::Accepted { .. });
    authenticated.1.as_deref().or(incoming.then_some(ANONYMOUS_USER))
}

impl Conn {
    pub(super) fn new(
        at: ConnRef,
        id: u64,
        transport: Transport,
        endpoint: Connection,
        settings: Arc<ConnectionSettings>,
        peer: Peer,
        began: Now,
    ) -> Self {
        Self {
            id,
            at,
            transport,
            endpoint,
            settings,
            peer,
            began,
            key: None,
            authenticated: (None, None),
            authorised: None,
            policed: None,
            max_message_size: u64::MAX,
            shares: false,
            links: Vec::new(),
            sessions: OwnSessions::default(),
            sending: VecDeque::new(),
            streams: Vec::new(),
            gathered: 0,
            buffered: Buffered::default(),
            held_up: BTreeMap::new(),
            leftover: Vec::new(),
            timer: None,
            deadline: None,
            flags: Flags::default(),
            postponed: Vec::new(),
            hops: None,
        }
    }

    /// Who is at the other end: as SASL has it, or `anonymous`; nobody where a connector leads without saying who we are.
    pub(super) fn user(&self) -> Option<&str> {
        user_of(&self.peer, &self.authenticated)
    }

    /// The link at an index, made up if it was never used.
    pub(super) fn link_mut(&mut self, link: LinkId) -> &mut Link {
        let index = link.0 as usize;
        if index >= self.links.len() {
            self.links.resize_with(index + 1, Link::default);
        }
        &mut self.links[index]
    }

    /// A reference to a link of this connection.
    pub(super) fn link_ref(&self, link: LinkId) -> LinkRef {
        LinkRef { conn: self.at, link: link.0 }
    }

    /// Queues a delivery on its link.
    pub(super) fn wait(&mut self, link: LinkId, mut delivery: Box<Delivery>) {
        self.message_sent(link, delivery.logged());
        delivery.listen(self.link_ref(link));
        self.link_mut(link).waiting.push_back(delivery);
        self.queue_link(link.0);
    }

    fn queue_link(&mut self, link: u32) {
        let state = self.link_mut(LinkId(link));
        if !state.queued {
            state.queued = true;
            self.sending.push_back(link);
        }
    }

    /// Sends what waits on one link, as far as it may; `through` gets the deliveries that are and that the core waits
    /// for. True: some are through, or more can be sent at once.
    pub(super) fn pump_link(&mut self, link: LinkId, through: &mut Vec<OutKey>) -> bool {
        let Some(state) = self.links.get_mut(link.0 as usize) else { return false };
        let mut moved = false;
        while let Some(delivery) = state.waiting.front_mut() {
            let step = if delivery.aborted {
                delivery.abort(&mut self.endpoint, link)
            } else {
                delivery.pump(&mut self.endpoint, link)
            };
            match step {
                Step::Done => through.extend(delivery.report.then_some(delivery.key)),
                Step::Aborted => {}
                Step::Yield => {
                    self.queue_link(link.0);
                    return true;
                }
                Step::Blocked => {
                    self.queue_link(link.0);
                    return moved;
                }
                // It is pumped again when its message has grown.
                Step::Starved => return moved,
            }
            state.waiting.pop_front();
            moved = true;
        }
        if std::mem::take(&mut state.drained_owed) {
            self.endpoint.drained(link);
        }
        if let Some(farewell) = state.farewell.take() {
            self.endpoint.detach(link, farewell.0, farewell.1);
        }
        moved
    }

    /// Sends what waits on all links, in turn, until nothing moves or the output is full.
    pub(super) fn pump(&mut self, through: &mut Vec<OutKey>) -> bool {
        let mut moved = false;
        let mut idle = 0;
        while idle < self.sending.len() && self.endpoint.output().len() <= OUTPUT_HIGH {
            let Some(link) = self.sending.pop_front() else { break };
            self.link_mut(LinkId(link)).queued = false;
            if self.pump_link(LinkId(link), through) {
                moved = true;
                idle = 0;
            } else {
                idle += 1;
            }
        }
        moved
    }

    /// The message being streamed from this link.
    pub(super) fn streaming_mut(&mut self, link: u32) -> Option<&mut Streaming> {
        match &mut self.links.get_mut(link as usize)?.incoming.as_mut()?.progress {
            Progress::Streaming(streaming) => Some(streaming),
            Progress::Gathering(_) | Progress::Discarding(_) => None,
        }
    }

    /// Of the messages that are being streamed in a session, other than the one on this link: whether there are any, and
    /// whether all of them lag.
    pub(super) fn others_lag(&mut self, session: SessionId, link: u32) -> (bool, bool) {
        let (mut any, mut all) = (false, true);
        for index in 0..self.streams.len() {
            let other = self.streams[index];
            if let Some(streaming) = self.streaming_mut(other).filter(|_| other != link)
                && streaming.session == session
            {
                any = true;
                all &= streaming.lags;
            }
        }
        (any, all)
    }

    /// Drops what waits on a link: it is gone.
    pub(super) fn clear_outgoing(&mut self, link: LinkId) {
        if let Some(link) = self.links.get_mut(link.0 as usize) {
            link.waiting = VecDeque::new();
            link.drained_owed = false;
            link.farewell = None;
        }
    }

    /// Gives the peer's unused credit back, once what waits has had its own.
    pub(super) fn drained(&mut self, link: LinkId) {
        match self.links.get_mut(link.0 as usize) {
            Some(state) if !state.waiting.is_empty() => state.drained_owed = true,
            _ => self.endpoint.drained(link),
        }
    }
}
