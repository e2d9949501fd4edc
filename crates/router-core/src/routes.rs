//! What the routing protocol tells the core: routers, how they are reached, and what addresses have consumers there.

use amqp::terminus::{Source, TargetTerminus};

use crate::core::Core;
use crate::{ConnKey, Host, LinkKey, Now, Route, RouterIndex, SubscriberId, Treatment};

impl<H: Host> Core<H> {
    /// A router was heard of.
    pub fn add_router(&mut self, now: Now, _host: &mut H, _router: RouterIndex, _id: &str) {
        self.tick(now);
    }

    /// A router is gone: its addresses are withdrawn, and deliveries on their way there resolved.
    pub fn remove_router(&mut self, now: Now, _host: &mut H, _router: RouterIndex) {
        self.tick(now);
    }

    /// How a router is reached from now on; `None`: it is not.
    pub fn set_route(&mut self, now: Now, _host: &mut H, _router: RouterIndex, _route: Option<Route>) {
        self.tick(now);
    }

    /// The largest number of hops between this router and another. Messages that passed more routers are in a loop.
    pub fn set_radius(&mut self, _radius: u32) {}

    /// An address has consumers on another router. `treatment` is that router's; this router's configuration goes first.
    pub fn add_remote_address(
        &mut self,
        now: Now,
        _host: &mut H,
        _router: RouterIndex,
        _key: &str,
        _treatment: Option<Treatment>,
    ) {
        self.tick(now);
    }

    /// An address has no consumers on another router any more.
    pub fn remove_remote_address(&mut self, now: Now, _host: &mut H, _router: RouterIndex, _key: &str) {
        self.tick(now);
    }

    /// No address has consumers on another router any more, until it is told anew.
    pub fn flush_remote_addresses(&mut self, now: Now, _host: &mut H, _router: RouterIndex) {
        self.tick(now);
    }

    /// Subscribes to an address of the routing protocol, such as `Lqdhello` or `Tqdrouter`: it takes only what comes in on
    /// control links.
    pub fn subscribe_control(&mut self, now: Now, host: &mut H, key: &str) -> SubscriberId {
        self.subscribe(now, host, key)
    }

    /// Sends a message of the routing protocol, settled, on control links: to one neighbour, or to wherever `to` leads.
    /// False: nobody is there.
    pub fn send_control(
        &mut self,
        now: Now,
        _host: &mut H,
        _to: &str,
        _on: Option<ConnKey>,
        _content: H::Content,
    ) -> bool {
        self.tick(now);
        false
    }

    /// A link that the core asked for with [`Host::open_link`] has been attached: the host's reference to it.
    pub fn link_opened(&mut self, now: Now, _host: &mut H, _link: LinkKey, _at: H::Link) {
        self.tick(now);
    }

    /// The peer has answered the attach of a link of the router's own. A refusal has the peer's terminus null, and a
    /// detach follows.
    pub fn attach_answered(
        &mut self,
        now: Now,
        _host: &mut H,
        _link: LinkKey,
        _source: Option<Source>,
        _target: Option<TargetTerminus>,
    ) {
        self.tick(now);
    }
}
