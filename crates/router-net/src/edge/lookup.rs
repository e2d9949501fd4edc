//! What is an address? An edge router asks its interior before it attaches a link, because the address may be that of a
//! link route which only the interior knows.

use super::wire::{LOOKUP_OPCODE, LOOKUP_VERSION, LookupReply, LookupRequest, LookupStatus};
use amqp::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// What is to become of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupResult {
    /// It is attached here, as if there were no interior: the address is no link route, or nobody has answered in time.
    Local,
    /// It is routed over the uplink.
    Route,
    /// It is refused with `qd:no-route-to-dest`: a link route without destinations.
    NoDestination,
}

/// Look-ups that have not been answered.
#[derive(Clone, Debug, Default)]
pub(super) struct Lookups {
    open: BTreeMap<u64, Open>,
    /// Those of which the interior has not been asked.
    unsent: Vec<u64>,
}

#[derive(Clone, Debug)]
struct Open {
    address: String,
    client_sends: bool,
    until: Duration,
}

impl Lookups {
    /// How long an answer is waited for.
    const TIMEOUT: Duration = Duration::from_secs(3);
    /// More look-ups than this are not kept open.
    const MAX: usize = 10_000;

    /// Opens a look-up. False: there are too many.
    pub(super) fn open(&mut self, now: Duration, token: u64, address: &str, client_sends: bool) -> bool {
        let room = self.open.len() < Self::MAX;
        if room {
            let open = Open { address: address.to_owned(), client_sends, until: now + Self::TIMEOUT };
            self.open.insert(token, open);
            self.unsent.push(token);
        }
        room
    }

    /// The requests that have not been sent, addressed to whoever takes the answers.
    pub(super) fn requests(&mut self, reply_to: &str) -> Vec<LookupRequest> {
        let unsent = std::mem::take(&mut self.unsent);
        let request = |token: u64| {
            // It may have been given up.
            let open = self.open.get(&token)?;
            Some(LookupRequest {
                reply_to: reply_to.to_owned(),
                correlation_id: Value::from(format!("lookup-{token}")),
                version: LOOKUP_VERSION,
                opcode: LOOKUP_OPCODE,
                address: open.address.clone(),
                client_sends: open.client_sends,
            })
        };
        unsent.into_iter().filter_map(request).collect()
    }

    /// Which look-up has ended, and how.
    pub(super) fn answered(&mut self, reply: &LookupReply) -> Option<(u64, LookupResult)> {
        let token = reply.correlation_id.as_text()?.strip_prefix("lookup-")?.parse().ok()?;
        self.open.remove(&token)?;
        let result = match (reply.status, reply.is_link_route, reply.has_destinations) {
            (LookupStatus::Ok, true, true) => LookupResult::Route,
            (LookupStatus::Ok, true, false) => LookupResult::NoDestination,
            _ => LookupResult::Local,
        };
        Some((token, result))
    }

    /// The look-ups that nobody has answered in time; or all of them, with `None`.
    pub(super) fn expired(&mut self, now: Option<Duration>) -> Vec<u64> {
        let over = |open: &Open| now.is_none_or(|now| open.until <= now);
        let tokens: Vec<u64> = self.open.iter().filter(|(_, open)| over(open)).map(|(token, _)| *token).collect();
        for token in &tokens {
            self.open.remove(token);
        }
        self.unsent.retain(|token| self.open.contains_key(token));
        tokens
    }

    pub(super) fn cancel(&mut self, token: u64) {
        self.open.remove(&token);
        self.unsent.retain(|unsent| *unsent != token);
    }

    /// Numbers and time both grow, so the first is due first, or as good as.
    pub(super) fn next_timeout(&self) -> Option<Duration> {
        self.open.values().next().map(|open| open.until)
    }
}

/// Whether a message asks what an address is, in a way that this version answers. The old router rejects all others.
pub fn is_lookup(message: &[u8]) -> bool {
    read_request(message).is_some()
}

fn read_request(message: &[u8]) -> Option<LookupRequest> {
    let known = |request: &LookupRequest| (request.version, request.opcode) == (LOOKUP_VERSION, LOOKUP_OPCODE);
    LookupRequest::decode(message).ok().filter(known)
}

/// Answers a look-up, on the interior router. `resolve` gets the address and whether the client sends, and says whether
/// the address is that of a link route and whether it has destinations; `None`: it is not known. Gives back where the
/// answer goes, and the answer; `None`: it is no look-up.
pub fn answer_lookup(
    request: &[u8],
    resolve: impl FnOnce(&str, bool) -> Option<(bool, bool)>,
) -> Option<(String, Vec<u8>)> {
    let request = read_request(request)?;
    let (status, (is_link_route, has_destinations)) = match resolve(&request.address, request.client_sends) {
        Some(found) => (LookupStatus::Ok, found),
        None => (LookupStatus::NotFound, (false, false)),
    };
    let (to, correlation_id) = (request.reply_to, request.correlation_id);
    let reply = LookupReply { to: to.clone(), correlation_id, status, is_link_route, has_destinations };
    Some((to, reply.encode()))
}
