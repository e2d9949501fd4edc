//! What does the router say over HTTP? Its health, its metrics, files of a folder or the console within the program, and
//! the handshake of WebSockets, over which AMQP then goes on in a shard.
//!
//! It deliberately knows nothing of AMQP, and never runs on a shard: it has one thread of its own, started with the first
//! HTTP listener, so that whatever its clients do nobody else waits for it. What it knows of the router it asks the
//! control plane ([`crate::control::report`]) or reads from the core in a moment's lock.

mod connection;
mod console;
mod files;
mod guests;
mod health;
pub(crate) mod metrics;
mod reply;
mod route;
mod site;
mod thread;
mod upgrade;
mod wire;

pub(crate) use site::Site;

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::mpsc;

use crate::control::report::Questions;
use crate::shard::{ListenerId, Shards};
use thread::Command;

/// What serving takes.
#[derive(Clone)]
pub(crate) struct Context {
    /// The data plane.
    pub(crate) shards: Shards,
    /// Where the control plane is asked.
    pub(crate) questions: Questions,
    recent: metrics::Recent,
}

/// The control plane's hold on the HTTP thread.
pub(crate) struct Http {
    context: Context,
    running: Option<Running>,
}

struct Running {
    commands: mpsc::UnboundedSender<Command>,
    thread: JoinHandle<()>,
}

impl Context {
    /// For answers about a running router.
    pub(crate) fn new(shards: Shards, questions: Questions) -> Self {
        Self { shards, questions, recent: metrics::Recent::default() }
    }
}

impl Http {
    /// Starts nothing yet.
    pub(crate) fn new(context: Context) -> Self {
        Self { context, running: None }
    }

    /// Serves a site on these sockets.
    ///
    /// # Errors
    /// The system has no thread or descriptor left.
    pub(crate) fn listen(&mut self, site: Site, sockets: Vec<TcpListener>) -> io::Result<()> {
        let running = match &mut self.running {
            Some(running) => running,
            none => {
                let (commands, orders) = mpsc::unbounded_channel();
                let thread = thread::start(self.context.clone(), orders)?;
                none.insert(Running { commands, thread })
            }
        };
        // The thread ends only when it is told to.
        let _ = running.commands.send(Command::Listen(Arc::new(site), sockets));
        Ok(())
    }

    /// Stops serving a site; connections that have become AMQP over WebSocket stay.
    pub(crate) fn stop_listening(&self, listener: ListenerId) {
        if let Some(running) = &self.running {
            let _ = running.commands.send(Command::StopListening(listener));
        }
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        if let Some(Running { commands, thread }) = self.running.take() {
            drop(commands);
            // One that panicked has ended, too.
            let _ = thread.join();
        }
    }
}
