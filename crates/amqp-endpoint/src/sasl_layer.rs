//! The SASL layer (part 5, section 5.3): frames in, mechanisms asked, frames out.

use amqp::ErrorCondition;
use amqp::Symbol;
use amqp::condition::names;
use amqp::frame::{FrameKind, SASL_HEADER, Split, split};
use amqp::sasl::{SaslCode, SaslFrame};
use amqp::trace::{self, Direction};

use crate::connection::{Phase, Queued, Step};
use crate::fault::Fault;
use crate::handshake::Handshake;
use crate::output::Output;
use crate::{ClientStep, Connection, Event, Input, Readiness, SaslClient, SaslServer, SaslStep};

/// Bytes; the largest SASL frame accepted. The specification allows 512, which is too little for tickets and tokens.
const MAX_FRAME_SIZE: u32 = 16 * 1024;
/// Challenges in one exchange; no mechanism in use needs a third of them.
const MAX_CHALLENGES: u32 = 16;

/// One side of the exchange.
pub(crate) struct Sasl {
    side: Mechanisms,
    /// The mechanism chosen.
    chosen: Option<Symbol>,
    /// What the server offers, while a client has not chosen yet.
    offered: Vec<Symbol>,
    challenges: u32,
    waiting: Waiting,
}

enum Mechanisms {
    Server(Box<dyn SaslServer>),
    Client(Box<dyn SaslClient>),
}

/// What has to come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    /// The client's init, or the server's mechanisms.
    First,
    /// The client's response, or the server's challenge or outcome.
    Next,
    /// A mechanism's answer.
    Mechanism,
    /// The list of the server's own mechanisms.
    Offer,
}

/// What a frame comes to.
enum Outcome {
    Continue,
    Success { user: Option<String> },
    Failure,
}

impl Sasl {
    pub(crate) fn server(server: Box<dyn SaslServer>) -> Self {
        Self::new(Mechanisms::Server(server))
    }

    pub(crate) fn client(client: Box<dyn SaslClient>) -> Self {
        Self::new(Mechanisms::Client(client))
    }

    fn new(side: Mechanisms) -> Self {
        Self { side, chosen: None, offered: Vec::new(), challenges: 0, waiting: Waiting::First }
    }

    /// What failing at this point of the exchange is told with.
    pub(crate) fn failure_frame(&self) -> Option<SaslFrame> {
        match self.side {
            Mechanisms::Server(_) => Some(SaslFrame::Outcome { code: SaslCode::Sys, additional_data: None }),
            Mechanisms::Client(_) => None,
        }
    }

    fn handle(&mut self, frame: SaslFrame, hostname: Option<&str>, output: &mut Output) -> Result<Outcome, Fault> {
        match (&mut self.side, frame, self.waiting) {
            (Mechanisms::Server(server), SaslFrame::Init { mechanism, initial_response, hostname }, Waiting::First) => {
                let step = if server.mechanisms().contains(&mechanism) {
                    server.init(mechanism.as_str(), initial_response.as_deref(), hostname.as_deref())
                } else {
                    SaslStep::Failed(SaslCode::Auth)
                };
                self.chosen = Some(mechanism);
                self.serve(step, output)
            }
            (Mechanisms::Server(server), SaslFrame::Response(response), Waiting::Next) => {
                let step = server.response(&response);
                self.serve(step, output)
            }
            (Mechanisms::Client(client), SaslFrame::Mechanisms(offered), Waiting::First) => {
                let step = client.choose(&offered);
                self.offered = offered;
                self.speak(step, hostname, output)
            }
            (Mechanisms::Client(client), SaslFrame::Challenge(challenge), Waiting::Next) => {
                let step = client.challenge(&challenge);
                self.count_challenge()?;
                self.speak(step, hostname, output)
            }
            (Mechanisms::Client(client), SaslFrame::Outcome { code, .. }, _) if code != SaslCode::Ok => {
                client.refused(code);
                Ok(Outcome::Failure)
            }
            (Mechanisms::Client(client), SaslFrame::Outcome { additional_data, .. }, Waiting::Next) => {
                let finished = client.finish(additional_data.as_deref());
                finished.map_err(|text| Fault::connection(names::UNAUTHORIZED_ACCESS, text))?;
                Ok(Outcome::Success { user: client.user() })
            }
            (_, frame, _) => {
                let text = format!("SASL frame {} came at the wrong time", kind(&frame));
                Err(Fault::connection(names::NOT_ALLOWED, text))
            }
        }
    }

    /// Does what the server's mechanism wants.
    fn serve(&mut self, step: SaslStep, output: &mut Output) -> Result<Outcome, Fault> {
        self.waiting = Waiting::Next;
        match step {
            SaslStep::Challenge(challenge) => {
                self.count_challenge()?;
                output.sasl(&SaslFrame::Challenge(challenge));
                Ok(Outcome::Continue)
            }
            SaslStep::Done { user, additional_data } => {
                output.sasl(&SaslFrame::Outcome { code: SaslCode::Ok, additional_data });
                Ok(Outcome::Success { user })
            }
            SaslStep::Failed(code) => {
                // A mechanism that fails with "ok" fails all the same.
                let code = if code == SaslCode::Ok { SaslCode::Auth } else { code };
                output.sasl(&SaslFrame::Outcome { code, additional_data: None });
                Ok(Outcome::Failure)
            }
            SaslStep::Pending => {
                self.waiting = Waiting::Mechanism;
                Ok(Outcome::Continue)
            }
        }
    }

    /// Does what the client's mechanism wants.
    fn speak(&mut self, step: ClientStep, hostname: Option<&str>, output: &mut Output) -> Result<Outcome, Fault> {
        self.waiting = Waiting::Next;
        match step {
            ClientStep::Init(mechanism, initial_response) => {
                let own = match &self.side {
                    Mechanisms::Client(client) => client.hostname(),
                    Mechanisms::Server(_) => None,
                };
                let hostname = own.or_else(|| hostname.map(str::to_owned));
                self.offered = Vec::new();
                self.chosen = Some(mechanism.clone());
                output.sasl(&SaslFrame::Init { mechanism, initial_response, hostname });
            }
            ClientStep::Respond(response) => output.sasl(&SaslFrame::Response(response)),
            ClientStep::NoneFits => return Err(no_mechanism_fits(&self.offered)),
            ClientStep::Failed(reason) => return Err(self.given_up(&reason)),
            ClientStep::Pending => self.waiting = Waiting::Mechanism,
        }
        Ok(Outcome::Continue)
    }

    fn given_up(&self, reason: &str) -> Fault {
        let mechanism = self.chosen.as_ref().map_or("none", Symbol::as_str);
        let text = format!("Authentication failed [mech={mechanism}]: {reason}");
        Fault::connection(names::UNAUTHORIZED_ACCESS, text)
    }

    /// Says what is offered, if that is known.
    fn offer(&mut self, output: &mut Output) -> Outcome {
        let Mechanisms::Server(server) = &mut self.side else { return Outcome::Continue };
        match server.prepare() {
            Readiness::Ready => {
                self.waiting = Waiting::First;
                output.sasl(&SaslFrame::Mechanisms(server.mechanisms()));
            }
            Readiness::Pending => self.waiting = Waiting::Offer,
            Readiness::Failed(code) => {
                let code = if code == SaslCode::Ok { SaslCode::Auth } else { code };
                output.sasl(&SaslFrame::Outcome { code, additional_data: None });
                return Outcome::Failure;
            }
        }
        Outcome::Continue
    }

    fn count_challenge(&mut self) -> Result<(), Fault> {
        self.challenges += 1;
        if self.challenges <= MAX_CHALLENGES {
            return Ok(());
        }
        let text = format!("the SASL exchange did not end after {MAX_CHALLENGES} challenges");
        Err(Fault::connection(names::UNAUTHORIZED_ACCESS, text))
    }
}

impl Connection {
    /// The peer's SASL header came.
    pub(crate) fn start_sasl<'a>(&mut self) -> Step<'a> {
        self.phase = Phase::Sasl;
        if let Some(sasl) = self.handshake.as_mut().and_then(|handshake| handshake.sasl.as_mut())
            && matches!(sasl.side, Mechanisms::Server(_))
        {
            self.output.header(SASL_HEADER);
            let outcome = sasl.offer(&mut self.output);
            self.conclude(Ok(outcome));
        }
        Step::Again
    }

    /// Reads one SASL frame.
    pub(crate) fn read_sasl<'a>(&mut self, input: &mut Input<'a>) -> Step<'a> {
        let Some((sasl, hostname)) = self.handshake.as_deref_mut().and_then(Handshake::exchange) else {
            return Step::Wait;
        };
        if matches!(sasl.waiting, Waiting::Mechanism | Waiting::Offer) {
            return Step::Wait;
        }
        let outcome = match split(input.rest(), MAX_FRAME_SIZE) {
            Ok(Split::NeedMore { .. }) => return Step::Wait,
            Ok(Split::Frame { frame, used }) if frame.kind == FrameKind::Sasl => {
                input.consume(used);
                self.timers.hear();
                self.output.tell(|text| trace::sasl_frame(text, Direction::Incoming, frame.body));
                let decoded = SaslFrame::decode(frame.body);
                let decoded = decoded.map_err(|error| Fault::connection(names::DECODE_ERROR, error.to_string()));
                decoded.and_then(|frame| sasl.handle(frame, hostname, &mut self.output))
            }
            Ok(Split::Frame { .. }) => {
                Err(Fault::connection(names::FRAMING_ERROR, "an AMQP frame came before SASL was done"))
            }
            Err(error) => Err(Fault::connection(names::FRAMING_ERROR, error.to_string())),
        };
        self.conclude(outcome);
        Step::Again
    }

    /// Asks a pending SASL mechanism again; what comes of it is in the output, and told by the next poll.
    pub fn poke_sasl(&mut self) {
        if self.phase != Phase::Sasl {
            return;
        }
        let Some((sasl, hostname)) = self.handshake.as_deref_mut().and_then(Handshake::exchange) else { return };
        let outcome = match (sasl.waiting, &mut sasl.side) {
            (Waiting::Offer, _) => Ok(sasl.offer(&mut self.output)),
            (Waiting::Mechanism, Mechanisms::Server(server)) => {
                let step = server.resume();
                sasl.serve(step, &mut self.output)
            }
            (Waiting::Mechanism, Mechanisms::Client(client)) => {
                let step = client.resume();
                sasl.speak(step, hostname, &mut self.output)
            }
            (Waiting::First | Waiting::Next, _) => return,
        };
        self.conclude(outcome);
    }

    /// Whether nothing that comes is read before the owner has poked a mechanism or taken a security layer: it should
    /// stay where it is, as a peer may send as much as it likes.
    pub fn awaits_owner(&self) -> bool {
        let Some(handshake) = &self.handshake else { return false };
        match self.phase {
            Phase::Sasl => {
                let waiting = handshake.sasl.as_ref().map(|sasl| sasl.waiting);
                matches!(waiting, Some(Waiting::Mechanism | Waiting::Offer))
            }
            Phase::Authenticated => handshake.layer.is_some(),
            _ => false,
        }
    }

    fn conclude(&mut self, outcome: Result<Outcome, Fault>) {
        let Some(handshake) = &mut self.handshake else { return };
        let Some(sasl) = &mut handshake.sasl else { return };
        match outcome {
            Ok(Outcome::Continue) => {}
            Ok(Outcome::Success { user }) => {
                handshake.layer = match &mut sasl.side {
                    Mechanisms::Server(server) => server.security_layer(),
                    Mechanisms::Client(client) => client.security_layer(),
                };
                handshake.authenticated = true;
                handshake.protected = handshake.layer.as_ref().is_some_and(|layer| layer.strength() > 1);
                let mechanism = sasl.chosen.take();
                handshake.sasl = None;
                self.phase = Phase::Authenticated;
                self.queue.push_back(Queued::event(Event::Authenticated { mechanism, user }));
            }
            Ok(Outcome::Failure) => {
                let mechanism = sasl.chosen.as_ref().map_or("none", Symbol::as_str);
                let text = format!("Authentication failed [mech={mechanism}]");
                // The outcome is told already, or is the peer's own.
                handshake.sasl = None;
                self.fail(ErrorCondition::new(names::UNAUTHORIZED_ACCESS, text));
            }
            Err(Fault::Link(_, error) | Fault::Session(_, error) | Fault::Connection(error)) => self.fail(error),
        }
    }
}

impl Handshake {
    /// The exchange under way, and the host it is about.
    fn exchange(&mut self) -> Option<(&mut Sasl, Option<&str>)> {
        Some((self.sasl.as_mut()?, self.config.hostname.as_deref()))
    }
}

#[cold]
fn no_mechanism_fits(offered: &[Symbol]) -> Fault {
    let offered: Vec<&str> = offered.iter().map(Symbol::as_str).collect();
    let text = format!(
        "Authentication failed [mech=none]: the peer offers {:?}, none of which can be used with what is configured here",
        offered.join(" ")
    );
    Fault::connection(names::UNAUTHORIZED_ACCESS, text)
}

fn kind(frame: &SaslFrame) -> &'static str {
    match frame {
        SaslFrame::Mechanisms(_) => "sasl-mechanisms",
        SaslFrame::Init { .. } => "sasl-init",
        SaslFrame::Challenge(_) => "sasl-challenge",
        SaslFrame::Response(_) => "sasl-response",
        SaslFrame::Outcome { .. } => "sasl-outcome",
    }
}
