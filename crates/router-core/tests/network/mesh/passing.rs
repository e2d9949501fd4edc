//! What cores ask for, done: links between routers, deliveries and outcomes on their way.

use super::*;

impl Mesh {
    pub(super) fn offer(
        &mut self,
        router: usize,
        link: u32,
        message: Message,
        settled: bool,
        from: Option<(usize, OutKey)>,
    ) {
        let record = &mut self.routers[router];
        let id = record.next_delivery;
        record.next_delivery += 1;
        let Some(&key) = record.links.keys.get(&link) else { return };
        record.host.offered = Some(message.clone());
        let annotations = message.router();
        let offer = Offer {
            delivery_id: id,
            settled,
            complete: message.is_complete(),
            to: message.to.as_deref(),
            to_override: annotations.to,
            phase: (annotations.phase != 0).then_some(annotations.phase),
            ingress: annotations.ingress,
            trace: annotations.trace,
            priority: message.priority,
            state: None,
            stamp: 0,
            tag: None,
            manner: Default::default(),
        };
        record.offered.insert(id, Offering { from, key: None, message: message.number });
        let offered = record.core.deliver(self.now, &mut record.host, key, offer);
        record.host.offered = None;
        if let Offered::Tracked(key) = offered
            && let Some(kept) = record.offered.get_mut(&id)
        {
            kept.key = Some(key);
        }
    }

    /// What was offered by `from` is there as a whole now.
    pub(super) fn received_rest(&mut self, router: usize, from: Option<(usize, OutKey)>, number: u64) {
        let record = &mut self.routers[router];
        let all = record.offered.values().filter(|offered| offered.from == from && offered.message == number);
        let keys: Vec<_> = all.filter_map(|offered| offered.key).collect();
        for key in keys {
            record.core.received(self.now, &mut record.host, key, false);
        }
    }

    /// Does what the cores have asked for until they ask for nothing more.
    pub(crate) fn settle(&mut self) {
        while let Some(router) = self.routers.iter().position(|router| !router.host.calls.is_empty()) {
            // Nothing is passed on before both sides of a connection know each other.
            for call in std::mem::take(&mut self.routers[router].host.calls) {
                self.pass(router, call);
            }
            self.finish_transmissions();
        }
        self.finish_transmissions();
    }

    pub(super) fn finish_transmissions(&mut self) {
        for router in 0..self.routers.len() {
            let done = self.routers[router].partial.iter().position(|(.., message)| message.is_complete());
            let Some(at) = done else { continue };
            let (link, key, message) = self.routers[router].partial.remove(at);
            let far = self.routers[router].links.far.get(&link).copied();
            if let Some(Far::Router(peer, _)) = far {
                self.received_rest(peer, Some((router, key)), message.number);
            }
            let record = &mut self.routers[router];
            record.core.transmitted(self.now, &mut record.host, key);
            return self.settle();
        }
    }

    pub(super) fn pass(&mut self, router: usize, call: Call) {
        let record = &mut self.routers[router];
        match call {
            Call::Open(conn, key, open) => self.open(router, conn, key, open),
            Call::Answer(link, source, target) => {
                if let Some(Far::Router(peer, far)) = record.links.far.get(&link).copied() {
                    let record = &mut self.routers[peer];
                    let key = record.links.keys[&far];
                    record.core.attach_answered(self.now, &mut record.host, key, source, target, LinkTerms::default());
                }
            }
            Call::Detach(link, closed, error) => {
                if let Some(Far::Router(peer, far)) = record.links.far.remove(&link) {
                    let record = &mut self.routers[peer];
                    record.links.far.remove(&far);
                    if let Some(key) = record.links.keys.remove(&far) {
                        record.core.detach(self.now, &mut record.host, key, closed, error);
                    }
                }
            }
            Call::Credit(link, credit) => {
                if let Some(Far::Router(peer, far)) = record.links.far.get(&link).copied() {
                    let record = &mut self.routers[peer];
                    let all = record.host.credit.entry(far).or_default();
                    *all += credit;
                    let (all, key) = (*all, record.links.keys[&far]);
                    record.core.credit(self.now, &mut record.host, key, all, false);
                }
            }
            Call::Transmit(link, key, message, settled) => self.transmit(router, link, key, message, settled),
            Call::Abort(link, key) => {
                record.partial.retain(|(_, partial, _)| *partial != key);
                if let Some(Far::Router(peer, _)) = record.links.far.get(&link).copied() {
                    let record = &mut self.routers[peer];
                    let offered = record.offered.values().find(|offered| offered.from == Some((router, key)));
                    if let Some(key) = offered.and_then(|offered| offered.key) {
                        record.core.aborted(self.now, &mut record.host, key);
                    }
                }
            }
            Call::Incoming(delivery, state, settled) => {
                let Offering { from, message: number, .. } = record.offered[&delivery];
                match from {
                    Some((peer, key)) => {
                        let record = &mut self.routers[peer];
                        record.core.outcome(self.now, &mut record.host, key, state, settled);
                    }
                    None => {
                        let before = self.told.insert(number, (state, settled));
                        assert!(!before.is_some_and(|(_, settled)| settled), "settled twice");
                    }
                }
            }
            Call::Outgoing(link, key, state, settled) => {
                if let Some(Far::Router(peer, _)) = record.links.far.get(&link).copied() {
                    let record = &mut self.routers[peer];
                    let offered = record.offered.values().find(|offered| offered.from == Some((router, key)));
                    if let Some(key) = offered.and_then(|offered| offered.key) {
                        record.core.sender_outcome(self.now, &mut record.host, key, state, settled);
                    }
                }
            }
        }
    }

    pub(super) fn open(&mut self, router: usize, conn: usize, key: LinkKey, open: OpenLink) {
        let record = &mut self.routers[router];
        record.next_link += 1;
        let link = record.next_link;
        record.links.keys.insert(link, key);
        record.links.conn.insert(link, conn);
        let Some(&Wire { peer, peer_conn, .. }) = record.wires.get(&conn) else { return };
        record.core.link_opened(self.now, &mut record.host, key, link);
        let far = &mut self.routers[peer];
        far.next_link += 1;
        let far_link = far.next_link;
        far.links.far.insert(far_link, Far::Router(router, link));
        far.links.conn.insert(far_link, peer_conn);
        let info = AttachInfo {
            name: open.name,
            incoming: !open.incoming,
            source: open.source,
            target: open.target,
            send_settled: false,
            terms: LinkTerms::default(),
        };
        let peer_key = far.conns[peer_conn].expect("both sides are open");
        let far_key = far.core.attach(self.now, &mut far.host, peer_key, far_link, info);
        far.links.keys.insert(far_link, far_key);
        self.routers[router].links.far.insert(link, Far::Router(peer, far_link));
    }

    pub(super) fn transmit(&mut self, router: usize, link: u32, key: OutKey, message: Message, settled: bool) {
        let record = &mut self.routers[router];
        let Some(far) = record.links.far.get(&link).copied() else { return };
        if !message.is_complete() {
            record.partial.push((link, key, message.clone()));
        }
        match far {
            Far::Router(peer, far) => self.offer(peer, far, message, settled, Some((router, key))),
            Far::Client => self.received.push(Received { receiver: Client { router, link }, key, message, settled }),
        }
    }
}
