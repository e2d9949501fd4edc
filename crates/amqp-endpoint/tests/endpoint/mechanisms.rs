//! Mechanisms for tests, each for both sides.

use amqp::Symbol;
use amqp::sasl::SaslCode;
use amqp_endpoint::{SaslClient, SaslServer, SaslStep, SecurityLayer};

/// Anyone is let in, with one step.
pub(crate) struct Anonymous;

impl SaslServer for Anonymous {
    fn mechanisms(&self) -> Vec<Symbol> {
        vec![Symbol::from("ANONYMOUS")]
    }

    fn init(&mut self, _: &str, _: Option<&[u8]>, _: Option<&str>) -> SaslStep {
        done("anonymous")
    }

    fn response(&mut self, _: &[u8]) -> SaslStep {
        SaslStep::Failed(SaslCode::Sys)
    }
}

impl SaslClient for Anonymous {
    fn choose(&mut self, offered: &[Symbol]) -> Option<(Symbol, Option<Vec<u8>>)> {
        let anonymous = Symbol::from("ANONYMOUS");
        offered.contains(&anonymous).then_some((anonymous, None))
    }

    fn challenge(&mut self, _: &[u8]) -> Result<Vec<u8>, SaslCode> {
        Err(SaslCode::Sys)
    }
}

/// A mechanism of several steps: the server asks for one more `y` until it has `steps` of them.
pub(crate) struct Chatty {
    pub(crate) steps: usize,
    /// What the client says to each challenge.
    pub(crate) says: &'static [u8],
    /// What the server does at the end.
    pub(crate) end: SaslStep,
    /// Both negotiate a security layer.
    pub(crate) layer: bool,
    /// The client trusts the server.
    pub(crate) trusts: bool,
}

pub(crate) fn chatty(steps: usize) -> Chatty {
    Chatty { steps, says: b"y", end: done("joe"), layer: false, trusts: true }
}

pub(crate) fn done(user: &str) -> SaslStep {
    SaslStep::Done { user: Some(user.to_owned()), additional_data: None }
}

impl Chatty {
    fn next(&mut self) -> SaslStep {
        if self.steps == 0 {
            return self.end.clone();
        }
        self.steps -= 1;
        SaslStep::Challenge(b"more".to_vec())
    }

    fn layer(&self) -> Option<Box<dyn SecurityLayer>> {
        self.layer.then(|| Box::new(Plain) as Box<dyn SecurityLayer>)
    }
}

impl SaslServer for Chatty {
    fn mechanisms(&self) -> Vec<Symbol> {
        vec![Symbol::from("OTHER"), Symbol::from("CHATTY")]
    }

    fn init(&mut self, _: &str, _: Option<&[u8]>, _: Option<&str>) -> SaslStep {
        self.next()
    }

    fn response(&mut self, response: &[u8]) -> SaslStep {
        if response == b"y" { self.next() } else { SaslStep::Failed(SaslCode::Auth) }
    }

    fn resume(&mut self) -> SaslStep {
        done("late")
    }

    fn security_layer(&mut self) -> Option<Box<dyn SecurityLayer>> {
        self.layer()
    }
}

impl SaslClient for Chatty {
    fn choose(&mut self, _: &[Symbol]) -> Option<(Symbol, Option<Vec<u8>>)> {
        Some((Symbol::from("CHATTY"), Some(Vec::new())))
    }

    fn challenge(&mut self, _: &[u8]) -> Result<Vec<u8>, SaslCode> {
        if self.says.is_empty() { Err(SaslCode::Sys) } else { Ok(self.says.to_vec()) }
    }

    fn finish(&mut self, _: Option<&[u8]>) -> Result<(), String> {
        if self.trusts { Ok(()) } else { Err("the server's signature is wrong".to_owned()) }
    }

    fn security_layer(&mut self) -> Option<Box<dyn SecurityLayer>> {
        self.layer()
    }
}

/// A layer that changes nothing.
struct Plain;

impl SecurityLayer for Plain {
    fn encode(&mut self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        out.extend_from_slice(plain);
        Ok(())
    }

    fn decode(&mut self, wire: &[u8], out: &mut Vec<u8>) -> Result<usize, String> {
        out.extend_from_slice(wire);
        Ok(wire.len())
    }
}
