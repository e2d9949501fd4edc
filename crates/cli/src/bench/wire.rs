//! One connection of a worker: bytes between its socket and its endpoint.

use std::io::ErrorKind;

use amqp_endpoint::{Connection, ConnectionConfig, Side};
use mio::net::TcpStream;
use security::tls::{ClientTls, Session};

use super::plan::Plan;
use super::shared::Shared;
use crate::client::{ClientError, Stream, Url, secure};

/// Reads of one turn before other connections have theirs.
const READS_A_TURN: usize = 4;

/// One connection.
pub(super) struct Wire<P> {
    pub(super) stream: Stream<TcpStream>,
    pub(super) engine: Connection,
    pub(super) party: P,
    /// The socket may have something to read, or take something.
    pub(super) readable: bool,
    pub(super) writable: bool,
    /// It is in the list of those to be looked at.
    pub(super) active: bool,
    /// The beginning of a frame whose end has not come yet.
    rest: Vec<u8>,
    eof: bool,
}

impl<P> Wire<P> {
    /// Connects, waiting for the connection as long as the plan allows.
    pub(super) fn connect(
        plan: &Plan,
        shared: &Shared,
        tls: Option<&ClientTls>,
        url: &Url,
        container: String,
        party: P,
    ) -> Result<Self, ClientError> {
        let timeout = plan.connect.timeout;
        let (stream, rest) = secure(crate::client::dial(url, timeout)?, tls, url, timeout)?;
        let config = ConnectionConfig {
            container_id: container,
            hostname: Some(plan.connect.virtual_host.clone().unwrap_or_else(|| url.host.clone())),
            max_frame_size: plan.max_frame_size,
            idle_time_out: None,
            ..ConnectionConfig::default()
        };
        let sasl = plan.connect.mechanisms().map(|mechanisms| Box::new(mechanisms) as _);
        let nonblocking = stream.socket().set_nonblocking(true);
        nonblocking.map_err(|error| ClientError::Value(format!("cannot use the socket: {error}")))?;
        Ok(Self {
            stream: stream.map(TcpStream::from_std),
            engine: Connection::new(config, Side::Initiator { sasl }, shared.now()),
            party,
            readable: true,
            writable: true,
            active: false,
            rest,
            eof: false,
        })
    }

    /// Reads what is there, some, into `chunk` behind what is left from before, and returns the number of bytes there.
    /// `readable` tells whether there may be more.
    pub(super) fn read(&mut self, chunk: &mut [u8]) -> usize {
        let mut filled = self.rest.len();
        chunk[..filled].copy_from_slice(&self.rest);
        self.rest.clear();
        for _ in 0..READS_A_TURN {
            // Fewer bytes are too few for TLS.
            if chunk.len() - filled < Session::BUFFER {
                break;
            }
            match self.stream.read(&mut chunk[filled..]) {
                Ok(0) => {
                    self.end();
                    break;
                }
                Ok(count) => {
                    filled += count;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.readable = self.stream.has_more();
                    break;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => {
                    self.end();
                    break;
                }
            }
        }
        filled
    }

    /// Keeps what the endpoint could not use yet.
    pub(super) fn keep(&mut self, rest: &[u8]) {
        self.rest.extend_from_slice(rest);
    }

    /// Writes what the endpoint has, as far as the socket takes it.
    pub(super) fn write(&mut self) {
        while self.writable && (!self.engine.output().is_empty() || self.stream.wants_write()) {
            let output = self.engine.output();
            let written = if output.is_empty() { self.stream.flush().map(|()| 0) } else { self.stream.write(output) };
            match written {
                Ok(count) => self.engine.consume_output(count),
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.writable = false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => {
                    self.end();
                    return;
                }
            }
        }
    }

    fn end(&mut self) {
        self.readable = false;
        self.writable = false;
        if !self.eof {
            self.eof = true;
            self.engine.transport_closed();
        }
    }
}
