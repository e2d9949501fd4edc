//! The HTTP thread: which sites it serves, and how connections come to it.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, watch};

use super::guests::Guests;
use super::{Context, Site, connection};
use crate::shard::ListenerId;

/// How long to wait when nothing can be accepted: the system has no descriptors left.
const BREATHER: Duration = Duration::from_millis(100);
/// Threads that read files: a disk, or a file server that is gone, may take any time.
const READERS: usize = 8;

/// What the control plane asks of the thread. It ends when there are no more commands to come.
pub(super) enum Command {
    /// Serve a site on these sockets.
    Listen(Arc<Site>, Vec<std::net::TcpListener>),
    /// Serve it no more.
    StopListening(ListenerId),
}

/// Starts the thread.
pub(super) fn start(context: Context, commands: mpsc::UnboundedReceiver<Command>) -> io::Result<JoinHandle<()>> {
    let runtime =
        Builder::new_current_thread().enable_all().max_blocking_threads(READERS).thread_name("http-file").build()?;
    std::thread::Builder::new().name("http".to_owned()).spawn(move || run(runtime, context, commands))
}

fn run(runtime: Runtime, context: Context, commands: mpsc::UnboundedReceiver<Command>) {
    runtime.block_on(obey(context, commands));
    // Files that cannot be read must not hold up the end.
    runtime.shutdown_background();
}

async fn obey(context: Context, mut commands: mpsc::UnboundedReceiver<Command>) {
    let guests = Guests::default();
    // A site is served as long as its sender is there.
    let mut sites: HashMap<ListenerId, (Arc<Site>, watch::Sender<()>)> = HashMap::new();
    while let Some(command) = commands.recv().await {
        match command {
            Command::Listen(site, sockets) => {
                let (open, closing) = watch::channel(());
                for socket in sockets {
                    let (site, context, guests) = (Arc::clone(&site), context.clone(), guests.clone());
                    tokio::spawn(accept_all(socket, site, context, guests, closing.clone()));
                }
                sites.insert(site.id, (site, open));
            }
            Command::StopListening(id) => {
                if let Some((site, _open)) = sites.remove(&id) {
                    logging::log!(HTTP, Notice, "Stopped listening for HTTP on {}", site.host_port);
                }
            }
        }
    }
}

async fn accept_all(
    socket: std::net::TcpListener,
    site: Arc<Site>,
    context: Context,
    guests: Guests,
    closing: watch::Receiver<()>,
) {
    let socket = match TcpListener::from_std(socket) {
        Ok(socket) => socket,
        Err(error) => {
            logging::log!(HTTP, Error, "Cannot listen for HTTP on {}: {error}", site.host_port);
            return;
        }
    };
    let mut closed = closing.clone();
    let serve = async {
        let mut complained = false;
        loop {
            match socket.accept().await {
                Ok((stream, from)) => {
                    complained = false;
                    let Some(seat) = guests.admit(from.ip()).await else { continue };
                    let serving = connection::serve(stream, from, site.clone(), context.clone(), closing.clone(), seat);
                    tokio::spawn(serving);
                }
                Err(error) if crate::shard::is_the_peers(&error) => {}
                Err(error) => {
                    if !std::mem::replace(&mut complained, true) {
                        logging::log!(HTTP, Error, "Cannot accept connections to {}: {error}", site.host_port);
                    }
                    tokio::time::sleep(BREATHER).await;
                }
            }
        }
    };
    tokio::select! {
        () = serve => {}
        // There is nothing to receive: it ends when the site is given up.
        _ = closed.changed() => {}
    }
}
