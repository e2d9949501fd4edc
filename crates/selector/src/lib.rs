//! Does this message satisfy this expression? Message selectors: the conditional expressions of SQL-92 as JMS 1.1
//! (section 3.8.1.1) has them, parsed once and evaluated on the encoded sections of an AMQP message.
//!
//! ```
//! let selector = selector::Selector::parse("colour = 'red' AND weight BETWEEN 2 AND 5")?;
//! assert!(!selector.matches(b""));
//! # Ok::<(), selector::ParseError>(())
//! ```
//!
//! # What an identifier means
//! - `colour`: the application property of that name. A name that is not a plain word stands in double quotes:
//!   `"content-language"`.
//! - `amqp.priority`, `amqp.subject`, …: fields of the header and the properties section; `JMSPriority`,
//!   `JMSCorrelationID`, …: the same under the names of JMS ([`names`] lists them all).
//! - `m.name`, or `"m.x-opt-name"`: the message annotation of that name.
//!
//! # What always holds
//! - Logic has three values: what compares with something that the message has not is unknown, and a message
//!   for which the whole is unknown does not match.
//! - Parsing bounds length, depth and the number of names; evaluation allocates nothing, and takes a bounded number of
//!   steps beside one pass over the message's sections.
//!
//! This crate deliberately knows nothing of queues, links and filters.
#![forbid(unsafe_code)]

mod error;
mod evaluate;
mod expression;
mod fields;
mod like;
mod literal;
mod logic;
mod name;
mod operand;
mod parse;
mod view;

pub use error::ParseError;
pub use name::names;

use expression::Condition;
use fields::Names;

/// Bytes that the text of a selector may have.
pub const MAX_LENGTH: usize = 16 * 1024;

/// How deep parentheses, `NOT` and signs may nest.
pub const MAX_DEPTH: usize = 64;

/// How many different application properties, and how many different annotations, a selector may name.
pub const MAX_NAMES: usize = 64;

/// A parsed expression.
#[derive(Clone, Debug)]
pub struct Selector {
    text: Box<str>,
    condition: Condition,
    application: Names,
    annotations: Names,
}

/// What is known of a message beside its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// How often delivery was tried before, if it is another number than the one in the message's header: a queue
    /// counts without touching the message.
    pub delivery_count: Option<u32>,
}

impl Selector {
    /// Reads an expression. An empty one, or one of white space only, matches every message.
    ///
    /// # Errors
    /// If it is not one: where, what was expected there, and what to write.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        parse::selector(text)
    }

    /// The text that it was parsed from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the expression is true for the message whose encoded sections these are. The sections up to the body are
    /// enough. A message whose sections are malformed does not match.
    pub fn matches(&self, message: &[u8]) -> bool {
        self.matches_with(message, &Context::default())
    }

    /// As [`Selector::matches`], with what is known beside the bytes.
    pub fn matches_with(&self, message: &[u8], context: &Context) -> bool {
        evaluate::matches(self, message, context)
    }
}

impl PartialEq for Selector {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Selector {}
