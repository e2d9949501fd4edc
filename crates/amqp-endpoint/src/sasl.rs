//! The slots that SASL mechanisms and security layers fit into (part 5, section 5.3).

use amqp::Symbol;
use amqp::sasl::SaslCode;

/// Mechanisms on the server's side. All calls are made in order by one connection.
pub trait SaslServer: Send {
    /// Whether it can be said now what is offered; asked when the peer begins SASL, before all else.
    fn prepare(&mut self) -> Readiness {
        Readiness::Ready
    }
    /// Offered in this order.
    fn mechanisms(&self) -> Vec<Symbol>;
    /// The peer chose `mechanism`, which is one of those offered. An absent response differs from an empty one.
    fn init(&mut self, mechanism: &str, initial_response: Option<&[u8]>, hostname: Option<&str>) -> SaslStep;
    /// The peer's answer to the last challenge.
    fn response(&mut self, response: &[u8]) -> SaslStep;
    /// Asked after [`SaslStep::Pending`] whenever the owner calls [`crate::Connection::poke_sasl`].
    fn resume(&mut self) -> SaslStep {
        SaslStep::Pending
    }
    /// The security layer negotiated, taken once after success.
    fn security_layer(&mut self) -> Option<Box<dyn SecurityLayer>> {
        None
    }
}

/// Whether it is known what a server offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It is.
    Ready,
    /// Not yet; it is asked again whenever the owner calls [`crate::Connection::poke_sasl`].
    Pending,
    /// It cannot be known: the client is refused with this code (never [`SaslCode::Ok`]).
    Failed(SaslCode),
}

/// What a mechanism wants to happen next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaslStep {
    /// Ask the client this.
    Challenge(Vec<u8>),
    /// The client is who it says.
    Done {
        /// The name it is known by from now on.
        user: Option<String>,
        /// Sent with the outcome, where the mechanism has something to add.
        additional_data: Option<Vec<u8>>,
    },
    /// The client is refused with this code (never [`SaslCode::Ok`]).
    Failed(SaslCode),
    /// The answer comes later (a remote service, a blocking library).
    Pending,
}

/// Mechanisms on the client's side.
pub trait SaslClient: Send {
    /// Chooses among what is offered: [`ClientStep::Init`], if any fits.
    fn choose(&mut self, offered: &[Symbol]) -> ClientStep;
    /// Answers a challenge, or gives up.
    fn challenge(&mut self, challenge: &[u8]) -> ClientStep;
    /// Asked after [`ClientStep::Pending`] whenever the owner calls [`crate::Connection::poke_sasl`].
    fn resume(&mut self) -> ClientStep {
        ClientStep::Pending
    }
    /// The server has refused, with this code.
    fn refused(&mut self, code: SaslCode) {
        let _ = code;
    }
    /// The name by which we are known to the server once it has accepted us.
    fn user(&self) -> Option<String> {
        None
    }
    /// The host that the exchange is said to be about, where that is not the one of the open.
    fn hostname(&self) -> Option<String> {
        None
    }
    /// Sees what the server adds to a successful outcome; an error says why the server is not to be trusted.
    fn finish(&mut self, additional_data: Option<&[u8]>) -> Result<(), String> {
        let _ = additional_data;
        Ok(())
    }
    /// The security layer negotiated, taken once after success.
    fn security_layer(&mut self) -> Option<Box<dyn SecurityLayer>> {
        None
    }
}

/// What a client's mechanism wants to happen next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientStep {
    /// Begin with this mechanism. An absent response differs from an empty one.
    Init(Symbol, Option<Vec<u8>>),
    /// None of what is offered fits.
    NoneFits,
    /// Answer the challenge with this.
    Respond(Vec<u8>),
    /// Give up, for this reason.
    Failed(String),
    /// What to say comes later (a remote service, a blocking library).
    Pending,
}

/// Wraps all bytes after SASL (part 5, section 5.3). The owner of the connection drives it.
pub trait SecurityLayer: Send {
    /// Appends the wrapped form of `plain` to `out`. An error ends the connection.
    fn encode(&mut self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), String>;
    /// Appends what whole packets at the start of `wire` contain to `out`, and says how many bytes of `wire` those
    /// were. An error ends the connection.
    fn decode(&mut self, wire: &[u8], out: &mut Vec<u8>) -> Result<usize, String>;
    /// How strong it is, in bits, as SASL counts it (`ssf`): 1 for one that signs and does not encrypt.
    fn strength(&self) -> u32;
}
