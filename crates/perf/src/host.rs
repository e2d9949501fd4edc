//! What the core asks for, done on connections in memory.

use amqp::terminus::{Source, TargetTerminus};
use amqp::{DeliveryState, ErrorCondition};
use amqp_endpoint::{AttachAnswer, Connection, LinkId, NewDelivery, NewLink, Now, SessionId};
use router_core::{
    ConnKey, Core, Host, Level, LinkKey, LinkTerms, Module, NetworkEvent, OpenLink, OutKey, SubscriberDelivery,
    SubscriberId, Transmit, Transmitted,
};
use std::fmt::Arguments;
use std::ops::Range;
use std::sync::Arc;

/// A link: its connection's place, and its number there.
pub(crate) type LinkRef = (usize, LinkId);

/// A connection as the router sees it.
pub(crate) struct Conn {
    pub(crate) endpoint: Connection,
    pub(crate) key: Option<ConnKey>,
    /// For links of the router's own.
    pub(crate) session: Option<SessionId>,
    /// Its sender leaves the address to each message.
    pub(crate) anonymous: bool,
}

/// The connections, and the message that is being offered to the core.
#[derive(Default)]
pub(crate) struct Connections {
    pub(crate) conns: Vec<Conn>,
    /// What was read last.
    pub(crate) buffer: Arc<Vec<u8>>,
    /// Where in it the message is.
    pub(crate) offered: Range<usize>,
    /// Links that the core wants attached.
    openings: Vec<(usize, LinkKey, OpenLink)>,
}

impl Connections {
    /// Attaches the links that the core has asked for.
    pub(crate) fn open_links(&mut self, core: &mut Core<Self>, now: Now) {
        for (conn, key, link) in std::mem::take(&mut self.openings) {
            let Conn { endpoint, session, .. } = &mut self.conns[conn];
            let session =
                *session.get_or_insert_with(|| endpoint.begin_session().unwrap_or_else(|error| panic!("{error}")));
            let new = NewLink {
                name: link.name,
                sender: !link.incoming,
                snd_settle_mode: link.terms.snd_settle_mode,
                rcv_settle_mode: link.terms.rcv_settle_mode,
                source: link.source,
                target: link.target,
                max_message_size: link.terms.max_message_size,
                offered_capabilities: link.terms.offered_capabilities,
                desired_capabilities: link.terms.desired_capabilities,
                properties: link.terms.properties,
            };
            let link = endpoint.attach(session, new).unwrap_or_else(|error| panic!("no link: {error}"));
            endpoint.set_link_context(link, key.0);
            core.link_opened(now, self, key, (conn, link));
        }
    }
}

impl Host for Connections {
    type Conn = usize;
    type Link = LinkRef;
    type Content = Arc<[u8]>;

    fn attach_answer(&mut self, link: LinkRef, source: Option<Source>, target: Option<TargetTerminus>) {
        self.conns[link.0].endpoint.attach_answer(link.1, source, target, None);
    }

    fn answer_routed(
        &mut self,
        link: LinkRef,
        source: Option<Source>,
        target: Option<TargetTerminus>,
        terms: LinkTerms,
    ) {
        let answer = AttachAnswer {
            source,
            target,
            max_message_size: terms.max_message_size,
            offered_capabilities: terms.offered_capabilities,
            desired_capabilities: terms.desired_capabilities,
            properties: terms.properties,
            settle_modes: Some((terms.snd_settle_mode, terms.rcv_settle_mode)),
        };
        self.conns[link.0].endpoint.answer_attach(link.1, answer);
    }

    fn open_link(&mut self, conn: Self::Conn, key: LinkKey, link: OpenLink) -> LinkRef {
        self.openings.push((conn, key, link));
        (conn, LinkId(u32::MAX))
    }

    fn network(&mut self, _: NetworkEvent<'_>) {}

    fn detach(&mut self, link: LinkRef, closed: bool, error: Option<ErrorCondition>) {
        self.conns[link.0].endpoint.detach(link.1, closed, error);
    }

    fn add_credit(&mut self, link: LinkRef, credit: u32) {
        self.conns[link.0].endpoint.add_credit(link.1, credit);
    }

    fn drain(&mut self, link: LinkRef, drain: bool) {
        self.conns[link.0].endpoint.drain(link.1, drain);
    }

    fn drained(&mut self, link: LinkRef) {
        self.conns[link.0].endpoint.drained(link.1);
    }

    fn retain(&mut self) -> Self::Content {
        self.buffer[self.offered.clone()].into()
    }

    fn transmit(
        &mut self,
        link: LinkRef,
        key: OutKey,
        content: Option<&Self::Content>,
        how: &Transmit<'_>,
    ) -> Transmitted {
        let bytes = content.map_or(&self.buffer[self.offered.clone()], |content| &**content);
        let own_tag = how.own_tag();
        let tag = how.routed_tag.unwrap_or(own_tag.as_bytes());
        let delivery =
            NewDelivery { key: key.0, tag, message_format: 0, settled: how.settled, state: None, manner: how.manner };
        let sent = self.conns[link.0].endpoint.try_send(link.1, &delivery, &[bytes]);
        assert!(sent, "the receiver has credit and window enough in every scenario");
        Transmitted::Complete
    }

    fn abort(&mut self, link: LinkRef, _key: OutKey) {
        self.conns[link.0].endpoint.abort_delivery(link.1);
    }

    fn update_incoming(&mut self, link: LinkRef, delivery_id: u32, state: Option<DeliveryState>, settled: bool) {
        self.conns[link.0].endpoint.update_incoming(link.1, delivery_id, state, settled);
    }

    fn update_outgoing(&mut self, link: LinkRef, key: OutKey, state: Option<DeliveryState>, settled: bool) {
        self.conns[link.0].endpoint.update_outgoing(link.1, key.0, state, settled);
    }

    fn to_subscriber(
        &mut self,
        _subscriber: SubscriberId,
        _content: Option<&Self::Content>,
        _from: &SubscriberDelivery,
    ) -> Result<(), ErrorCondition> {
        Ok(())
    }

    fn log_enabled(&self, _module: Module, _level: Level) -> bool {
        false
    }

    fn log(&mut self, _module: Module, _level: Level, _text: Arguments<'_>) {}
}
