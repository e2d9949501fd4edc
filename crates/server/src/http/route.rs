//! Which request gets which answer.

use std::net::SocketAddr;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::{ALLOW, CONNECTION, HeaderValue};
use hyper::{Method, Request, StatusCode};

use super::reply::{Reply, set, text};
use super::{Context, Site, console, files, health, metrics, upgrade};

/// Who asks, and where.
pub(super) struct Guest {
    pub(super) site: Arc<Site>,
    pub(super) context: Context,
    pub(super) from: SocketAddr,
}

/// Answers a request. A body is never read: nothing here takes one.
pub(super) async fn answer(guest: &Arc<Guest>, request: Request<Incoming>) -> Reply {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let reply = if upgrade::is_asked_for(&request) {
        upgrade::answer(guest, request)
    } else if method != Method::GET && method != Method::HEAD {
        let mut reply = text(StatusCode::METHOD_NOT_ALLOWED, "Only GET and HEAD are answered here.\n");
        set(&mut reply, ALLOW, "GET, HEAD");
        // What comes next may be a body.
        reply.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        reply
    } else {
        get(guest, &path, &request).await
    };
    logging::log!(HTTP, Debug, "{} \"{method} {path}\" {}", guest.from, reply.status().as_u16());
    reply
}

async fn get(guest: &Guest, path: &str, request: &Request<Incoming>) -> Reply {
    let Guest { site, context, .. } = guest;
    match path {
        "/healthz" | "/healthz/live" | "/healthz/ready" if site.healthz => health::answer(context, path).await,
        "/metrics" if site.metrics => metrics::answer(context, request.uri().query()).await,
        _ => match &site.root {
            Some(root) => files::answer(root, path, request.headers()).await,
            None => console::answer(path, request.headers()),
        },
    }
}
