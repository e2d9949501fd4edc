//! Mail that a shard gets, put into effect on its connections.

use std::collections::VecDeque;

use amqp_endpoint::{LinkId, NewDelivery};
use router_core::{Core, Host, OutKey};

use super::host::ShardHost;
use super::mailbox::{Batch, Mail, Order};
use super::outgoing::{Delivery, Tag};
use super::place::LinkRef;
use crate::content::{Content, Layout};

/// What the shard itself is to do.
pub(super) type Orders = VecDeque<Order>;

impl ShardHost {
    /// Puts a batch into effect; what the shard itself has to do is left in `orders`.
    pub(super) fn receive(&mut self, core: &mut Core<Self>, batch: &mut Batch, orders: &mut Orders) {
        let Batch { mail, bytes } = batch;
        for item in mail.drain(..) {
            self.receive_one(core, item, bytes, orders);
        }
        self.report(core);
        batch.clear();
    }

    fn receive_one(&mut self, core: &mut Core<Self>, mail: Mail, bytes: &[u8], orders: &mut Orders) {
        match mail {
            Mail::Send { link, key, tag, message_format, settled, start, size } => {
                let message = bytes.get(start as usize..start as usize + size as usize).unwrap_or_default();
                self.send(link, key, &tag, message_format, settled, message);
            }
            Mail::Deliver { link, delivery } => self.deliver(link, delivery),
            // For these the core speaks through the mail: it is as if it called now.
            Mail::Abort { link, key } => Host::abort(self, link, key),
            Mail::UpdateIncoming { link, delivery_id, state, settled } => {
                Host::update_incoming(self, link, delivery_id, state, settled);
            }
            Mail::UpdateOutgoing { link, key, state, settled } => {
                Host::update_outgoing(self, link, key, state, settled)
            }
            Mail::AddCredit { link, credit } => Host::add_credit(self, link, credit),
            Mail::Drain { link, drain } => Host::drain(self, link, drain),
            Mail::HoldUp { link, hold } => Host::hold_up(self, link, hold),
            Mail::Drained { link } => Host::drained(self, link),
            Mail::AttachAnswer { link, source, target } => {
                Host::attach_answer(self, link, source.map(|source| *source), target.map(|target| *target));
            }
            Mail::AnswerRouted { link, answer } => {
                let (source, target, terms) = *answer;
                Host::answer_routed(self, link, source, target, terms);
            }
            Mail::Detach { link, closed, error } => Host::detach(self, link, closed, error.map(|error| *error)),
            Mail::OpenLink(opening) => self.openings.push_back(*opening),
            Mail::LookedUp { link, token, verdict } => self.looked_up(core, link, token, verdict),
            Mail::Grown { link } => self.grown(link),
            Mail::Resume { link } => self.resume(link),
            Mail::PokeSasl(conn) => self.poke_sasl(core, conn),
            Mail::SayWithFlow { link, properties } => Host::say_with_flow(self, link, *properties),
            Mail::LookDeeper { link } => Host::look_deeper(self, link),
            Mail::Authorised(conn, authorised) => {
                if let Some(conn) = self.conn(conn) {
                    conn.authorised = Some(authorised);
                }
            }
            // It is pumped at the end of the turn.
            Mail::Store => {}
            Mail::CloseAll(error) => self.close_all(&error),
            Mail::Drop(conn) => self.drop_now(core, conn),
            Mail::Trace { conn, on } => self.trace(conn, on),
            Mail::Order(order) => orders.push_back(order),
        }
    }

    /// A small message.
    fn send(&mut self, link: LinkRef, key: OutKey, tag: &Tag, message_format: u32, settled: bool, message: &[u8]) {
        let Some(conn) = self.touch(link.conn) else { return };
        let id = LinkId(link.link);
        let new = NewDelivery {
            key: key.0,
            tag: tag.bytes(),
            message_format,
            settled,
            state: None,
            manner: Default::default(),
        };
        if conn.may_send_now(link.link) && conn.endpoint.try_send(id, &new, &[message]) {
            conn.message_sent(id, message);
        } else {
            let content = Content::whole(message, Layout::plain(message_format));
            self.deliver(link, Box::new(Delivery::new(key, tag.clone(), settled, content, None)));
        }
    }

    /// Any other message.
    fn deliver(&mut self, link: LinkRef, delivery: Box<Delivery>) {
        if let Some(conn) = self.touch(link.conn) {
            conn.wait(LinkId(link.link), delivery);
            self.grown(link);
        }
    }
}
