//! Two ends of a session, connected in memory.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::rc::Rc;

use config::SslProfileConfig;
use management::Attributes;
use security::tls::{ClientCertificate, ClientTls, PeerInfo, Profile, ServerTls, ServerTrust, Session, TlsStream};

use super::authority::{Authority, Folder, Issued};

/// One direction.
#[derive(Clone, Default)]
pub struct Pipe(Rc<RefCell<VecDeque<u8>>>);

/// One end of a connection that never waits. It gives out so many bytes at a time as it is told.
pub struct Wire {
    pub reads: Pipe,
    writes: Pipe,
    pub at_a_time: usize,
    /// Nothing comes any more once all is read.
    pub ended: bool,
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut pipe = self.reads.0.borrow_mut();
        let count = pipe.len().min(buffer.len()).min(self.at_a_time);
        if count == 0 {
            return if self.ended { Ok(0) } else { Err(ErrorKind::WouldBlock.into()) };
        }
        for place in &mut buffer[..count] {
            *place = pipe.pop_front().unwrap();
        }
        Ok(count)
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writes.0.borrow_mut().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Pipe {
    pub fn push(&self, bytes: &[u8]) {
        self.0.borrow_mut().extend(bytes);
    }

    pub fn len(&self) -> usize {
        self.0.borrow().len()
    }
}

pub fn wires() -> (Wire, Wire) {
    let (there, back) = (Pipe::default(), Pipe::default());
    let wire = |reads: &Pipe, writes: &Pipe| Wire {
        reads: reads.clone(),
        writes: writes.clone(),
        at_a_time: usize::MAX,
        ended: false,
    };
    (wire(&back, &there), wire(&there, &back))
}

/// A client and a server.
pub struct Ends {
    pub client: TlsStream<Wire>,
    pub server: TlsStream<Wire>,
    buffer: Vec<u8>,
}

impl Ends {
    /// Not shaken hands yet.
    pub fn new(client: &ClientTls, server: &ServerTls, host: &str) -> Self {
        let (here, there) = wires();
        Self {
            client: TlsStream::connect(here, client, host).unwrap(),
            server: TlsStream::accept(there, server, &[]).unwrap(),
            buffer: vec![0; Session::BUFFER],
        }
    }

    /// Shakes hands. An error is of the end that sees it first.
    pub fn shake(&mut self) -> io::Result<()> {
        for _ in 0..100_000 {
            for end in [&mut self.client, &mut self.server] {
                end.flush()?;
                match end.read(&mut self.buffer) {
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    Err(error) => return Err(error),
                    Ok(count) => panic!("{count} bytes came that nobody sent"),
                }
                end.flush()?;
            }
            if self.client.is_established() && self.server.is_established() && self.is_quiet() {
                return Ok(());
            }
        }
        panic!("the handshake does not end");
    }

    fn is_quiet(&self) -> bool {
        self.client.beneath().reads.len() == 0 && self.server.beneath().reads.len() == 0
    }

    /// What the client has said that the server has not taken yet.
    pub fn taken_by_server(&mut self) -> io::Result<Vec<u8>> {
        taken(&mut self.server, &mut self.buffer)
    }

    pub fn taken_by_client(&mut self) -> io::Result<Vec<u8>> {
        taken(&mut self.client, &mut self.buffer)
    }
}

fn taken(end: &mut TlsStream<Wire>, buffer: &mut [u8]) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        match end.read(buffer) {
            Ok(0) => return Ok(all),
            Ok(count) => all.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock && end.beneath().reads.len() == 0 => return Ok(all),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}

/// A profile from its attributes.
pub fn profile(pairs: &[(&str, &str)]) -> Result<Profile, security::tls::TlsError> {
    let pairs = pairs.iter().chain(&[("name", "tls")]).map(|(name, text)| ((*name).to_owned(), (*text).into()));
    Profile::load(&SslProfileConfig::from_attributes(&Attributes(pairs.collect())).unwrap())
}

/// A profile with these certificates and more attributes.
pub fn with(authority: &Authority, own: Option<&Issued>, more: &[(&str, &str)]) -> Profile {
    let folder = Folder::new();
    let trusted = folder.write("ca.pem", &authority.pem());
    let (certificate, key) = match own {
        Some(own) => (folder.write("cert.pem", &own.certificate), folder.write("key.pem", &own.key())),
        None => Default::default(),
    };
    let text = |path: &Path| path.display().to_string();
    let files = [("caCertFile", text(&trusted)), ("certFile", text(&certificate)), ("privateKeyFile", text(&key))];
    let files = files.iter().map(|(name, path)| (*name, path.as_str()));
    let pairs: Vec<_> = files.filter(|(_, path)| !path.is_empty()).chain(more.iter().copied()).collect();
    profile(&pairs).unwrap()
}

pub fn server(profile: &Profile) -> ServerTls {
    ServerTls::new(profile, ClientCertificate::NotAsked).unwrap()
}

pub fn server_that_asks(profile: &Profile) -> ServerTls {
    ServerTls::new(profile, ClientCertificate::Required).unwrap()
}

pub fn client(profile: &Profile) -> ClientTls {
    ClientTls::new(profile, ServerTrust::Host).unwrap()
}

/// What a session between the two comes to, at the server's side, or what keeps it from being one.
pub fn meet(client: &ClientTls, server: &ServerTls, host: &str) -> io::Result<PeerInfo> {
    let mut ends = Ends::new(client, server, host);
    ends.shake().map(|()| ends.server.info())
}

/// The words with which a session does not come about.
pub fn refusal(client: &ClientTls, server: &ServerTls, host: &str) -> String {
    meet(client, server, host).expect_err("it should have been refused").to_string()
}
