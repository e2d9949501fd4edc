//! The connection to a service: bytes, with or without TLS.

use std::io;

use config::AuthServiceConfig;
use tokio::net::TcpStream;

use crate::control::resolve::{HostPort, system_words};

/// Bytes that are read at once.
const PIECE: usize = 16 * 1024;
/// Bytes of a service's that may wait to be understood: more than its open needs.
const MOST_WAITING: usize = 256 * 1024;

/// A connection to a service.
pub(super) struct Line {
    stream: TcpStream,
}

impl Line {
    /// Connects to a service.
    pub(super) async fn dial(service: &AuthServiceConfig) -> Result<Self, String> {
        let target = HostPort { host: service.host.clone(), port: service.port.clone(), family: None };
        let host_port = target.text();
        let mut failure = String::new();
        for address in target.resolve().await.map_err(|error| format!("{error} ({host_port})"))? {
            match TcpStream::connect(address).await {
                Ok(stream) => {
                    // Small frames must not wait for an acknowledgement; without the option they do, no more.
                    let _ = stream.set_nodelay(true);
                    return Ok(Self { stream });
                }
                Err(error) => failure = system_words(&error),
            }
        }
        Err(format!("{failure} ({host_port})"))
    }

    /// Appends what has come to `input`, once something has; 0: the service has ended.
    pub(super) async fn read(&mut self, input: &mut Vec<u8>) -> Result<usize, String> {
        if input.len() > MOST_WAITING {
            return Err("the authentication service sends too much".to_owned());
        }
        loop {
            self.stream.readable().await.map_err(|error| system_words(&error))?;
            let mut piece = [0; PIECE];
            match self.stream.try_read(&mut piece) {
                Ok(count) => {
                    input.extend_from_slice(piece.get(..count).unwrap_or_default());
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(system_words(&error)),
            }
        }
    }

    /// Writes all of these bytes.
    pub(super) async fn write(&mut self, mut bytes: &[u8]) -> Result<(), String> {
        while !bytes.is_empty() {
            self.stream.writable().await.map_err(|error| system_words(&error))?;
            match self.stream.try_write(bytes) {
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(system_words(&error)),
            }
        }
        Ok(())
    }
}
