//! Making frames fit that would be too large for the peer, by leaving out what is only said for information.

use amqp::performative::Performative;
use amqp::{DeliveryState, ErrorCondition};

/// Leaves out what explains an error; false if nothing is left to leave out.
pub(crate) fn performative(performative: &mut Performative<'_>) -> bool {
    match performative {
        Performative::Detach(detach) => detach.error.as_mut().is_some_and(error),
        Performative::End(end) => end.error.as_mut().is_some_and(error),
        Performative::Close(close) => close.error.as_mut().is_some_and(error),
        _ => false,
    }
}

/// Leaves out what a state says beyond its kind; false if nothing is left to leave out.
pub(crate) fn state(state: &mut DeliveryState) -> bool {
    match state {
        DeliveryState::Rejected(Some(rejected)) => error(rejected),
        DeliveryState::Modified(modified) => modified.message_annotations.take().is_some(),
        _ => false,
    }
}

/// First the information for programs goes, then the text.
fn error(error: &mut ErrorCondition) -> bool {
    error.info.take().is_some() || error.description.take().is_some()
}
