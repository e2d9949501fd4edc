//! Mechanisms for tests, each for both sides.

use amqp::Symbol;
use amqp::sasl::SaslCode;
use amqp_endpoint::{ClientStep, Readiness, SaslClient, SaslServer, SaslStep, SecurityLayer};

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
    fn choose(&mut self, offered: &[Symbol]) -> ClientStep {
        let anonymous = Symbol::from("ANONYMOUS");
        if offered.contains(&anonymous) { ClientStep::Init(anonymous, None) } else { ClientStep::NoneFits }
    }

    fn challenge(&mut self, _: &[u8]) -> ClientStep {
        ClientStep::Failed("no answer".to_owned())
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
    /// Whatever there is to be said is known only when it is asked for again.
    pub(crate) slow: bool,
    /// Whether the server knows what it offers.
    pub(crate) ready: Readiness,
    pub(crate) later: Option<ClientStep>,
}

pub(crate) fn chatty(steps: usize) -> Chatty {
    Chatty {
        steps,
        says: b"y",
        end: done("joe"),
        layer: false,
        trusts: true,
        slow: false,
        ready: Readiness::Ready,
        later: None,
    }
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

    fn say(&mut self, step: ClientStep) -> ClientStep {
        if !self.slow {
            return step;
        }
        self.later = Some(step);
        ClientStep::Pending
    }

    fn layer(&self) -> Option<Box<dyn SecurityLayer>> {
        self.layer.then(|| Box::new(Plain) as Box<dyn SecurityLayer>)
    }
}

impl SaslServer for Chatty {
    fn prepare(&mut self) -> Readiness {
        match self.ready {
            Readiness::Pending => std::mem::replace(&mut self.ready, Readiness::Ready),
            ready => ready,
        }
    }

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
    fn choose(&mut self, _: &[Symbol]) -> ClientStep {
        self.say(ClientStep::Init(Symbol::from("CHATTY"), Some(Vec::new())))
    }

    fn challenge(&mut self, _: &[u8]) -> ClientStep {
        let says = self.says;
        self.say(if says.is_empty() {
            ClientStep::Failed("no answer".to_owned())
        } else {
            ClientStep::Respond(says.to_vec())
        })
    }

    fn resume(&mut self) -> ClientStep {
        self.later.take().unwrap_or(ClientStep::Pending)
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

    fn strength(&self) -> u32 {
        56
    }
}
