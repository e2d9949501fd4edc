//! The server's side, with users and mechanisms that Cyrus SASL has.

use amqp::Symbol;
use amqp::sasl::SaslCode;
use amqp_endpoint::{Readiness, SaslServer, SaslStep, SecurityLayer};
use cyrus::{Cyrus, Failure, Layer, Server, ServerStep, Terms};

use super::Mechanisms;

/// What an exchange through Cyrus SASL needs to know.
#[derive(Clone)]
pub struct CyrusTerms {
    /// The library, whose server's side has been started.
    pub cyrus: &'static Cyrus,
    /// What lies under the exchange, and what is asked of it.
    pub terms: Terms,
    /// Offers none but those named (the configuration's `saslMechanisms`, in capitals or not).
    pub only: Option<Vec<String>>,
}

/// The mechanisms of Cyrus SASL. Its steps may block.
pub struct CyrusServer {
    terms: CyrusTerms,
    server: Option<Server>,
    offered: Vec<Symbol>,
    reason: Option<String>,
}

impl CyrusServer {
    /// For one connection. The library is called only when the peer begins.
    pub fn new(terms: CyrusTerms) -> Self {
        Self { terms, server: None, offered: Vec::new(), reason: None }
    }

    fn begin(&mut self) -> Result<(), Failure> {
        let mut server = Server::new(self.terms.cyrus, &self.terms.terms)?;
        let only = self.terms.only.as_ref();
        let wanted = |name: &String| only.is_none_or(|only| only.iter().any(|one| one.eq_ignore_ascii_case(name)));
        let names = server.mechanisms()?;
        self.offered = names.iter().filter(|name| wanted(name)).map(|name| Symbol::from(name.as_str())).collect();
        self.server = Some(server);
        if self.offered.is_empty() {
            self.reason = Some(format!(
                "of the mechanisms that Cyrus SASL has here ({}), saslMechanisms names none",
                names.join(" ")
            ));
        }
        Ok(())
    }

    fn conclude(&mut self, result: Result<ServerStep, Failure>) -> SaslStep {
        match result {
            Ok(ServerStep::Challenge(challenge)) => SaslStep::Challenge(challenge),
            Ok(ServerStep::Done { user }) => SaslStep::Done { user: Some(user), additional_data: None },
            Err(failure) => {
                let code = if failure.is_temporary() { SaslCode::SysTemp } else { SaslCode::Auth };
                self.reason = Some(failure.text);
                SaslStep::Failed(code)
            }
        }
    }
}

impl SaslServer for CyrusServer {
    fn prepare(&mut self) -> Readiness {
        match self.begin() {
            Ok(()) if self.offered.is_empty() => Readiness::Failed(SaslCode::Sys),
            Ok(()) => Readiness::Ready,
            Err(failure) => {
                self.reason = Some(failure.text);
                Readiness::Failed(SaslCode::SysTemp)
            }
        }
    }

    fn mechanisms(&self) -> Vec<Symbol> {
        self.offered.clone()
    }

    fn init(&mut self, mechanism: &str, initial_response: Option<&[u8]>, _hostname: Option<&str>) -> SaslStep {
        let result = match (mechanism, &self.terms.terms.external_user, &mut self.server) {
            // The library would cut long names, and read an `@` in them as a realm.
            ("EXTERNAL", Some(user), _) => match initial_response {
                Some(other) if !other.is_empty() && other != user.as_bytes() => {
                    self.reason = Some("may not act as somebody else".to_owned());
                    return SaslStep::Failed(SaslCode::Auth);
                }
                _ => Ok(ServerStep::Done { user: user.clone() }),
            },
            (_, _, Some(server)) => server.start(mechanism, initial_response),
            (_, _, None) => return SaslStep::Failed(SaslCode::Sys),
        };
        self.conclude(result)
    }

    fn response(&mut self, response: &[u8]) -> SaslStep {
        let Some(server) = &mut self.server else { return SaslStep::Failed(SaslCode::Sys) };
        let result = server.step(response);
        self.conclude(result)
    }

    fn security_layer(&mut self) -> Option<Box<dyn SecurityLayer>> {
        boxed(self.server.take()?.into_layer())
    }
}

impl Mechanisms for CyrusServer {
    fn reason(&self) -> Option<String> {
        self.reason.clone()
    }
}

/// The library's layer, as endpoints' owners know it.
struct CyrusLayer(Layer);

pub(super) fn boxed(layer: Option<Layer>) -> Option<Box<dyn SecurityLayer>> {
    layer.map(|layer| Box::new(CyrusLayer(layer)) as Box<dyn SecurityLayer>)
}

impl SecurityLayer for CyrusLayer {
    fn encode(&mut self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        self.0.encode(plain, out).map_err(|failure| failure.text)
    }

    fn decode(&mut self, wire: &[u8], out: &mut Vec<u8>) -> Result<usize, String> {
        // The library keeps what is no whole packet yet.
        self.0.decode(wire, out).map_err(|failure| failure.text)?;
        Ok(wire.len())
    }

    fn strength(&self) -> u32 {
        self.0.strength()
    }
}
