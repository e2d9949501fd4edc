//! Messages: what routers read of them and write into them is encoded as on the wire; the rest is a number.

use std::rc::Rc;

use amqp::Decoder;
use amqp::message::{MessageAnnotations, RouterAnnotations, UserAnnotations, write_message_annotations};
use router_core::Transmit;

/// A message.
#[derive(Debug)]
pub struct Message {
    /// Its number; those of the routing protocol have none.
    pub id: Option<u64>,
    /// What its bytes look like: what looks alike is told apart by nothing in it.
    pub looks: Option<u64>,
    /// `to` of its properties.
    pub to: Option<String>,
    /// Priority of its header.
    pub priority: u8,
    /// Its section of message annotations; empty: none.
    annotations: Vec<u8>,
    /// A message of the routing protocol.
    control: Option<Rc<[u8]>>,
}

impl Message {
    /// A client's.
    pub(crate) fn of_client(id: u64, looks: u64, to: Option<String>, priority: u8) -> Self {
        Self { id: Some(id), looks: Some(looks), to, priority, annotations: Vec::new(), control: None }
    }

    /// The routing protocol's.
    pub(crate) fn of_router(bytes: Vec<u8>, to: &str) -> Self {
        Self {
            id: None,
            looks: None,
            to: Some(to.to_owned()),
            priority: 9,
            annotations: Vec::new(),
            control: Some(bytes.into()),
        }
    }

    /// The bytes of a message of the routing protocol.
    pub(crate) fn control(&self) -> Option<&[u8]> {
        self.control.as_deref()
    }

    /// Its router annotations.
    pub(crate) fn router(&self) -> RouterAnnotations<'_> {
        decode(&self.annotations).router
    }

    /// The message as the router `this` (`0/<id>`) sends it on.
    pub(crate) fn sent_on(&self, how: &Transmit<'_>, this: Option<&str>) -> Self {
        let mut annotations = Vec::new();
        if how.annotate {
            let came = decode(&self.annotations).router;
            let goes = RouterAnnotations {
                phase: how.phase,
                stream: false,
                to: how.to_override,
                ingress: came.ingress.or(this),
                trace: came.trace,
            };
            write_message_annotations(&mut annotations, &UserAnnotations::default(), &goes, this);
        }
        let (id, looks, priority) = (self.id, self.looks, self.priority);
        Self { id, looks, to: self.to.clone(), priority, annotations, control: self.control.clone() }
    }
}

fn decode(section: &[u8]) -> MessageAnnotations<'_> {
    let mut value = Decoder::new(section);
    match value.read_descriptor() {
        // This crate wrote it: it can be read.
        Ok(_) => MessageAnnotations::decode(value.rest()).unwrap_or_default(),
        Err(_) => MessageAnnotations::default(),
    }
}
