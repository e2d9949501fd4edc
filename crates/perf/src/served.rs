//! The server's own shard, with sockets, and queues if it is to have them. What is counted is `Shard::turn`.

use crate::serve::Serve;
use server::measure::Measured;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;

/// Bytes that are read at once.
const PIECE: usize = 256 * 1024;

/// A server, and its clients' ends of the connections.
pub(crate) struct Served {
    /// There until the end.
    server: Option<Measured>,
    sockets: Vec<TcpStream>,
    /// Where its store is, to be removed at the end.
    folder: Option<PathBuf>,
}

impl Served {
    pub(crate) fn new() -> Self {
        let server = Measured::start().unwrap_or_else(|error| panic!("no server: {error}"));
        Served { server: Some(server), sockets: Vec::new(), folder: None }
    }

    /// Makes a queue.
    pub(crate) fn make_queue(&mut self, address: &str, durable: bool) {
        let folder = std::env::temp_dir().join(format!("perf-store-{}-{durable}", std::process::id()));
        // It is there only if another process of this number has died.
        let _ = std::fs::remove_dir_all(&folder);
        let made = self.server().make_queue(&folder, address, durable);
        self.folder = Some(folder);
        made.unwrap_or_else(|error| panic!("no queue: {error}"));
    }

    fn server(&mut self) -> &mut Measured {
        self.server.as_mut().unwrap_or_else(|| panic!("it is there until the end"))
    }

    fn turns(&mut self) {
        self.server().turns().unwrap_or_else(|error| panic!("no turn: {error}"));
    }
}

impl Serve for Served {
    fn connect(&mut self) -> usize {
        let socket = TcpStream::connect(self.server().address());
        let socket = socket.and_then(|socket| socket.set_nonblocking(true).map(|()| socket));
        self.sockets.push(socket.unwrap_or_else(|error| panic!("no connection: {error}")));
        self.turns();
        self.sockets.len() - 1
    }

    fn turn(&mut self, conn: usize, bytes: Arc<Vec<u8>>) {
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            match self.sockets[conn].write(rest) {
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.turns(),
                Err(error) => panic!("the server does not read: {error}"),
            }
        }
        self.turns();
    }

    fn output(&mut self, conn: usize) -> Vec<u8> {
        let mut bytes = vec![0; PIECE];
        match self.sockets[conn].read(&mut bytes) {
            Ok(count) => bytes.truncate(count),
            Err(error) if error.kind() == ErrorKind::WouldBlock => bytes.clear(),
            Err(error) => panic!("the server does not write: {error}"),
        }
        bytes
    }

    fn wait(&mut self) -> bool {
        self.turns();
        true
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.server = None;
        if let Some(folder) = &self.folder {
            // What is left of it is in a directory for such things.
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}
