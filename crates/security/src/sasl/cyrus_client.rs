//! The client's side, with mechanisms that only Cyrus SASL has.

use amqp::Symbol;
use amqp_endpoint::{ClientStep, SecurityLayer};
use cyrus::{Client, Cyrus, Failure, Identity, Terms};

use super::cyrus_server::boxed;

/// One exchange.
pub(super) struct CyrusClient(Client);

impl CyrusClient {
    /// Begins with this mechanism: what to say, and the exchange.
    pub(super) fn begin(
        mechanism: &str,
        host: &str,
        identity: &Identity,
        terms: &Terms,
    ) -> Result<(Self, ClientStep), String> {
        let cyrus = Cyrus::load(super::log::tell).map_err(|error| error.to_string())?;
        cyrus.start_client(None).map_err(|error| error.to_string())?;
        let text = |failure: Failure| failure.text;
        let mut client = Client::new(cyrus, host, identity, terms).map_err(text)?;
        let step = client.start(&[mechanism]).map_err(text)?;
        Ok((Self(client), convert(step)))
    }

    pub(super) fn challenge(&mut self, challenge: &[u8]) -> ClientStep {
        self.0.step(challenge).map_or_else(|failure| ClientStep::Failed(failure.text), convert)
    }

    pub(super) fn finish(&mut self, additional_data: &[u8]) -> Result<(), String> {
        self.0.step(additional_data).map(drop).map_err(|failure| failure.text)
    }

    pub(super) fn into_layer(self) -> Option<Box<dyn SecurityLayer>> {
        boxed(self.0.into_layer())
    }
}

fn convert(step: cyrus::ClientStep) -> ClientStep {
    match step {
        cyrus::ClientStep::Init(mechanism, response) => ClientStep::Init(Symbol::from(mechanism.as_str()), response),
        cyrus::ClientStep::Respond(response) => ClientStep::Respond(response),
    }
}
