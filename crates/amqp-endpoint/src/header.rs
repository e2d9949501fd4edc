//! Protocol headers (part 2, section 2.2; part 5, sections 5.2.1 and 5.3.1): which layer the peer wants next.

use amqp::ErrorCondition;
use amqp::condition::names;
use amqp::frame::{AMQP_HEADER, SASL_HEADER, TLS_HEADER};
use amqp::trace::{self, Direction};

use crate::connection::{Phase, Step};
use crate::{Connection, Event, Input};

/// What the peer's next protocol header may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Whatever this end, an acceptor, is prepared for.
    First,
    Sasl,
    Amqp,
}

impl Connection {
    /// A peer that asks for TLS gets it, as [`Event::StartTls`]; otherwise it is refused. Acceptors only.
    pub fn allow_tls(&mut self) {
        if let Some(handshake) = &mut self.handshake {
            handshake.allow_tls = true;
        }
    }

    /// Reads the peer's protocol header, which may come in any pieces. A wrong one is refused as soon as it differs.
    pub(crate) fn read_header<'a>(&mut self, expected: Expected, input: &mut Input<'a>) -> Step<'a> {
        let seen = input.rest();
        let seen = &seen[..seen.len().min(8)];
        if seen.is_empty() {
            return Step::Wait;
        }
        let Some(header) = self.acceptable(expected).into_iter().flatten().find(|header| header.starts_with(seen))
        else {
            return self.refuse_header(expected, seen);
        };
        if seen.len() < header.len() {
            return Step::Wait;
        }
        input.consume(header.len());
        self.timers.hear();
        self.output.tell(|text| trace::event(text, Direction::Incoming, layer_name(header)));
        match header {
            TLS_HEADER => self.start_tls(),
            SASL_HEADER => self.start_sasl(),
            _ => self.start_amqp(),
        }
    }

    fn acceptable(&self, expected: Expected) -> [Option<[u8; 8]>; 3] {
        let Some(handshake) = &self.handshake else { return [None; 3] };
        match expected {
            Expected::First => [
                Some(AMQP_HEADER),
                handshake.sasl.is_some().then_some(SASL_HEADER),
                handshake.allow_tls.then_some(TLS_HEADER),
            ],
            Expected::Sasl => [Some(SASL_HEADER), None, None],
            Expected::Amqp => [Some(AMQP_HEADER), None, None],
        }
    }

    /// Tells the peer what it should have sent, and ends.
    fn refuse_header<'a>(&mut self, expected: Expected, seen: &[u8]) -> Step<'a> {
        let wanted: Vec<&str> = self.acceptable(expected).into_iter().flatten().map(layer_name).collect();
        let mut text =
            format!("expected the protocol header of {} 1.0, found '{}'", wanted.join(" or "), seen.escape_ascii());
        if let Some(asked) = [AMQP_HEADER, SASL_HEADER, TLS_HEADER].into_iter().find(|header| header == seen) {
            text = format!("{text}: the peer asks for {}", layer_name(asked));
        }
        self.fail(ErrorCondition::new(names::FRAMING_ERROR, text));
        Step::Again
    }

    /// The header an acceptor answers a wrong one with.
    pub(crate) fn own_header(&self, expected: Expected) -> [u8; 8] {
        let sasl = |handshake: &crate::handshake::Handshake| handshake.sasl.is_some() && handshake.sasl_required;
        match expected {
            Expected::First if self.handshake.as_deref().is_some_and(sasl) => SASL_HEADER,
            Expected::Sasl => SASL_HEADER,
            Expected::First | Expected::Amqp => AMQP_HEADER,
        }
    }

    fn start_tls<'a>(&mut self) -> Step<'a> {
        if let Some(handshake) = &mut self.handshake {
            handshake.allow_tls = false;
        }
        self.output.header(TLS_HEADER);
        Step::Event(Event::StartTls)
    }

    fn start_amqp<'a>(&mut self) -> Step<'a> {
        let Some(handshake) = &self.handshake else { return Step::Wait };
        let (acceptor, authenticated) = (handshake.acceptor, handshake.authenticated);
        if acceptor && handshake.sasl_required && !authenticated {
            let text = "Client skipped authentication - forbidden";
            self.fail(ErrorCondition::new("amqp:connection:policy-error", text));
            return Step::Again;
        }
        if acceptor && handshake.config.security_layer_required && !handshake.protected {
            let text = "Client connection unencrypted - forbidden";
            self.fail(ErrorCondition::new("amqp:connection:policy-error", text));
            return Step::Again;
        }
        if acceptor {
            self.output.header(AMQP_HEADER);
        }
        self.phase = Phase::Amqp;
        if authenticated {
            return Step::Again;
        }
        Step::Event(Event::Authenticated { mechanism: None, user: None })
    }
}

/// The layer that a protocol header begins.
pub(crate) fn layer_name(header: [u8; 8]) -> &'static str {
    match header {
        SASL_HEADER => "SASL",
        TLS_HEADER => "TLS",
        _ => "AMQP",
    }
}
