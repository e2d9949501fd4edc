//! Where reports get their entities from: the management node of one router.

use amqp::Value;
use management::Attributes;
use management::client::{Refusal, Request, Table};
use management::schema::PREFIX;

use crate::client::{Client, ClientError, Node};

/// The management node of one router, and how much is wanted from it.
pub struct Source<'c> {
    /// The connection.
    pub client: &'c mut Client,
    /// The node.
    pub node: Node,
    /// At most so many rows; 0 for all.
    pub limit: usize,
    /// More columns.
    pub verbose: bool,
}

impl Source<'_> {
    /// The router itself.
    ///
    /// # Errors
    /// If the router does not answer, or refuses.
    pub fn router(&mut self) -> Result<Attributes, ClientError> {
        Ok(self.all_entities("router")?.into_iter().next().unwrap_or_default())
    }

    /// Entities of a type (its short name), as many as are wanted. A type that the router does not know has none.
    ///
    /// # Errors
    /// As [`Source::router`].
    pub fn entities(&mut self, short_type: &str) -> Result<Vec<Attributes>, ClientError> {
        self.rows(short_type).map(Table::into_entities)
    }

    /// As [`Source::entities`], however many there are.
    ///
    /// # Errors
    /// As [`Source::router`].
    pub fn all_entities(&mut self, short_type: &str) -> Result<Vec<Attributes>, ClientError> {
        self.query(short_type, 0).map(Table::into_entities)
    }

    /// As [`Source::entities`], with the columns that the router has.
    ///
    /// # Errors
    /// As [`Source::router`].
    pub fn rows(&mut self, short_type: &str) -> Result<Table, ClientError> {
        self.query(short_type, self.limit)
    }

    /// The newest entries of the log.
    ///
    /// # Errors
    /// As [`Source::router`].
    pub fn log(&mut self) -> Result<Value, ClientError> {
        let request = Request::node("GET-LOG");
        let limit = i64::try_from(self.limit).unwrap_or(i64::MAX);
        self.node.call(self.client, if limit > 0 { request.with("limit", limit) } else { request })
    }

    fn query(&mut self, short_type: &str, limit: usize) -> Result<Table, ClientError> {
        match self.node.query(self.client, Some(&format!("{PREFIX}{short_type}")), &[], limit) {
            Err(ClientError::Refused(Refusal { description, .. })) if is_unknown_type(&description) => {
                Ok(Table::default())
            }
            other => other,
        }
    }
}

/// How a router says that it does not know a type: what an older one answers to a newer tool.
fn is_unknown_type(description: &str) -> bool {
    description.starts_with("No such entity type")
}
