//! Deliveries in several frames: gathered until they are complete, or large enough to be streamed.

use std::sync::Arc;

use amqp::{DeliveryState, ErrorCondition};
use amqp_endpoint::{Hold, IncomingTransfer, LinkId};
use router_core::{Core, Offered as Answer};

use super::Arrived;
use crate::content::{Content, Examined, Head, Refusal, stream, subject};
use crate::shard::feeding::{Resumption, Streaming};
use crate::shard::host::{Offered, ShardHost};

/// Bytes of a message that is not complete from which on it is streamed; the old router's "Q2".
const STREAM_FROM: usize = 128 * 1024;
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
pub(in crate::shard) struct Incoming {
    arrived: Arrived<'static>,
    pub(in crate::shard) progress: Progress,
    /// Bytes that have come.
    size: u64,
}

/// What is done with the frames.
pub(in crate::shard) enum Progress {
    /// They are put together.
    Gathering(Gathered),
    /// They go to the readers.
    Streaming(Streaming),
    /// They are thrown away. At the end the message is refused for this reason, if there is one.
    Discarding(Option<Refusal>),
}

/// So much as has come of a message.
#[derive(Default)]
pub(in crate::shard) struct Gathered {
    bytes: Vec<u8>,
    /// Its annotations are there, and do not ask for it to be passed on as it comes.
    waits: bool,
}

impl ShardHost {
    /// Keeps a gathering buffer for the next message.
    pub(super) fn keep_spare(&mut self, mut spare: Vec<u8>) {
        if spare.capacity() <= SPARE_MAX {
            spare.clear();
            self.spare = spare;
        }
    }

    /// The first of several frames.
    pub(super) fn begin(
        &mut self,
        core: &mut Core<Self>,
        slot: u32,
        transfer: IncomingTransfer<'_>,
        routed: bool,
        shares: bool,
    ) {
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
    pub(super) fn go_on(
        &mut self,
        core: &mut Core<Self>,
        slot: u32,
        mut incoming: Box<Incoming>,
        transfer: IncomingTransfer<'_>,
    ) {
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
    pub(in crate::shard) fn abandon_incoming(&mut self, core: &mut Core<Self>, slot: u32, link: LinkId) {
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        let Some(incoming) = conn.links.get_mut(link.0 as usize).and_then(|link| link.incoming.take()) else { return };
        self.account(slot, &incoming, false);
        self.abandon(core, *incoming);
    }

    /// More has come of a message than its sender may send: it is refused, and so is everything else from there.
    #[cold]
    pub(super) fn oversize(&mut self, core: &mut Core<Self>, slot: u32, arrived: Arrived<'_>, progress: Progress) {
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
