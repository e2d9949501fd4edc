//! Transfers that come in: a message that is all there is offered to the core at once; one in several frames is gathered
//! until it is complete, or large enough to be streamed.

use std::borrow::Cow;
use std::sync::Arc;

use amqp::performative::Manner;
use amqp::{DeliveryState, ErrorCondition};
use amqp_endpoint::{Hold, IncomingTransfer, LinkId};
use router_core::{Core, InKey, LinkKey, Offer, Offered as Answer, stamp_of};

use super::feeding::{Resumption, Streaming};
use super::host::{Offered, ShardHost};
use crate::content::{Content, Examined, Head, Layout, Look, Refusal, examine, stream, subject};

/// Bytes of a message that is not complete from which on it is streamed; the old router's "Q2".
const STREAM_FROM: usize = 128 * 1024;
/// Bytes of the longest delivery tag that there may be (part 2, section 2.8.7).
const LONGEST_TAG: usize = 32;
/// Bytes within which a message must say where it goes to.
const HEAD_MAX: usize = 1024 * 1024;
/// Bytes that one connection may have in messages that are being gathered; beyond that they are streamed early.
const GATHERED_MAX: usize = 8 * 1024 * 1024;
/// Bytes that one connection may have in messages that cannot be streamed, because they do not say yet where they go.
const UNFINISHED_MAX: usize = 16 * 1024 * 1024;
/// Bytes that one connection may have in messages of the routing protocol that are being gathered. All addresses of a
/// router are one message: with a million of them it has some 50 MB.
const CONTROL_MAX: usize = 64 * 1024 * 1024;
/// A gathering buffer up to this size is used again for the next message.
const SPARE_MAX: usize = 256 * 1024;

/// A delivery of which not all frames have come.
pub(super) struct Incoming {
    arrived: Arrived<'static>,
    pub(super) progress: Progress,
    /// Bytes that have come.
    size: u64,
}

/// What is done with the frames.
pub(super) enum Progress {
    /// They are put together.
    Gathering(Gathered),
    /// They go to the readers.
    Streaming(Streaming),
    /// They are thrown away. At the end the message is refused for this reason, if there is one.
    Discarding(Option<Refusal>),
}

/// So much as has come of a message.
#[derive(Default)]
pub(super) struct Gathered {
    bytes: Vec<u8>,
    /// Its annotations are there, and do not ask for it to be passed on as it comes.
    waits: bool,
}

/// What is known of a delivery beside its bytes.
struct Arrived<'t> {
    link: LinkId,
    key: LinkKey,
    delivery_id: u32,
    message_format: u32,
    settled: bool,
    state: Option<DeliveryState>,
    /// On a link that is one with another, which nothing of the message is looked at for.
    tag: Option<Cow<'t, [u8]>>,
    /// What tells it from all others, if a neighbour has said so; 0: nothing.
    stamp: u64,
    /// How its sender wants it dealt with.
    manner: Manner,
}

impl<'t> Arrived<'t> {
    #[inline]
    fn new(transfer: IncomingTransfer<'t>) -> Self {
        Self {
            link: transfer.link,
            key: LinkKey(transfer.context),
            delivery_id: transfer.delivery_id,
            message_format: transfer.message_format,
            settled: transfer.settled,
            state: transfer.state,
            tag: None,
            stamp: 0,
            manner: Manner::default(),
        }
    }

    /// `routed`: the link is one with another, and the tag goes on with the message. `shares`: the peer's tags may have stamps.
    #[inline]
    fn on(routed: bool, shares: bool, transfer: IncomingTransfer<'t>) -> Self {
        let tag = if routed { Some(Cow::Borrowed(transfer.tag)) } else { None };
        let stamp = if shares && !routed { stamp_of(transfer.tag) } else { 0 };
        Self { tag, stamp, manner: transfer.manner, ..Self::new(transfer) }
    }

    /// What goes on as it is has to be something, and to have a tag that the other end can take.
    fn check_routed(&self, bytes: &[u8], complete: bool) -> Result<(), Refusal> {
        if self.tag.as_ref().is_some_and(|tag| tag.len() > LONGEST_TAG) {
            return Err(Refusal::Tag);
        }
        if complete && bytes.is_empty() { Err(Refusal::Format) } else { Ok(()) }
    }

    /// To keep until the rest of the delivery comes.
    fn kept(self) -> Arrived<'static> {
        let tag = self.tag.map(|tag| Cow::Owned(tag.into_owned()));
        Arrived { tag, ..self }
    }
}

impl ShardHost {
    /// A transfer frame.
    #[inline]
    pub(super) fn transfer(&mut self, core: &mut Core<Self>, slot: u32, transfer: IncomingTransfer<'_>) {
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        let (most, shares) = (conn.max_message_size, conn.shares);
        let link = conn.link_mut(transfer.link);
        let routed = link.routed;
        if let Some(incoming) = link.incoming.take() {
            self.go_on(core, slot, incoming, transfer);
        } else if transfer.aborted {
            core.discarded(self.now, self, LinkKey(transfer.context));
        } else if transfer.payload.len() as u64 > most {
            self.oversize(core, slot, Arrived::new(transfer), Progress::Gathering(Gathered::default()));
        } else if transfer.more {
            self.begin(core, slot, transfer, routed, shares);
        } else {
            let bytes = transfer.payload;
            let arrived = Arrived::on(routed, shares, transfer);
            match offset_in(&self.buffer, bytes) {
                Some(start) => self.offer_whole(core, slot, arrived, bytes, start),
                // Some layer has put it elsewhere.
                None => self.offer_apart(core, slot, arrived, bytes.to_vec()),
            }
        }
    }

    /// Offers a message that is not in the buffer read last.
    fn offer_apart(&mut self, core: &mut Core<Self>, slot: u32, arrived: Arrived<'_>, bytes: Vec<u8>) {
        let apart = Arc::new(bytes);
        let buffer = std::mem::replace(&mut self.buffer, Arc::clone(&apart));
        self.offer_whole(core, slot, arrived, &apart, 0);
        self.buffer = buffer;
        if let Some(spare) = Arc::into_inner(apart) {
            self.keep_spare(spare);
        }
    }

    /// Keeps a gathering buffer for the next message.
    fn keep_spare(&mut self, mut spare: Vec<u8>) {
        if spare.capacity() <= SPARE_MAX {
            spare.clear();
            self.spare = spare;
        }
    }

    /// Offers a complete message, which begins at `start` of the buffer.
    #[inline]
    fn offer_whole(&mut self, core: &mut Core<Self>, slot: u32, mut arrived: Arrived<'_>, bytes: &[u8], start: usize) {
        if arrived.tag.is_some() {
            return self.offer_routed(core, slot, arrived, bytes, start);
        }
        let examined = match self.examine(slot, &arrived, bytes, true) {
            Ok(examined) => examined,
            Err(refusal) => return self.refuse(core, &arrived, refusal),
        };
        self.offered = Offered::Borrowed { start, end: start + bytes.len(), layout: examined.layout, kept: None };
        let answer = self.offer(core, &mut arrived, &examined, true);
        self.offered = Offered::Nothing;
        if let Answer::Tracked(key) = answer {
            self.track(slot, &arrived, key);
        }
    }

    /// The same on a link that is one with another: nothing of the message is looked at.
    fn offer_routed(&mut self, core: &mut Core<Self>, slot: u32, mut arrived: Arrived<'_>, bytes: &[u8], start: usize) {
        if let Err(refusal) = arrived.check_routed(bytes, true) {
            return self.refuse(core, &arrived, refusal);
        }
        let layout = Layout::plain(arrived.message_format);
        self.offered = Offered::Borrowed { start, end: start + bytes.len(), layout, kept: None };
        let unseen = Examined::unseen(arrived.message_format);
        let answer = self.offer(core, &mut arrived, &unseen, true);
        self.offered = Offered::Nothing;
        if let Answer::Tracked(key) = answer {
            self.track(slot, &arrived, key);
        }
    }

    #[inline(always)] // There are two ways to it, and in one of them nothing is known of the message.
    fn offer(
        &mut self,
        core: &mut Core<Self>,
        arrived: &mut Arrived<'_>,
        examined: &Examined<'_>,
        complete: bool,
    ) -> Answer {
        let router = &examined.router;
        let offer = Offer {
            delivery_id: arrived.delivery_id,
            settled: arrived.settled,
            complete,
            to: examined.to,
            to_override: router.to,
            phase: (router.phase != 0).then_some(router.phase),
            ingress: router.ingress,
            trace: router.trace,
            priority: examined.priority,
            state: arrived.state.take(),
            stamp: arrived.stamp,
            tag: arrived.tag.as_deref(),
            manner: arrived.manner,
        };
        core.deliver(self.now, self, arrived.key, offer)
    }

    /// Has the endpoint name the delivery by the core's key when the sender speaks of it.
    #[inline]
    fn track(&mut self, slot: u32, arrived: &Arrived<'_>, key: InKey) {
        if let Some(conn) = self.conns.get_mut(slot as usize)
            && !arrived.settled
        {
            conn.endpoint.set_incoming_key(arrived.link, arrived.delivery_id, key.0);
        }
    }

    #[inline]
    fn examine<'b>(
        &mut self,
        slot: u32,
        arrived: &Arrived<'_>,
        bytes: &'b [u8],
        complete: bool,
    ) -> Result<Examined<'b>, Refusal> {
        if arrived.tag.is_some() {
            arrived.check_routed(bytes, complete)?;
            return Ok(Examined::unseen(arrived.message_format));
        }
        let Some(conn) = self.conns.get_mut(slot as usize) else { return Err(Refusal::Format) };
        let keep = !conn.settings.strip_annotations.strips_incoming();
        let depth = conn.link_mut(arrived.link).depth;
        let examined = examine(bytes, &Look { message_format: arrived.message_format, complete, depth, keep });
        if complete {
            conn.message_came(arrived.link, bytes);
        }
        match &conn.policed {
            Some(_) => conn.judge(arrived.link, examined?),
            None => examined,
        }
    }

    #[cold]
    fn refuse(&mut self, core: &mut Core<Self>, arrived: &Arrived<'_>, refusal: Refusal) {
        core.reject(self.now, self, arrived.key, arrived.delivery_id, arrived.settled, refusal.condition());
    }

    /// The first of several frames.
    fn begin(&mut self, core: &mut Core<Self>, slot: u32, transfer: IncomingTransfer<'_>, routed: bool, shares: bool) {
        let mut bytes = std::mem::take(&mut self.spare);
        bytes.extend_from_slice(transfer.payload);
        let nothing = Progress::Gathering(Gathered::default());
        let size = bytes.len() as u64;
        let mut incoming =
            Box::new(Incoming { arrived: Arrived::on(routed, shares, transfer).kept(), progress: nothing, size });
        incoming.progress = self.gathered(core, slot, &mut incoming.arrived, Gathered { bytes, waits: false });
        self.put_back(slot, incoming);
    }

    /// A further frame of a delivery, which is off its link meanwhile.
    fn go_on(&mut self, core: &mut Core<Self>, slot: u32, mut incoming: Box<Incoming>, transfer: IncomingTransfer<'_>) {
        self.account(slot, &incoming, false);
        if transfer.aborted {
            return self.abandon(core, *incoming);
        }
        incoming.size += transfer.payload.len() as u64;
        if self.conns.get(slot as usize).is_some_and(|conn| incoming.size > conn.max_message_size) {
            let Incoming { mut arrived, progress, .. } = *incoming;
            arrived.settled |= transfer.settled;
            return self.oversize(core, slot, arrived, progress);
        }
        let (payload, last) = (transfer.payload, !transfer.more);
        incoming.arrived.settled |= transfer.settled;
        if let Some(state) = transfer.state {
            further_state(&mut incoming, state);
        }
        match &mut incoming.progress {
            Progress::Gathering(gathered) => {
                gathered.bytes.extend_from_slice(payload);
                if !last {
                    let gathered = std::mem::take(gathered);
                    incoming.progress = self.gathered(core, slot, &mut incoming.arrived, gathered);
                }
            }
            Progress::Streaming(streaming) => {
                self.feed(streaming, payload, last);
                core.moved(self.now, streaming.key);
                if !last {
                    self.hold_if_behind(core, slot, streaming);
                }
            }
            Progress::Discarding(_) => {}
        }
        if last { self.complete(core, slot, *incoming) } else { self.put_back(slot, incoming) }
    }

    /// Keeps a delivery on its link until more of it comes.
    fn put_back(&mut self, slot: u32, incoming: Box<Incoming>) {
        self.account(slot, &incoming, true);
        if let Some(conn) = self.conns.get_mut(slot as usize) {
            let link = incoming.arrived.link;
            conn.link_mut(link).incoming = Some(incoming);
        }
    }

    /// Counts a delivery among what its connection is gathering, or no longer.
    fn account(&mut self, slot: u32, incoming: &Incoming, on_link: bool) {
        if let (Progress::Gathering(gathered), Some(conn)) = (&incoming.progress, self.conns.get_mut(slot as usize)) {
            let size = gathered.bytes.len();
            conn.gathered = if on_link { conn.gathered + size } else { conn.gathered - size };
        }
    }

    /// The last frame has come.
    fn complete(&mut self, core: &mut Core<Self>, slot: u32, incoming: Incoming) {
        let Incoming { arrived, progress, .. } = incoming;
        match progress {
            Progress::Gathering(gathered) => self.offer_apart(core, slot, arrived, gathered.bytes),
            Progress::Streaming(streaming) => {
                let key = streaming.key;
                self.end_feeding(streaming);
                core.received(self.now, self, key, arrived.settled);
            }
            Progress::Discarding(Some(refusal)) => self.refuse(core, &arrived, refusal),
            Progress::Discarding(None) => {}
        }
    }

    /// The link is gone, and with it the delivery that was coming on it.
    pub(super) fn abandon_incoming(&mut self, core: &mut Core<Self>, slot: u32, link: LinkId) {
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        let Some(incoming) = conn.links.get_mut(link.0 as usize).and_then(|link| link.incoming.take()) else { return };
        self.account(slot, &incoming, false);
        self.abandon(core, *incoming);
    }

    /// More has come of a message than its sender may send: it is refused, and so is everything else from there.
    #[cold]
    fn oversize(&mut self, core: &mut Core<Self>, slot: u32, arrived: Arrived<'_>, progress: Progress) {
        self.note_oversize(slot, core.link_id(arrived.key).unwrap_or_default());
        match progress {
            Progress::Streaming(streaming) => {
                streaming.feed.abort();
                let key = streaming.key;
                self.end_feeding(streaming);
                core.aborted(self.now, self, key);
                if let Some(conn) = self.conns.get_mut(slot as usize)
                    && !arrived.settled
                {
                    let state = DeliveryState::Rejected(Some(Box::new(Refusal::Size.condition())));
                    conn.endpoint.update_incoming(arrived.link, arrived.delivery_id, Some(state), true);
                }
            }
            Progress::Gathering(_) | Progress::Discarding(Some(_)) => self.refuse(core, &arrived, Refusal::Size),
            Progress::Discarding(None) => {}
        }
        if let Some(conn) = self.conns.get_mut(slot as usize) {
            let forced = ErrorCondition::new("amqp:connection:forced", "Message size exceeded");
            // As with the old router the delivery and the connection say why, and the link, which clients take amiss, does
            // not.
            conn.endpoint.detach(arrived.link, true, None);
            conn.endpoint.close(Some(forced));
        }
    }

    /// So much of the delivery as came is worth nothing.
    fn abandon(&mut self, core: &mut Core<Self>, incoming: Incoming) {
        match incoming.progress {
            Progress::Streaming(streaming) => {
                streaming.feed.abort();
                let key = streaming.key;
                self.end_feeding(streaming);
                core.aborted(self.now, self, key);
            }
            Progress::Gathering(_) | Progress::Discarding(Some(_)) => {
                core.discarded(self.now, self, incoming.arrived.key);
            }
            Progress::Discarding(None) => {}
        }
    }

    /// What to do with a message of which so many bytes are there and more will come.
    fn gathered(
        &mut self,
        core: &mut Core<Self>,
        slot: u32,
        arrived: &mut Arrived<'_>,
        gathered: Gathered,
    ) -> Progress {
        let Some(conn) = self.conns.get(slot as usize) else { return Progress::Discarding(None) };
        let Gathered { bytes, waits } = gathered;
        let control = conn.links.get(arrived.link.0 as usize).is_some_and(|link| link.control);
        let held = conn.gathered.saturating_add(bytes.len());
        if control && held <= CONTROL_MAX {
            return Progress::Gathering(Gathered { bytes, waits });
        }
        let large =
            (arrived.tag.is_some() && !bytes.is_empty()) || bytes.len() >= STREAM_FROM || conn.gathered > GATHERED_MAX;
        // A router may say that a message is not to be waited for; nobody else's word counts.
        if !large && (waits || !conn.at.peer) {
            return Progress::Gathering(Gathered { bytes, waits });
        }
        let progress = match self.examine(slot, arrived, &bytes, false) {
            Err(refusal) => Progress::Discarding(Some(refusal)),
            Ok(examined) if examined.sufficient && (large || examined.router.stream) => {
                self.begin_stream(core, slot, arrived, &examined, &bytes)
            }
            Ok(_) if bytes.len() > HEAD_MAX => Progress::Discarding(Some(Refusal::Format)),
            Ok(Examined { sufficient: false, .. }) if held > UNFINISHED_MAX => {
                Progress::Discarding(Some(Refusal::Unfinished))
            }
            Ok(Examined { sufficient, .. }) => return Progress::Gathering(Gathered { bytes, waits: sufficient }),
        };
        self.keep_spare(bytes);
        progress
    }

    /// Logs that a message is not waited for.
    fn log_stream(&mut self, core: &mut Core<Self>, slot: u32, arrived: &Arrived<'_>, bytes: &[u8]) {
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        conn.message_came(arrived.link, bytes);
        if logging::enabled(logging::Module::Router, logging::Level::Debug) {
            let link = core.link_id(arrived.key).unwrap_or_default();
            let user = conn.user().unwrap_or("(null)");
            logging::log!(
                ROUTER,
                Debug,
                "[C{}][L{link}] Incoming message classified as streaming. User:{user}",
                conn.id
            );
        }
    }

    /// Offers a message whose end has not come.
    fn begin_stream(
        &mut self,
        core: &mut Core<Self>,
        slot: u32,
        arrived: &mut Arrived<'_>,
        examined: &Examined<'_>,
        bytes: &[u8],
    ) -> Progress {
        self.log_stream(core, slot, arrived, bytes);
        let Some(conn) = self.conns.get(slot as usize) else { return Progress::Discarding(None) };
        let Some(session) = conn.endpoint.link(arrived.link).map(|link| link.session) else {
            return Progress::Discarding(None);
        };
        let link = conn.link_ref(arrived.link);
        let layout = examined.layout;
        let logged = conn.watched_part(bytes);
        let head = Head { layout, annotations: layout.annotations(bytes).into(), logged: logged.into() };
        let origin = Box::new(Resumption { shared: Arc::clone(&self.shared), link });
        let (feed, reader) = stream(head, bytes, origin);
        // What goes on as it is has no exchange to come to.
        let subject = if arrived.tag.is_some() { None } else { subject(bytes).map(Box::from) };
        self.offered = Offered::Kept { content: Content::Stream(reader), subject };
        let answer = self.offer(core, arrived, examined, false);
        self.offered = Offered::Nothing;
        match answer {
            Answer::Tracked(key) => {
                self.track(slot, arrived, key);
                if let Some(conn) = self.conns.get_mut(slot as usize) {
                    conn.streams.push(link.link);
                    // It does not lag, whatever others do.
                    conn.endpoint.hold_session(session, Hold::Lag, false);
                }
                Progress::Streaming(Streaming { feed, key, link, session, lags: false })
            }
            Answer::Done => Progress::Discarding(None),
        }
    }
}

/// A further frame of a delivery had a state. Where nothing may be changed it goes out with a further frame, too.
#[cold]
fn further_state(incoming: &mut Incoming, state: DeliveryState) {
    match &incoming.progress {
        Progress::Streaming(streaming) if incoming.arrived.tag.is_some() => streaming.feed.say(state),
        _ => incoming.arrived.state = Some(state),
    }
}

/// Where in the buffer a part of it begins; `None` if it is no part of it.
#[inline]
fn offset_in(buffer: &[u8], part: &[u8]) -> Option<usize> {
    let offset = (part.as_ptr() as usize).checked_sub(buffer.as_ptr() as usize)?;
    (offset + part.len() <= buffer.len()).then_some(offset)
}
