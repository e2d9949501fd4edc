//! Listeners: sockets that connections come in by. One shard has them all and deals the connections out.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use amqp_endpoint::Now;
use mio::net::{TcpListener, TcpStream};
use mio::{Interest, Registry, Token};
use slab::Slab;

use super::arrival::{Arrival, Kind, Listener};
use super::census::Place;
use super::event::ShardEvent;
use super::settings::ListenerId;
use super::shared::Shared;

/// How many connections one listener may bring in a turn.
const ACCEPTS: usize = 64;
/// How long to wait when the system has no descriptors left.
const BREATHER: Duration = Duration::from_millis(100);

/// A listener on its way to the shard that has them.
pub(super) struct Listening {
    pub(super) listener: Arc<Listener>,
    pub(super) sockets: Vec<TcpListener>,
}

/// The listening sockets of a shard.
pub(super) struct Sockets {
    /// The first socket's token; the others follow.
    first_token: usize,
    sockets: Slab<Socket>,
}

struct Socket {
    socket: TcpListener,
    listener: Arc<Listener>,
    /// There may be connections to accept.
    ready: bool,
    /// Not before this time.
    not_before: Now,
    /// It was said that nothing can be accepted, and nothing has been since.
    complained: bool,
}

impl Sockets {
    pub(super) fn new(first_token: usize) -> Self {
        Self { first_token, sockets: Slab::new() }
    }

    /// Listens on more sockets.
    pub(super) fn add(&mut self, listening: Listening, registry: &Registry, shared: &Shared) {
        let Listening { listener, sockets } = listening;
        for mut socket in sockets {
            let entry = self.sockets.vacant_entry();
            match registry.register(&mut socket, Token(self.first_token + entry.key()), Interest::READABLE) {
                Ok(()) => {
                    let listener = Arc::clone(&listener);
                    entry.insert(Socket { socket, listener, ready: true, not_before: Now::ZERO, complained: false });
                }
                Err(error) => {
                    shared.tell(ShardEvent::ListenerFailed { listener: listener.id, message: error.to_string() });
                }
            }
        }
    }

    /// Closes a listener's sockets.
    pub(super) fn remove(&mut self, listener: ListenerId) {
        self.sockets.retain(|_, socket| socket.listener.id != listener);
    }

    /// Takes note of an event. False: the token is none of a listener's.
    pub(super) fn note(&mut self, token: Token) -> bool {
        let Some(index) = token.0.checked_sub(self.first_token) else { return false };
        if let Some(socket) = self.sockets.get_mut(index) {
            socket.ready = true;
        }
        true
    }

    /// When there is something to accept; `None` until there is an event.
    pub(super) fn next(&self) -> Option<Now> {
        self.sockets.iter().filter(|(_, socket)| socket.ready).map(|(_, socket)| socket.not_before).min()
    }

    /// Accepts what has come, a bounded number.
    pub(super) fn accept(&mut self, now: Now, shared: &Shared, accepted: &mut Vec<Accepted>) {
        for (_, socket) in &mut self.sockets {
            if socket.ready && socket.not_before <= now {
                socket.accept(now, shared, accepted);
            }
        }
    }
}

/// A connection that has no number yet.
pub(super) struct Accepted {
    stream: TcpStream,
    from: SocketAddr,
    listener: Arc<Listener>,
    place: Place,
}

impl Accepted {
    /// Gives it its number.
    pub(super) fn numbered(self, id: u64) -> Arrival {
        let Self { stream, from, listener, place } = self;
        logging::log!(SERVER, Info, "[C{id}] Accepted connection to {} from {from}", listener.host_port);
        Arrival { id, kind: Kind::Accepted { stream, from, listener, place } }
    }
}

impl Socket {
    fn accept(&mut self, now: Now, shared: &Shared, accepted: &mut Vec<Accepted>) {
        for _ in 0..ACCEPTS {
            match self.socket.accept() {
                Ok((stream, from)) => {
                    // Small frames must not wait for an acknowledgement; without the option they do, no more.
                    let _ = stream.set_nodelay(true);
                    self.complained = false;
                    shared.accepted.fetch_add(1, Ordering::Relaxed);
                    self.listener.accepted.fetch_add(1, Ordering::Relaxed);
                    if let Some(place) = shared.place_for(from) {
                        accepted.push(Accepted { stream, from, listener: Arc::clone(&self.listener), place });
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.ready = false;
                    return;
                }
                Err(error) if is_the_peers(&error) => {}
                Err(error) => {
                    // No descriptors or no memory: the connection stays in the queue, and asking at once would find the
                    // same.
                    if !std::mem::replace(&mut self.complained, true) {
                        let host_port = &self.listener.host_port;
                        logging::log!(SERVER, Error, "Cannot accept connections to {host_port}: {error}");
                    }
                    self.not_before = now + BREATHER;
                    return;
                }
            }
        }
    }
}

/// Errors of the connection that was to be accepted, not of the listener.
pub(crate) fn is_the_peers(error: &io::Error) -> bool {
    use io::ErrorKind::{
        ConnectionAborted, ConnectionReset, HostUnreachable, Interrupted, NetworkDown, NetworkUnreachable, TimedOut,
    };
    matches!(
        error.kind(),
        ConnectionAborted
            | ConnectionReset
            | HostUnreachable
            | Interrupted
            | NetworkDown
            | NetworkUnreachable
            | TimedOut
    )
}
