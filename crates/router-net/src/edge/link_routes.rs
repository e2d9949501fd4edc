//! Link routes that an edge router has its interior make, so that links to its containers find their way: requests to
//! the interior's management, and what has become of each.

use super::wire::{EdgeWireError, LINK_ROUTE_TYPE};
use crate::wide::{compound, header};
use amqp::codec::{encode, format};
use amqp::message::Message;
use amqp::{Value, descriptor, message};
use std::collections::BTreeMap;
use std::time::Duration;

/// What the interior is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkRouteRequest {
    /// `CREATE`
    Create {
        /// Its name, which says whose it is.
        name: String,
        /// The pattern of addresses.
        pattern: String,
        /// `in` or `out`.
        direction: &'static str,
    },
    /// `DELETE`
    Delete {
        /// Its name.
        name: String,
        /// The identity that the interior has given it, if it has.
        identity: Option<String>,
    },
}

impl LinkRouteRequest {
    /// The encoded message.
    pub fn encode(&self, reply_to: &str, correlation_id: &str) -> Vec<u8> {
        let mut out = Vec::with_capacity(384);
        header(&mut out);
        encode::descriptor(&mut out, descriptor::PROPERTIES);
        compound(&mut out, format::LIST32, |list| {
            list.value(encode::null).value(encode::null).value(encode::null).value(encode::null);
            list.value(|out| encode::string(out, reply_to)).value(|out| encode::string(out, correlation_id));
        });
        encode::descriptor(&mut out, descriptor::APPLICATION_PROPERTIES);
        compound(&mut out, format::MAP32, |map| match self {
            Self::Create { name, .. } => {
                map.text("operation", "CREATE").text("type", LINK_ROUTE_TYPE).text("name", name);
            }
            Self::Delete { name, identity } => {
                map.text("operation", "DELETE").text("type", LINK_ROUTE_TYPE);
                if let Some(identity) = identity {
                    map.text("identity", identity);
                }
                map.text("name", name);
            }
        });
        encode::descriptor(&mut out, descriptor::AMQP_VALUE);
        compound(&mut out, format::MAP32, |map| {
            if let Self::Create { name, pattern, direction } = self {
                map.text("type", LINK_ROUTE_TYPE).text("pattern", pattern);
                map.text("direction", direction).text("name", name);
            }
        });
        out
    }
}

/// What the interior's management has answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagementReply {
    /// The request's.
    pub correlation_id: String,
    /// Such as 201.
    pub status: i64,
    /// The identity of what was made.
    pub identity: Option<String>,
}

impl ManagementReply {
    /// Reads a whole message.
    ///
    /// # Errors
    /// If it is not such a message.
    pub fn decode(bytes: &[u8]) -> Result<Self, EdgeWireError> {
        let message = Message::decode(bytes)?;
        let status = message.application_properties.get("statusCode").and_then(Value::as_i64);
        let identity = match &message.body {
            message::Body::Value(Value::Map(map)) => map.get("identity").and_then(Value::as_text).map(str::to_owned),
            _ => None,
        };
        let correlation_id = message.properties.correlation_id;
        let correlation_id = correlation_id.as_ref().and_then(Value::as_text);
        Ok(Self {
            correlation_id: correlation_id.ok_or(EdgeWireError::Member("correlation-id"))?.to_owned(),
            status: status.ok_or(EdgeWireError::Member("statusCode"))?,
            identity,
        })
    }
}

/// The link routes of this edge router, and what the interior has of them.
#[derive(Clone, Debug, Default)]
pub(super) struct LinkRoutes {
    routes: BTreeMap<String, LinkRoute>,
    counter: u64,
}

#[derive(Clone, Debug, Default)]
struct LinkRoute {
    wanted: bool,
    /// The interior has made it, under this identity.
    made: Option<Option<String>>,
    /// A request that has not been answered: what it is known by, and until when it is waited for.
    asked: Option<(String, Duration)>,
    /// A failed request is not repeated before.
    not_before: Duration,
}

impl LinkRoutes {
    /// How long an answer is waited for, and how long after a failure the request is repeated.
    const TIMEOUT: Duration = Duration::from_secs(10);
    /// How long after a request that was not even taken it is repeated.
    const AGAIN: Duration = Duration::from_secs(1);

    /// A link route has a container here, or has none any more.
    pub(super) fn set(&mut self, key: &str, wanted: bool) {
        if wanted || self.routes.contains_key(key) {
            let route = self.routes.entry(key.to_owned()).or_default();
            route.wanted = wanted;
            route.not_before = Duration::ZERO;
        }
        self.sweep();
    }

    /// There is another interior, which knows nothing yet. Or none.
    pub(super) fn reset(&mut self) {
        for route in self.routes.values_mut() {
            *route = LinkRoute { wanted: route.wanted, ..LinkRoute::default() };
        }
        self.sweep();
    }

    /// The requests that are to go out now, and what each is known by.
    pub(super) fn requests(&mut self, now: Duration, edge: &str) -> Vec<(String, LinkRouteRequest)> {
        let mut requests = Vec::new();
        for (key, route) in &mut self.routes {
            if route.asked.as_ref().is_some_and(|(_, until)| *until <= now) {
                route.asked = None;
            }
            if route.asked.is_some() || route.wanted == route.made.is_some() || route.not_before > now {
                continue;
            }
            let name = format!("{edge}/proxyLinkRoute/{key}");
            let request = match &route.made {
                Some(identity) => LinkRouteRequest::Delete { name, identity: identity.clone() },
                None => {
                    let Some((pattern, direction)) = pattern_of(key) else { continue };
                    LinkRouteRequest::Create { name, pattern, direction }
                }
            };
            self.counter += 1;
            let id = format!("linkRoute-{}", self.counter);
            route.asked = Some((id.clone(), now + Self::TIMEOUT));
            requests.push((id, request));
        }
        requests
    }

    /// The interior did not take a request: it is repeated soon.
    pub(super) fn refused(&mut self, now: Duration, id: &str) {
        let asked = |route: &LinkRoute| route.asked.as_ref().is_some_and(|(known, _)| known == id);
        if let Some(route) = self.routes.values_mut().find(|route| asked(route)) {
            route.asked = None;
            route.not_before = now + Self::AGAIN;
        }
        self.sweep();
    }

    pub(super) fn answered(&mut self, now: Duration, reply: ManagementReply) {
        let asked = |route: &LinkRoute| route.asked.as_ref().is_some_and(|(id, _)| *id == reply.correlation_id);
        let Some(route) = self.routes.values_mut().find(|route| asked(route)) else { return };
        route.asked = None;
        match reply.status {
            201 => route.made = Some(reply.identity),
            // What is not there needs no deleting.
            204 | 404 => route.made = None,
            _ if route.made.is_some() => route.made = None,
            _ => route.not_before = now + Self::TIMEOUT,
        }
        self.sweep();
    }

    pub(super) fn next_timeout(&self) -> Option<Duration> {
        let due = |route: &LinkRoute| match &route.asked {
            Some((_, until)) => Some(*until),
            None => (route.wanted != route.made.is_some()).then_some(route.not_before),
        };
        self.routes.values().filter_map(due).min()
    }

    fn sweep(&mut self) {
        self.routes.retain(|_, route| route.wanted || route.made.is_some() || route.asked.is_some());
    }
}

/// The pattern and direction of a link route's key (`C`, `D`: prefixes; `E`, `F`: patterns).
fn pattern_of(key: &str) -> Option<(String, &'static str)> {
    let text = key.get(1..)?;
    Some(match key.as_bytes().first()? {
        b'C' => (format!("{text}/#"), "in"),
        b'D' => (format!("{text}/#"), "out"),
        b'E' => (text.to_owned(), "in"),
        b'F' => (text.to_owned(), "out"),
        _ => return None,
    })
}
