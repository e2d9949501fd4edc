//! What a peer did wrong, and what has to end for it (part 2, sections 2.8.15 to 2.8.18).

use amqp::ErrorCondition;

use crate::Event;

/// A breach of the rules, at the level that it ends.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The link with this index.
    Link(u32, ErrorCondition),
    /// The session with this index.
    Session(u32, ErrorCondition),
    Connection(ErrorCondition),
}

/// What handling a frame comes to: perhaps an event.
pub(crate) type Handled<'a> = Result<Option<Event<'a>>, Fault>;

impl Fault {
    #[cold]
    pub(crate) fn link(link: u32, condition: &str, text: impl Into<String>) -> Self {
        Self::Link(link, ErrorCondition::new(condition, text))
    }

    #[cold]
    pub(crate) fn session(session: u32, condition: &str, text: impl Into<String>) -> Self {
        Self::Session(session, ErrorCondition::new(condition, text))
    }

    #[cold]
    pub(crate) fn connection(condition: &str, text: impl Into<String>) -> Self {
        Self::Connection(ErrorCondition::new(condition, text))
    }
}
