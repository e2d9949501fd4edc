//! Requests to a management node.

use amqp::message::{Message, Scan, Scanner};
use amqp::performative::SenderSettleMode;
use amqp::{DeliveryState, Value};
use management::client::{Pages, Request, Table, read_reply};

use super::{Client, ClientError, Receiver, ReceiverOptions, Sender};

/// A management node: an address to send requests to, and one to have the replies sent to.
pub struct Node {
    sender: Sender,
    receiver: Receiver,
    requests: u64,
}

impl Node {
    /// Attaches to the management node at this address.
    ///
    /// # Errors
    /// If the peer refuses the links or does not answer.
    pub fn attach(client: &mut Client, address: &str) -> Result<Self, ClientError> {
        let sender = client.sender(Some(address), SenderSettleMode::Mixed)?;
        let receiver = client.receiver(&ReceiverOptions { credit: 1, ..ReceiverOptions::default() })?;
        Ok(Self { sender, receiver, requests: 0 })
    }

    /// Sends a request and waits for the reply to it.
    ///
    /// # Errors
    /// If the node refuses, or no reply comes in time.
    pub fn call(&mut self, client: &mut Client, request: Request) -> Result<Value, ClientError> {
        self.requests += 1;
        let id = Value::String(self.requests.to_string());
        let message = request.into_message(&self.receiver.address, id.clone());
        client.send(&self.sender, &message.to_bytes(), false)?;
        let deadline = client.deadline();
        loop {
            let Some(incoming) = client.receive(&self.receiver, deadline)? else {
                return Err(client.timed_out("Waiting for response"));
            };
            if !incoming.settled {
                client.settle(&self.receiver, incoming.delivery_id, DeliveryState::Accepted);
            }
            client.grant(&self.receiver, 1);
            let reply = decode(&incoming.bytes)?;
            // A late reply to a request that was given up is passed over.
            if reply.properties.correlation_id.as_ref() == Some(&id) {
                return Ok(read_reply(reply)?);
            }
        }
    }

    /// Asks for entities of a type (all if `None`), their attributes (all if none are named), at most `limit` of them
    /// (all if 0), page by page.
    ///
    /// # Errors
    /// As [`Node::call`], and if the reply has not the form of a query's result.
    pub fn query(
        &mut self,
        client: &mut Client,
        entity_type: Option<&str>,
        attributes: &[&str],
        limit: usize,
    ) -> Result<Table, ClientError> {
        let mut pages = Pages::new(entity_type, attributes, limit);
        while let Some(request) = pages.next() {
            if !pages.take(self.call(client, request)?) {
                return Err(ClientError::Value("the reply to the query is not a table of attributes".to_owned()));
            }
        }
        Ok(pages.into_table())
    }
}

/// A reply. The old router's refusals may end in a body that is no section: then what stands before it counts.
fn decode(bytes: &[u8]) -> Result<Message, ClientError> {
    let mut scanner = Scanner::new(bytes, true);
    while let Ok(Scan::Section(_)) = scanner.next() {}
    Message::decode(&bytes[..scanner.position()])
        .map_err(|error| ClientError::Value(format!("the reply is not a valid message: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use amqp::message::Body;

    #[test]
    fn a_refusal_with_a_broken_body_is_still_a_refusal() {
        let mut message = Message::new(Body::Empty);
        message.application_properties.insert("statusCode", 403);
        message.application_properties.insert("statusDescription", "Forbidden");
        let bytes = [message.to_bytes(), vec![0xd1, 0, 0, 0, 4, 0, 0, 0, 0]].concat();
        let refusal = read_reply(decode(&bytes).expect("the sections before the body are whole")).unwrap_err();
        assert_eq!((refusal.class.name(), refusal.to_string().as_str()), ("ForbiddenStatus", "Forbidden"));
    }
}
