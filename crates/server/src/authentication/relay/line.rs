//! The connection to a service: bytes, with or without TLS.

use std::io::{self, Read, Write};

use security::tls::{Session, TlsStream};
use tokio::net::TcpStream;

use super::Service;
use crate::control::resolve::{HostPort, Resolver, system_words};

/// Bytes of a service's that may wait to be understood: more than its open needs.
const MOST_WAITING: usize = 256 * 1024;

/// A connection to a service.
pub(super) struct Line {
    carrier: Carrier,
    /// For reading into.
    piece: Vec<u8>,
}

enum Carrier {
    Plain(Socket),
    Tls(Box<TlsStream<Socket>>),
}

/// A socket that never waits.
struct Socket(TcpStream);

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.try_read(buffer)
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Carrier {
    fn socket(&self) -> &TcpStream {
        match self {
            Self::Plain(socket) => &socket.0,
            Self::Tls(tls) => &tls.beneath().0,
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(buffer),
            Self::Tls(tls) => tls.read(buffer),
        }
    }

    fn has_more(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(tls) => tls.has_more(),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Tls(tls) => tls.write(bytes),
        }
    }

    fn wants_write(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(tls) => tls.wants_write(),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Tls(tls) => tls.flush(),
        }
    }
}

impl Line {
    /// Connects to a service. What came along with the end of TLS's handshake is appended to `input`.
    pub(super) async fn dial(service: &Service, input: &mut Vec<u8>) -> Result<Self, String> {
        let config = &service.config;
        let target = HostPort { host: config.host.clone(), port: config.port.clone(), family: None };
        let host_port = target.text();
        let mut failure = String::new();
        for address in target.resolve(&Resolver::of_system()).await.map_err(|error| format!("{error} ({host_port})"))? {
            match TcpStream::connect(address).await {
                Ok(stream) => {
                    // Small frames must not wait for an acknowledgement; without the option they do, no more.
                    let _ = stream.set_nodelay(true);
                    let line = Self::over(Socket(stream), service, input).await;
                    return line.map_err(|error| format!("{error} ({host_port})"));
                }
                Err(error) => failure = system_words(&error),
            }
        }
        Err(format!("{failure} ({host_port})"))
    }

    async fn over(socket: Socket, service: &Service, input: &mut Vec<u8>) -> Result<Self, String> {
        let piece = vec![0; Session::BUFFER];
        let Some(profile) = &service.profile else {
            return Ok(Self { carrier: Carrier::Plain(socket), piece });
        };
        // As with the old router, the authority counts, and not the name.
        let tls = profile.client(security::tls::ServerTrust::Authority).map_err(|error| error.to_string())?;
        let stream = TlsStream::connect(socket, &tls, &service.config.host).map_err(|error| system_words(&error))?;
        let mut line = Self { carrier: Carrier::Tls(Box::new(stream)), piece };
        while let Carrier::Tls(tls) = &line.carrier
            && !tls.is_established()
        {
            line.drain().await?;
            match line.carrier.read(&mut line.piece) {
                Ok(0) => return Err("the service ends TLS's handshake".to_owned()),
                Ok(count) => input.extend_from_slice(line.piece.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !line.carrier.has_more() && !line.carrier.wants_write() {
                        line.await_input().await?;
                    }
                }
                Err(error) => return Err(system_words(&error)),
            }
        }
        line.drain().await?;
        Ok(line)
    }

    async fn await_input(&self) -> Result<(), String> {
        self.carrier.socket().readable().await.map_err(|error| system_words(&error))
    }

    /// Writes what TLS has left.
    async fn drain(&mut self) -> Result<(), String> {
        while self.carrier.wants_write() {
            match self.carrier.flush() {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.carrier.socket().writable().await.map_err(|error| system_words(&error))?;
                }
                Err(error) => return Err(system_words(&error)),
            }
        }
        Ok(())
    }

    /// Appends what has come to `input`, once something has; 0: the service has ended.
    pub(super) async fn read(&mut self, input: &mut Vec<u8>) -> Result<usize, String> {
        if input.len() > MOST_WAITING {
            return Err("the authentication service sends too much".to_owned());
        }
        loop {
            match self.carrier.read(&mut self.piece) {
                Ok(count) => {
                    input.extend_from_slice(self.piece.get(..count).unwrap_or_default());
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.drain().await?;
                    if !self.carrier.has_more() {
                        self.await_input().await?;
                    }
                }
                Err(error) => return Err(system_words(&error)),
            }
        }
    }

    /// Writes all of these bytes.
    pub(super) async fn write(&mut self, mut bytes: &[u8]) -> Result<(), String> {
        while !bytes.is_empty() {
            match self.carrier.write(bytes) {
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.carrier.socket().writable().await.map_err(|error| system_words(&error))?;
                }
                Err(error) => return Err(system_words(&error)),
            }
        }
        self.drain().await
    }
}
