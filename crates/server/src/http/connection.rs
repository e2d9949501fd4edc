//! One HTTP connection: how long it may take for what.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::Upgraded;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::guests::Seat;
use super::route;
use super::wire::Wire;
use super::{Context, Site};
use crate::shard::{Accepting, Shards};

/// How long a request's head may take to come, and how long a connection may wait for its next request.
const HEAD: Duration = Duration::from_secs(20);
/// How long a connection may last: who is too slow for that to take an answer is cut off.
const LIFE: Duration = Duration::from_secs(300);
/// How long the last answer may take once the connection is to end.
const LAST: Duration = Duration::from_secs(30);
/// Bytes of a request's head, and of answers that wait to be written.
const BUFFER: usize = 16 * 1024;

/// Serves a connection to its end.
pub(super) async fn serve(
    stream: TcpStream,
    from: SocketAddr,
    site: Arc<Site>,
    context: Context,
    mut closing: watch::Receiver<()>,
    seat: Seat,
) {
    // Without it answers may wait for an acknowledgement, no more.
    let _ = stream.set_nodelay(true);
    let Some(wire) = Wire::accept(stream, site.tls.as_ref(), HEAD).await else { return };
    let guest = Arc::new(route::Guest { site, context, from });
    let service = service_fn(move |request| {
        let guest = Arc::clone(&guest);
        async move { Ok::<_, Infallible>(route::answer(&guest, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(BUFFER)
        .serve_connection(TokioIo::new(wire), service)
        .with_upgrades();
    let mut connection = pin!(connection);
    // How it ends is the client's business: it may reset the connection at any time.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = closing.changed() => {}
        () = tokio::time::sleep(LIFE) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = tokio::time::timeout(LAST, connection).await;
    drop(seat);
}

/// Gives a connection whose handshake is over to a shard.
pub(super) fn hand_over(upgraded: Upgraded, accepting: &Accepting, from: SocketAddr, shards: &Shards) {
    // It is what it was made of.
    let Ok(parts) = upgraded.downcast::<TokioIo<Wire>>() else { return };
    match parts.io.into_inner().into_parts(parts.read_buf.into()) {
        Ok(socket) => shards.adopt_websocket(accepting, socket, from),
        Err(error) => logging::log!(HTTP, Error, "Cannot take a WebSocket from {from}: {error}"),
    }
}
