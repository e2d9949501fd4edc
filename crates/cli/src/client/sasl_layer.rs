//! SASL's security layer, in a client that waits.

use amqp_endpoint::{Connection, SecurityLayer};

/// The bytes of a connection that has negotiated a security layer, or of one that has not.
#[derive(Default)]
pub(super) struct SaslLayer(Option<Box<dyn SecurityLayer>>);

impl SaslLayer {
    /// Takes the layer that the connection has negotiated, if it has one now. All output of the connection was written.
    /// True: `input` goes through it from now on, and what is there already has.
    pub(super) fn begin(&mut self, engine: &mut Connection, input: &mut Vec<u8>) -> Result<bool, String> {
        let Some(layer) = engine.take_security_layer() else { return Ok(false) };
        self.0 = Some(layer);
        let wire = std::mem::take(input);
        self.decode(&wire, input)?;
        Ok(true)
    }

    /// Appends what came to `input`.
    pub(super) fn decode(&mut self, wire: &[u8], input: &mut Vec<u8>) -> Result<(), String> {
        match &mut self.0 {
            // The layers that there are keep what is no whole packet yet.
            Some(layer) => layer.decode(wire, input).map(drop),
            None => {
                input.extend_from_slice(wire);
                Ok(())
            }
        }
    }

    /// Output in the form in which it is written; `None`: as it is.
    pub(super) fn encode(&mut self, plain: &[u8]) -> Option<Result<Vec<u8>, String>> {
        let layer = self.0.as_mut()?;
        let mut wire = Vec::new();
        Some(layer.encode(plain, &mut wire).map(|()| wire))
    }
}
