//! What a router attaches and sends itself.

use super::*;

impl Mesh {
    /// A link that an edge router attaches on its uplink.
    pub(crate) fn open_uplink(
        &mut self,
        edge: usize,
        to: usize,
        address: Option<&str>,
        incoming: bool,
        bound: Bound,
    ) -> LinkKey {
        self.open_uplink_with(edge, to, address, &[], incoming, bound)
    }

    pub(crate) fn open_uplink_with(
        &mut self,
        edge: usize,
        to: usize,
        address: Option<&str>,
        capabilities: &[&str],
        incoming: bool,
        bound: Bound,
    ) -> LinkKey {
        let conn = self.connection(edge, to);
        let mut source = Source::default();
        let mut target = Target::default();
        let capabilities: Vec<Symbol> = capabilities.iter().map(|text| Symbol::from(*text)).collect();
        if incoming {
            (source.address, source.capabilities) = (address.map(str::to_owned), capabilities);
        } else {
            (target.address, target.capabilities) = (address.map(str::to_owned), capabilities);
        }
        let open = OpenLink {
            name: "qdlink.uplink".into(),
            incoming,
            class: LinkClass::Endpoint,
            source: Some(source),
            target: Some(TargetTerminus::Target(target)),
            terms: LinkTerms::default(),
        };
        let Router { core, host, .. } = &mut self.routers[edge];
        let link = core.open_own_link(self.now, host, conn, open, bound, None).expect("open");
        self.settle();
        link
    }

    /// Sends a message from within a router.
    pub(crate) fn send_local(&mut self, router: usize, to: &str) -> bool {
        let message = Arc::new(Message::new(self.next_message, Some(to), 4));
        self.next_message += 1;
        let Router { core, host, .. } = &mut self.routers[router];
        let sent = core.send_local(self.now, host, to, message);
        self.settle();
        sent
    }

    /// Sends a message of the routing protocol; its number.
    pub(crate) fn send_control(&mut self, router: usize, to: &str, on: Option<ConnKey>) -> u64 {
        let number = self.next_message;
        let message = Arc::new(Message::new(number, Some(to), 4));
        self.next_message += 1;
        let Router { core, host, .. } = &mut self.routers[router];
        assert!(core.send_control(self.now, host, to, on, message), "nobody is there");
        self.settle();
        number
    }

    pub(crate) fn subscribe_control(&mut self, key: &str) {
        for Router { core, host, .. } in &mut self.routers {
            core.subscribe_control(self.now, host, key);
        }
        self.settle();
    }

    /// How often a message came to a subscriber of each router.
    pub(crate) fn subscribed(&self, number: u64) -> Vec<usize> {
        let count = |router: &Router| router.host.subscribed.iter().filter(|(_, got)| *got == number).count();
        self.routers.iter().map(count).collect()
    }
}
