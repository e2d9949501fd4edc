//! What a connection of a run does with its links. The worker does the rest.

use amqp::ErrorCondition;
use amqp_endpoint::{Connection, Event, SessionId};

use super::plan::Plan;
use super::shared::{Counters, Window};
use crate::client::Url;

/// What a connection does with its links.
pub(super) trait Party: Send {
    /// What all connections of a worker have in common.
    type Common: Send;

    /// Where its connections lead.
    fn url(plan: &Plan) -> &Url {
        &plan.connect.url
    }

    /// The session is there: attach the links.
    fn begin(&mut self, engine: &mut Connection, session: SessionId) -> Result<(), String>;

    /// Something happened on one of the links.
    fn event(
        &mut self,
        common: &mut Self::Common,
        engine: &mut Connection,
        event: Event<'_>,
        now: u64,
    ) -> Result<(), String>;

    /// Messages may be sent within this window.
    fn go(&mut self, _window: Window) {}

    /// Nothing new is to be sent.
    fn stop(&mut self) {}

    /// So many further links are wanted.
    fn attach(&mut self, _engine: &mut Connection, _count: usize) -> Result<(), String> {
        Ok(())
    }

    /// A message is due on a link.
    fn due(&mut self, _common: &mut Self::Common, _link: usize, _due: u64) {}

    /// Puts messages into the output; true if it only stopped because there is enough in it.
    fn produce(&mut self, _common: &mut Self::Common, _engine: &mut Connection, _now: &dyn Fn() -> u64) -> bool {
        false
    }

    /// Tells how far it got.
    fn report(common: &mut Self::Common, counters: &Counters, now: u64);
}

/// The sentence that ends a run when a link is refused or ends.
pub(super) fn link_ended(role: &str, address: &str, error: Option<&ErrorCondition>) -> String {
    match error {
        Some(error) => format!("the peer ended the link of a {role} of '{address}': {error}"),
        None => format!("the peer ended the link of a {role} of '{address}' without giving a reason"),
    }
}
