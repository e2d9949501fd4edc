//! Asking for many entities, a page at a time.

use super::reply::Table;
use super::request::Request;
use amqp::Value;

/// How many entities are asked for at a time, as the old tools do.
pub const PAGE: usize = 500;

/// A query that is sent in pages: while [`Pages::next`] has a request, send it and give the body of the reply to
/// [`Pages::take`].
#[derive(Debug)]
pub struct Pages {
    request: Request,
    /// How many entities are wanted at most; 0 is all.
    limit: usize,
    found: Table,
    complete: bool,
}

impl Pages {
    /// A query like [`Request::query`], for at most `limit` entities, or for all if that is 0.
    pub fn new(entity_type: Option<&str>, attributes: &[&str], limit: usize) -> Self {
        Pages { request: Request::query(entity_type, attributes), limit, found: Table::default(), complete: false }
    }

    /// The request for the next page; `None` if all pages are there.
    pub fn next(&self) -> Option<Request> {
        (!self.complete).then(|| self.request.clone().page(self.found.rows.len(), self.wanted()))
    }

    /// How many entities the next page should have.
    fn wanted(&self) -> usize {
        match self.limit {
            0 => PAGE,
            limit => limit.saturating_sub(self.found.rows.len()).min(PAGE),
        }
    }

    /// Takes the body of a reply. Says whether it is a page of a table; if not, the query is over.
    ///
    /// An agent that ignores offset and count sends everything at once: more or less than was asked for, or what it sent
    /// before once more. That ends the query too.
    #[must_use]
    pub fn take(&mut self, body: Value) -> bool {
        let Some(page) = Table::from_body(body) else {
            self.complete = true;
            return false;
        };
        let full = page.rows.len() == self.wanted();
        let repeated = !page.rows.is_empty() && self.found.rows.ends_with(&page.rows);
        if !repeated {
            self.found.columns = page.columns;
            self.found.rows.extend(page.rows);
        }
        self.complete = !full || repeated || (self.limit != 0 && self.found.rows.len() >= self.limit);
        true
    }

    /// All that was found; at most as many as were wanted.
    pub fn into_table(mut self) -> Table {
        if self.limit != 0 {
            self.found.rows.truncate(self.limit);
        }
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers from a number of entities; one agent honours offset and count, the other does not.
    fn ask(total: usize, limit: usize, honours_pages: bool) -> (usize, usize) {
        let mut pages = Pages::new(None, &["name"], limit);
        let mut requests = 0;
        while let Some(request) = pages.next() {
            requests += 1;
            let number = |name: &str| request.properties.get(name).and_then(Value::as_u64).unwrap() as usize;
            let (offset, count) = if honours_pages { (number("offset"), number("count")) } else { (0, total) };
            let rows = (0..total).skip(offset).take(count).map(|n| Value::List(vec![Value::Long(n as i64)]));
            let body = [("attributeNames", Value::List(vec!["name".into()])), ("results", Value::List(rows.collect()))];
            assert!(pages.take(Value::Map(body.into_iter().collect())));
        }
        (requests, pages.into_table().rows.len())
    }

    #[test]
    fn all_pages_are_asked_for() {
        assert_eq!(ask(1200, 0, true), (3, 1200));
    }

    #[test]
    fn a_full_last_page_is_followed_by_an_empty_one() {
        assert_eq!(ask(1000, 0, true), (3, 1000));
    }

    #[test]
    fn a_limit_is_not_exceeded() {
        assert_eq!(ask(1200, 700, true), (2, 700));
    }

    #[test]
    fn an_agent_that_ignores_pages_is_asked_once() {
        assert_eq!(ask(1200, 0, false), (1, 1200));
        assert_eq!(ask(3, 2, false), (1, 2));
    }

    #[test]
    fn an_agent_that_ignores_pages_and_has_just_one_page_is_noticed() {
        assert_eq!(ask(500, 0, false), (2, 500));
    }

    #[test]
    fn what_is_no_table_ends_the_query() {
        let mut pages = Pages::new(None, &[], 0);
        assert!(!pages.take(Value::Null));
        assert_eq!(pages.next(), None);
    }
}
