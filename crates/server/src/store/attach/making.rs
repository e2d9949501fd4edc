//! Queues that are made because a link wants them.

use amqp::ErrorCondition;
use amqp::condition::names;
use amqp::terminus::TargetTerminus;
use queue_core::{Applied, Command, Done, Lifetime, QueueSettings, Refused};

use crate::store::journal::Waiter;
use crate::store::links::{Destination, Link, Role, Side};
use crate::store::node::Node;
use crate::store::receive::condition;
use crate::store::wanted::{self, invalid, is_plain, not_plain};

/// Queues beyond which none are made because a client asks for them, so that nobody fills memory and start-up with them.
pub(in crate::store) const MOST_QUEUES: usize = 100_000;
/// Bytes of their addresses.
const MOST_ADDRESS: usize = 1024;

impl Node {
    /// The node that an attach names. `None`: it is being made, and the link is attached when it is there.
    pub(super) fn find_or_make(
        &mut self,
        link: u32,
        node: &wanted::Node,
        receives: bool,
    ) -> Result<Option<Destination>, ErrorCondition> {
        if let Some(lifetime) = node.dynamic {
            self.may_make("")?;
            self.make_dynamic(link, lifetime, receives);
            return Ok(None);
        }
        if let Some(found) = self.find(&node.address) {
            return Ok(Some(found));
        }
        let settings = self.settings_of_template(&node.address)?;
        self.make_queue(settings, Waiter::Attach { link });
        Ok(None)
    }

    /// What a queue is to be like that a client needs at an address.
    pub(in crate::store) fn settings_of_template(&self, address: &str) -> Result<QueueSettings, ErrorCondition> {
        match self.templates.best(address) {
            Some(_) if !is_plain(address) => Err(ErrorCondition::new(names::INVALID_FIELD, not_plain(address))),
            Some(template) => {
                self.may_make(address)?;
                Ok(QueueSettings { address: address.into(), ..template })
            }
            None => Err(ErrorCondition::new(
                names::NOT_FOUND,
                format!(
                    "There is no queue or topic '{address}' here: declare it with a queue, topic or queueTemplate entity"
                ),
            )),
        }
    }

    /// Whether there may be one more queue that a client has made, of this address.
    pub(super) fn may_make(&self, address: &str) -> Result<(), ErrorCondition> {
        if address.len() > MOST_ADDRESS {
            let text = format!(
                "The address of a queue has at most {MOST_ADDRESS} bytes; a subscription's has its names in it"
            );
            return Err(invalid(text));
        }
        let count: usize = self.brokers.iter().map(queue_core::Broker::queue_count).sum();
        if count < self.most_queues {
            return Ok(());
        }
        let text = format!("There are {count} queues already, and no more are made for clients: delete some");
        Err(ErrorCondition::new(names::RESOURCE_LIMIT_EXCEEDED, text))
    }

    /// Has a queue made.
    pub(in crate::store) fn make_queue(&mut self, settings: QueueSettings, waiter: Waiter) {
        let side = Side::of(settings.durable);
        self.submit_declaration(side, Command::CreateQueue(Box::new(settings)), waiter);
    }

    /// Has a queue made for one link, with a name that nobody can guess.
    fn make_dynamic(&mut self, link: u32, lifetime: Lifetime, receives: bool) {
        let address = self.dynamic_address();
        let owner = self.links.get(link as usize).filter(|_| lifetime == Lifetime::OnClose).map(|link| link.key.0);
        let settings = QueueSettings { durable: false, lifetime, owner, ..QueueSettings::new(&*address) };
        if let Some(Link { role: Role::Attaching(open), dynamic, .. }) = self.links.get_mut(link as usize) {
            *dynamic = true;
            match (receives, &mut open.source, &mut open.target) {
                (true, Some(source), _) => (source.dynamic, source.address) = (false, Some(address.to_string())),
                (false, _, Some(TargetTerminus::Target(target))) => {
                    (target.dynamic, target.address) = (false, Some(address.to_string()));
                }
                _ => {}
            }
        }
        self.make_queue(settings, Waiter::Attach { link });
    }

    /// Whether the node of a link was made for it: the answer says so (part 3 of the specification, sections 3.5.3 and 3.5.4).
    pub(super) fn made_node(&self, link: u32) -> bool {
        self.links.get(link as usize).is_some_and(|link| link.dynamic)
    }

    /// An address that nobody uses.
    fn dynamic_address(&self) -> String {
        loop {
            let address = format!("{}dynamic.{}", self.prefix, crate::boot::random_text());
            if self.find(&address).is_none() {
                return address;
            }
        }
    }

    /// What became of a node that a link waits for.
    pub(in crate::store) fn node_made(&mut self, link: u32, applied: &Applied) {
        match applied {
            // Somebody else had the same wish, or another one is to take its place.
            Ok(Done::Created(_) | Done::Deleted) | Err(Refused::Exists(_) | Refused::NoQueue) => self.attach(link),
            Ok(_) => {}
            Err(refused) => self.cannot_attach(link, condition(refused)),
        }
    }

    /// What a link waits for cannot be.
    pub(in crate::store) fn cannot_attach(&mut self, link: u32, error: ErrorCondition) {
        if let Some(Link { role: Role::Attaching(open), .. }) = self.links.get(link as usize) {
            let open = open.clone();
            self.refuse_link(link, &open, error);
        }
    }
}
