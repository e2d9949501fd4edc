//! What is said of transactions (part 4 of the specification): to the coordinator, by it, and with transfers and outcomes.

use amqp::codec::{ListEncoder, encode};
use amqp::message::{Scan, Scanner, SectionKind};
use amqp::{Decoder, DeliveryState, descriptor};

/// What a coordinator is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// A new transaction.
    Declare,
    /// The end of one.
    Discharge {
        /// Which.
        txn: Vec<u8>,
        /// All of it is to be as if it had never been.
        fail: bool,
    },
}

impl Request {
    /// Reads the message to a coordinator; `None`: it is none that a coordinator knows.
    pub(super) fn of(message: &[u8]) -> Option<Self> {
        let mut scanner = Scanner::new(message, true);
        while let Ok(Scan::Section(section)) = scanner.next() {
            if section.kind == SectionKind::Value {
                return Self::decode(section.value);
            }
        }
        None
    }

    fn decode(value: &[u8]) -> Option<Self> {
        let mut decoder = Decoder::new(value);
        match decoder.read_descriptor().ok()?.code()? {
            descriptor::DECLARE => Some(Self::Declare),
            descriptor::DISCHARGE => {
                let mut fields = decoder.read_fields("discharge", 2).ok()?;
                let txn = fields.mandatory("txn-id", Decoder::read_binary).ok()?.to_vec();
                let fail = fields.optional(Decoder::read_bool).ok()?.unwrap_or(false);
                Some(Self::Discharge { txn, fail })
            }
            _ => None,
        }
    }
}

/// The answer to a declaration.
pub(super) fn declared(txn: &[u8]) -> DeliveryState {
    let mut bytes = Vec::new();
    let mut list = ListEncoder::described(&mut bytes, descriptor::DECLARED);
    list.field(|out| encode::binary(out, txn));
    list.finish();
    DeliveryState::Other(bytes.into())
}

/// That something belongs to a transaction, and what is to become of it then.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TransactionalState {
    /// Which transaction.
    pub(super) txn: Vec<u8>,
    /// The outcome, once it is discharged.
    pub(super) outcome: Option<DeliveryState>,
}

impl TransactionalState {
    /// Reads it; `None`: the state is another.
    pub(super) fn of(state: &DeliveryState) -> Option<Self> {
        let DeliveryState::Other(bytes) = state else { return None };
        let mut decoder = Decoder::new(bytes);
        if decoder.read_descriptor().ok()?.code()? != descriptor::TRANSACTIONAL_STATE {
            return None;
        }
        let mut fields = decoder.read_fields("transactional-state", 2).ok()?;
        let txn = fields.mandatory("txn-id", Decoder::read_binary).ok()?.to_vec();
        let outcome = fields.optional(DeliveryState::decode).ok()?;
        Some(Self { txn, outcome })
    }

    /// As it is said.
    pub(super) fn state(&self) -> DeliveryState {
        let mut bytes = Vec::new();
        let mut list = ListEncoder::described(&mut bytes, descriptor::TRANSACTIONAL_STATE);
        list.field(|out| encode::binary(out, &self.txn));
        list.optional(self.outcome.as_ref(), |out, outcome| outcome.encode(out));
        list.finish();
        DeliveryState::Other(bytes.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transactional_state_is_read_as_it_was_written() {
        for outcome in [None, Some(DeliveryState::Accepted), Some(DeliveryState::Rejected(None))] {
            let state = TransactionalState { txn: vec![1, 2, 3], outcome };
            assert_eq!(TransactionalState::of(&state.state()), Some(state));
        }
    }

    #[test]
    fn a_discharge_is_read_from_a_message() {
        let mut message = vec![0x00, 0x53, 0x77];
        let mut list = ListEncoder::described(&mut message, descriptor::DISCHARGE);
        list.field(|out| encode::binary(out, b"t1"));
        list.flag(true);
        list.finish();
        assert_eq!(Request::of(&message), Some(Request::Discharge { txn: b"t1".to_vec(), fail: true }));
        assert_eq!(Request::of(b"\x00\x53\x77\xa1\x01x"), None);
    }
}
