//! What the engine says: messages, and lines for the log.

use super::PathEngine;
use crate::wire::{Body, ControlMessage};
use crate::{Level, LinkRef, Module, Output};

impl PathEngine {
    pub(super) fn send(&mut self, to: &str, on: Option<LinkRef>, body: Body) {
        let id = self.config.id.clone();
        self.send_for(&id, to, on, body);
    }

    /// Sends what another router has said.
    pub(super) fn send_for(&mut self, id: &str, to: &str, on: Option<LinkRef>, body: Body) {
        let message = ControlMessage { id: id.to_owned(), body };
        if self.traces && !matches!(message.body, Body::AddressChange { .. } | Body::Addresses { .. }) {
            let (module, receiver) = (message.body.module(), message.body.receiver(to));
            self.trace(module, Level::Trace, || format!("SENT: {message}{receiver}"));
        }
        let content = message.encode(to);
        self.outputs.push_back(Output::Send { to: to.to_owned(), on, content });
    }

    pub(super) fn trace_received(&mut self, message: &ControlMessage) {
        let text = match &message.body {
            Body::AddressChange { mobile_seq, .. } => {
                format!("Received MAU (differential) from {}, mobile_seq={mobile_seq}", message.id)
            }
            Body::Addresses { mobile_seq, .. } => {
                format!("Received MAU (absolute) from {}, mobile_seq={mobile_seq}", message.id)
            }
            Body::AddressRequest { have_seq } => format!("Received MAR from {}, have_seq={have_seq}", message.id),
            _ => return self.log(message.body.module(), Level::Trace, format!("RCVD: {message}")),
        };
        self.log(Module::RouterMa, Level::Debug, text);
    }

    pub(super) fn log(&mut self, module: Module, level: Level, text: String) {
        self.outputs.push_back(Output::Log { module, level, text });
    }

    /// A line that is made only if it is wanted.
    pub(super) fn trace(&mut self, module: Module, level: Level, text: impl FnOnce() -> String) {
        if self.traces {
            self.log(module, level, text());
        }
    }
}

impl Body {
    fn module(&self) -> Module {
        match self {
            Self::Hello { .. } => Module::RouterHello,
            Self::Advertisement { .. } | Self::LinkState { .. } | Self::LinkStateRequest | Self::Sync(_) => {
                Module::RouterLs
            }
            _ => Module::RouterMa,
        }
    }

    /// The old router names the receiver of requests only.
    fn receiver(&self, to: &str) -> String {
        match self {
            Self::LinkStateRequest | Self::AddressRequest { .. } => {
                format!(" to: {}", to.split('/').nth(3).unwrap_or_default())
            }
            _ => String::new(),
        }
    }
}
