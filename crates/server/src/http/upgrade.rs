//! The handshake of WebSockets (RFC 6455, section 4.2), after which a shard has the socket.

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::{
    CONNECTION, HeaderMap, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use hyper::{Method, Request, StatusCode};

use super::reply::{Reply, bare, set, text};
use super::route::Guest;

/// Sub-protocols that stand for AMQP 1.0 in binary messages: that of the AMQP WebSocket binding, what browsers' clients of
/// old say, and the name it had in drafts.
const PROTOCOLS: [&str; 3] = ["amqp", "binary", "AMQPWSB10"];
const VERSION: &str = "13";

/// Whether a request is for a WebSocket.
pub(super) fn is_asked_for(request: &Request<Incoming>) -> bool {
    lists(request.headers(), &UPGRADE, "websocket")
}

/// Answers the request, and hands the socket over once the answer is written.
pub(super) fn answer(guest: &Arc<Guest>, mut request: Request<Incoming>) -> Reply {
    let Some(accepting) = guest.site.websockets.clone() else {
        // The old router's words.
        return text(StatusCode::FORBIDDEN, "cannot-upgrade\n");
    };
    let (key, protocol) = match check(&request) {
        Ok(found) => found,
        Err(refusal) => return *refusal,
    };
    let upgraded = hyper::upgrade::on(&mut request);
    let (context, from) = (guest.context.clone(), guest.from);
    tokio::spawn(async move {
        // A client that leaves instead has nothing to be told.
        let Ok(upgraded) = upgraded.await else { return };
        super::connection::hand_over(upgraded, &accepting, from, &context.shards);
    });
    let mut reply = bare(StatusCode::SWITCHING_PROTOCOLS);
    set(&mut reply, UPGRADE, "websocket");
    set(&mut reply, CONNECTION, "Upgrade");
    set(&mut reply, SEC_WEBSOCKET_PROTOCOL, protocol);
    let accept = tungstenite::handshake::derive_accept_key(key.as_bytes());
    if let Ok(accept) = HeaderValue::from_str(&accept) {
        reply.headers_mut().insert(SEC_WEBSOCKET_ACCEPT, accept);
    }
    reply
}

/// The client's key and the sub-protocol to speak.
fn check(request: &Request<Incoming>) -> Result<(HeaderValue, &'static str), Box<Reply>> {
    let headers = request.headers();
    let refuse = |reason: &str| Box::new(text(StatusCode::BAD_REQUEST, format!("{reason}\n")));
    if request.method() != Method::GET || request.version() < hyper::Version::HTTP_11 {
        return Err(refuse("A WebSocket is asked for by GET, in HTTP/1.1."));
    }
    if !lists(headers, &CONNECTION, "upgrade") {
        return Err(refuse("The header Connection must say Upgrade."));
    }
    if headers.get(SEC_WEBSOCKET_VERSION).is_none_or(|version| version != VERSION) {
        let mut reply = text(StatusCode::UPGRADE_REQUIRED, "The header Sec-WebSocket-Version must be 13.\n");
        set(&mut reply, SEC_WEBSOCKET_VERSION, VERSION);
        return Err(Box::new(reply));
    }
    // 16 bytes in base64.
    let key = headers.get(SEC_WEBSOCKET_KEY).filter(|key| key.len() == 24);
    let key = key.ok_or_else(|| refuse("The header Sec-WebSocket-Key must have 16 bytes in base64."))?;
    let protocol = protocol(headers).ok_or_else(|| {
        refuse("This is for AMQP: the header Sec-WebSocket-Protocol must offer amqp (or binary, as older clients do).")
    })?;
    Ok((key.clone(), protocol))
}

/// The first sub-protocol offered that is spoken here.
fn protocol(headers: &HeaderMap) -> Option<&'static str> {
    words(headers, &SEC_WEBSOCKET_PROTOCOL).find_map(|offered| PROTOCOLS.into_iter().find(|spoken| *spoken == offered))
}

/// Whether a header that is a list has this word, in any case.
fn lists(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    words(headers, name).any(|found| found.eq_ignore_ascii_case(word))
}

fn words<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h str> {
    let lines = headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offering(lines: &[&'static str]) -> Option<&'static str> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(line));
        }
        protocol(&headers)
    }

    #[test]
    fn the_first_protocol_that_is_spoken_here_is_chosen() {
        assert_eq!(offering(&["mqtt, binary", "amqp"]), Some("binary"));
        assert_eq!(offering(&["AMQPWSB10"]), Some("AMQPWSB10"));
    }

    #[test]
    fn other_protocols_are_not_spoken() {
        assert_eq!(offering(&["mqtt", "AMQP"]), None);
        assert_eq!(offering(&[]), None);
    }
}
