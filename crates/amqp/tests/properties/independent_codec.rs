//! An independent codec (fe2o3-amqp-types on serde_amqp) reads what this crate writes, field for field, and this crate
//! reads what that one writes.

mod translate;

use std::fmt::Debug;

use amqp::message::Message;
use amqp::performative::Transfer;
use amqp::sasl::SaslFrame;
use amqp::{Decoder, DeliveryState, Performative, Value};
use fe2o3_amqp_types::messaging::message::__private::{Deserializable, Serializable};
use fe2o3_amqp_types::{messaging, performatives, sasl};
use proptest::prelude::*;
use serde_amqp::serde::Serialize;
use serde_amqp::serde::de::DeserializeOwned;

use super::strategies;

/// The other codec reads `bytes` as a `T`, which `translate` turns into our type; then writes it again, and `read` is
/// our reader. Both must give `ours`.
fn check<T, O>(
    ours: &O,
    bytes: &[u8],
    translate: impl Fn(T) -> O,
    read: impl Fn(&[u8]) -> O,
) -> Result<(), TestCaseError>
where
    T: DeserializeOwned + Serialize,
    O: Debug + PartialEq,
{
    let theirs: T = other_reads(bytes)?;
    let rewritten = other_writes(&theirs)?;
    prop_assert_eq!(&translate(theirs), ours);
    prop_assert_eq!(&read(&rewritten), ours);
    Ok(())
}

fn other_reads<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, TestCaseError> {
    serde_amqp::from_slice(bytes).map_err(|error| TestCaseError::fail(error.to_string()))
}

fn other_writes<T: Serialize>(theirs: &T) -> Result<Vec<u8>, TestCaseError> {
    serde_amqp::to_vec(theirs).map_err(|error| TestCaseError::fail(error.to_string()))
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out);
    out
}

macro_rules! check_performative {
    ($variant:ident, $ours:expr) => {{
        let ours = $ours;
        let bytes = written(|out| ours.encode(out));
        check(&ours, &bytes, translate::translate::<performatives::$variant, _>, |bytes| match Performative::decode(
            bytes,
        )
        .expect("the other codec wrote it")
        {
            (Performative::$variant(read), []) => translate::owned(read),
            other => panic!("read as {other:?}"),
        })?;
    }};
}

proptest! {
    #[test]
    fn values(value in strategies::common_value()) {
        let bytes = written(|out| value.encode(out));
        let read = |bytes: &[u8]| translate::canonical(Value::decode(bytes).expect("the other codec wrote it"));
        check(&value, &bytes, translate::value, read)?;
    }

    #[test]
    fn opens(open in strategies::open()) {
        check_performative!(Open, open);
    }

    #[test]
    fn begins(begin in strategies::begin()) {
        check_performative!(Begin, begin);
    }

    #[test]
    fn attaches(attach in strategies::attach()) {
        check_performative!(Attach, attach);
    }

    #[test]
    fn flows(flow in strategies::flow()) {
        check_performative!(Flow, flow);
    }

    #[test]
    fn transfers((transfer, tag) in strategies::transfer()) {
        let ours = Transfer { delivery_tag: tag.as_deref(), ..transfer };
        let theirs: performatives::Transfer = other_reads(&written(|out| ours.encode(out)))?;
        let rewritten = other_writes(&theirs)?;
        prop_assert_eq!(&translate::transfer(&theirs), &ours);
        prop_assert_eq!(Performative::decode(&rewritten), Ok((Performative::Transfer(ours), &[][..])));
    }

    #[test]
    fn dispositions(disposition in strategies::disposition()) {
        check_performative!(Disposition, disposition);
    }

    #[test]
    fn detaches(detach in strategies::detach()) {
        check_performative!(Detach, detach);
    }

    #[test]
    fn ends(end in strategies::end()) {
        check_performative!(End, end);
    }

    #[test]
    fn closes(close in strategies::close()) {
        check_performative!(Close, close);
    }

    #[test]
    fn states(state in strategies::state()) {
        let bytes = written(|out| state.encode(out));
        let read = |bytes: &[u8]| DeliveryState::decode(&mut Decoder::new(bytes)).expect("the other codec wrote it");
        check(&state, &bytes, translate::state, read)?;
    }

    #[test]
    fn sasl_frames(frame in strategies::sasl_frame()) {
        let bytes = written(|out| frame.encode(out));
        let read = |bytes: &[u8]| SaslFrame::decode(bytes).expect("the other codec wrote it");
        match &frame {
            SaslFrame::Mechanisms(_) => check::<sasl::SaslMechanisms, _>(&frame, &bytes, translate::translate, read)?,
            SaslFrame::Init { .. } => check::<sasl::SaslInit, _>(&frame, &bytes, translate::translate, read)?,
            SaslFrame::Challenge(_) => check::<sasl::SaslChallenge, _>(&frame, &bytes, translate::translate, read)?,
            SaslFrame::Response(_) => check::<sasl::SaslResponse, _>(&frame, &bytes, translate::translate, read)?,
            SaslFrame::Outcome { .. } => check::<sasl::SaslOutcome, _>(&frame, &bytes, translate::translate, read)?,
        }
    }

    #[test]
    fn messages(message in strategies::common_message()) {
        let theirs: Deserializable<messaging::Message<messaging::Body<serde_amqp::Value>>> =
            other_reads(&message.to_bytes())?;
        let rewritten = other_writes(&Serializable(theirs.0.clone()))?;
        prop_assert_eq!(&translate::message(theirs.0), &message);
        prop_assert_eq!(Message::decode(&rewritten), Ok(message));
    }
}
