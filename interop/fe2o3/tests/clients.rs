//! An unmodified fe2o3-amqp client sends and receives through the router.

use fe2o3_amqp::types::definitions::{AmqpError, Error, ErrorCondition, ReceiverSettleMode, SenderSettleMode};
use fe2o3_amqp::types::messaging::{
    AmqpValue, ApplicationProperties, Data, Header, Message, MessageAnnotations, Modified, Outcome, Properties, Source,
    Target,
};
use fe2o3_amqp::types::primitives::{Binary, SimpleValue, Symbol, Timestamp, Uuid, Value};
use fe2o3_amqp::{Delivery, Receiver, Sender};
use interop_fe2o3::{Client, PATIENCE, Router};
use serde_amqp::described::Described;
use serde_amqp::descriptor::Descriptor;
use serde_amqp::primitives::{Array, Dec32, Dec64, Dec128, OrderedMap};
use tokio::time::timeout;

/// A router, a client of it, and both ends of a link through it.
struct Path {
    router: Router,
    client: Client,
    sender: Sender,
    receiver: Receiver,
}

impl Path {
    async fn new(address: &str) -> Self {
        Self::with_modes(address, SenderSettleMode::Mixed, ReceiverSettleMode::First).await
    }

    async fn with_modes(address: &str, sender_settles: SenderSettleMode, receiver_settles: ReceiverSettleMode) -> Self {
        let router = Router::start();
        let mut client = router.connect().await;
        let receiver = Receiver::builder()
            .name("receiver")
            .source(address)
            .sender_settle_mode(sender_settles.clone())
            .receiver_settle_mode(receiver_settles.clone())
            .attach(&mut client.session)
            .await
            .expect("the receiver attaches");
        let sender = Sender::builder()
            .name("sender")
            .target(address)
            .sender_settle_mode(sender_settles)
            .receiver_settle_mode(receiver_settles)
            .attach(&mut client.session)
            .await
            .expect("the sender attaches");
        Path { router, client, sender, receiver }
    }

    async fn next<T>(&mut self) -> Delivery<T>
    where
        for<'de> T: fe2o3_amqp::types::messaging::FromBody<'de> + Send,
    {
        timeout(PATIENCE, self.receiver.recv()).await.expect("a delivery in time").expect("a delivery")
    }

    /// Detaches, ends and closes everything in order; the router must stop cleanly.
    async fn close(self) {
        self.sender.close().await.expect("the sender detaches");
        self.receiver.close().await.expect("the receiver detaches");
        self.client.close().await;
        assert!(self.router.stop().success());
    }
}

/// Sends `body` while the receiver does `act` to what it gets; gives the outcome.
async fn outcome(path: &mut Path, act: impl AsyncFnOnce(&Receiver, Delivery<Value>)) -> Outcome {
    let Path { sender, receiver, .. } = path;
    let (outcome, ()) = tokio::join!(timeout(PATIENCE, sender.send("x")), async {
        let delivery = timeout(PATIENCE, receiver.recv()).await.expect("a delivery in time").expect("a delivery");
        act(receiver, delivery).await;
    });
    outcome.expect("an outcome in time").expect("an outcome")
}

async fn each_outcome_reaches_the_sender(sender_settles: SenderSettleMode, receiver_settles: ReceiverSettleMode) {
    let mut path = Path::with_modes("outcomes", sender_settles, receiver_settles).await;

    let accepted = outcome(&mut path, async |receiver, delivery| receiver.accept(&delivery).await.unwrap()).await;
    let released = outcome(&mut path, async |receiver, delivery| receiver.release(&delivery).await.unwrap()).await;
    let rejected = outcome(&mut path, async |receiver, delivery| receiver.reject(&delivery, None).await.unwrap()).await;
    let modified = outcome(&mut path, async |receiver, delivery| {
        let how = Modified { delivery_failed: Some(true), undeliverable_here: Some(true), message_annotations: None };
        receiver.modify(&delivery, how).await.unwrap();
    })
    .await;

    assert!(matches!(accepted, Outcome::Accepted(_)), "{accepted:?}");
    assert!(matches!(released, Outcome::Released(_)), "{released:?}");
    assert!(matches!(rejected, Outcome::Rejected(_)), "{rejected:?}");
    let Outcome::Modified(modified) = modified else { panic!("{modified:?}") };
    assert_eq!((modified.delivery_failed, modified.undeliverable_here), (Some(true), Some(true)));
    path.close().await;
}

#[tokio::test]
async fn each_outcome_reaches_the_sender_when_settling_is_mixed() {
    each_outcome_reaches_the_sender(SenderSettleMode::Mixed, ReceiverSettleMode::First).await;
}

#[tokio::test]
async fn each_outcome_reaches_the_sender_when_it_sends_unsettled() {
    each_outcome_reaches_the_sender(SenderSettleMode::Unsettled, ReceiverSettleMode::First).await;
}

#[tokio::test]
async fn each_outcome_reaches_the_sender_when_the_receiver_settles_second() {
    each_outcome_reaches_the_sender(SenderSettleMode::Unsettled, ReceiverSettleMode::Second).await;
}

#[tokio::test]
async fn a_rejection_keeps_its_error() {
    let mut path = Path::new("rejections").await;
    let error = Error::new(AmqpError::NotAllowed, Some("not today".to_owned()), None);

    let outcome = outcome(&mut path, async |receiver, delivery| receiver.reject(&delivery, error).await.unwrap()).await;

    let Outcome::Rejected(rejected) = outcome else { panic!("{outcome:?}") };
    let error = rejected.error.expect("an error");
    assert_eq!(error.condition, ErrorCondition::AmqpError(AmqpError::NotAllowed));
    assert_eq!(error.description.as_deref(), Some("not today"));
    path.close().await;
}

#[tokio::test]
async fn pre_settled_deliveries_arrive() {
    let mut path = Path::with_modes("settled", SenderSettleMode::Settled, ReceiverSettleMode::First).await;

    for number in 0..300_i32 {
        path.sender.send(number).await.unwrap();
        let delivery = path.next::<AmqpValue<i32>>().await;
        assert_eq!(*delivery.body(), AmqpValue(number));
        // Settled already: this only lets the client count it and issue new credit.
        path.receiver.accept(&delivery).await.unwrap();
    }

    path.close().await;
}

#[tokio::test]
async fn bodies_of_every_size_arrive_whole() {
    let mut path = Path::new("sizes").await;

    for size in [0, 1, 255, 256, 16_384, 100_000, 1 << 20, 8 << 20, 64 << 20] {
        let sent: Vec<u8> = (0..size).map(|at: u32| at as u8).collect();
        let Path { sender, receiver, .. } = &mut path;
        let (outcome, received) = tokio::join!(sender.send(Data(Binary::from(sent.clone()))), async {
            let delivery: Delivery<Data> = receiver.recv().await.expect("a delivery");
            receiver.accept(&delivery).await.unwrap();
            delivery.into_body().0.into_vec()
        });
        assert!(received == sent, "a body of {size} bytes changed on its way");
        assert!(matches!(outcome.expect("an outcome"), Outcome::Accepted(_)));
    }

    path.close().await;
}

#[tokio::test]
async fn values_of_every_type_arrive_as_they_were() {
    let mut path = Path::new("types").await;
    let mut map = OrderedMap::new();
    map.insert(Value::String("a".into()), Value::Uint(1));
    map.insert(Value::Symbol("b".into()), Value::Null);
    let described = Described { descriptor: Descriptor::Name("test:thing".into()), value: Value::String("x".into()) };
    let values = [
        Value::Null,
        Value::Bool(true),
        Value::Ubyte(u8::MAX),
        Value::Ushort(u16::MAX),
        Value::Uint(u32::MAX),
        Value::Ulong(u64::MAX),
        Value::Byte(i8::MIN),
        Value::Short(i16::MIN),
        Value::Int(i32::MIN),
        Value::Long(i64::MIN),
        Value::Float(0.5.into()),
        Value::Double(3.25.into()),
        Value::Decimal32(Dec32::from([1, 2, 3, 4])),
        Value::Decimal64(Dec64::from([1; 8])),
        Value::Decimal128(Dec128::from([1; 16])),
        Value::Char('\u{1f600}'),
        Value::Timestamp(Timestamp::from_milliseconds(1_764_460_800_123)),
        Value::Uuid(Uuid::from([7; 16])),
        Value::Binary(Binary::from(vec![0, 255])),
        Value::String("grüße".into()),
        Value::Symbol("a-symbol".into()),
        Value::List(vec![Value::Int(1), Value::String("two".into())]),
        Value::Map(map),
        Value::Array(Array::from(vec![Value::Int(1), Value::Int(300_000)])),
        Value::Described(Box::new(described)),
    ];

    for value in values {
        let Path { sender, receiver, .. } = &mut path;
        let (outcome, received) = tokio::join!(sender.send(AmqpValue(value.clone())), async {
            let delivery: Delivery<AmqpValue<Value>> = receiver.recv().await.expect("a delivery");
            receiver.accept(&delivery).await.unwrap();
            delivery.into_body().0
        });
        assert_eq!(received, value);
        assert!(matches!(outcome.expect("an outcome"), Outcome::Accepted(_)));
    }

    path.close().await;
}

#[tokio::test]
async fn every_section_arrives_as_it_was() {
    let mut path = Path::new("sections").await;
    let message = Message::builder()
        .header(Header {
            durable: true,
            priority: 7.into(),
            ttl: Some(12_345),
            first_acquirer: true,
            delivery_count: 3,
        })
        .message_annotations(MessageAnnotations::builder().insert(Symbol::from("x-opt-note"), "noted").build())
        .properties(
            Properties::builder()
                .message_id("the-id".to_owned())
                .to("somewhere")
                .subject("a subject")
                .group_id("a group".to_owned())
                .build(),
        )
        .application_properties(ApplicationProperties::builder().insert("p", SimpleValue::Int(1)).build())
        .value(Value::String("text".into()))
        .build();
    let Path { sender, receiver, .. } = &mut path;

    let (_, received) = tokio::join!(sender.send(message.clone()), async {
        let delivery: Delivery<AmqpValue<Value>> = receiver.recv().await.expect("a delivery");
        receiver.accept(&delivery).await.unwrap();
        delivery.into_message()
    });

    assert_eq!(received.header, message.header);
    assert_eq!(received.message_annotations, message.message_annotations);
    assert_eq!(received.properties, message.properties);
    assert_eq!(received.application_properties, message.application_properties);
    assert_eq!(received.body, message.body);
    path.close().await;
}

#[tokio::test]
async fn a_drain_delivers_what_there_is_and_new_credit_works_after_it() {
    let router = Router::start();
    let mut client = router.connect().await;
    let mut receiver = Receiver::builder()
        .name("receiver")
        .source("drained")
        .credit_mode(fe2o3_amqp::link::receiver::CreditMode::Manual)
        .attach(&mut client.session)
        .await
        .unwrap();
    let mut sender = Sender::attach(&mut client.session, "sender", "drained").await.unwrap();
    let first = sender.send_batchable("first").await.unwrap();

    receiver.set_credit(10).await.unwrap();
    let delivery: Delivery<String> = timeout(PATIENCE, receiver.recv()).await.unwrap().unwrap();
    receiver.accept(&delivery).await.unwrap();
    receiver.drain().await.unwrap();
    // The answer to this comes behind the answer to the drain.
    Sender::attach(&mut client.session, "behind", "drained").await.unwrap().close().await.unwrap();
    let second = sender.send_batchable("second").await.unwrap();
    receiver.set_credit(1).await.unwrap();
    let later: Delivery<String> = timeout(PATIENCE, receiver.recv()).await.unwrap().unwrap();
    receiver.accept(&later).await.unwrap();

    assert_eq!((delivery.body().as_str(), later.body().as_str()), ("first", "second"));
    for outcome in [first, second] {
        assert!(matches!(timeout(PATIENCE, outcome).await.unwrap().unwrap(), Outcome::Accepted(_)));
    }
    sender.close().await.unwrap();
    receiver.close().await.unwrap();
    client.close().await;
    assert!(router.stop().success());
}

#[tokio::test]
async fn a_dynamic_address_carries_a_reply() {
    let mut path = Path::new("requests").await;
    let mut replies = Receiver::builder()
        .name("replies")
        .source(Source::builder().dynamic(true).build())
        .attach(&mut path.client.session)
        .await
        .unwrap();
    let address = replies.source().as_ref().and_then(|source| source.address.clone()).expect("a dynamic address");
    let mut answers = Sender::attach(&mut path.client.session, "answers", address.as_str()).await.unwrap();

    let (outcome, reply) = tokio::join!(answers.send("answer"), async {
        let delivery: Delivery<String> = replies.recv().await.unwrap();
        replies.accept(&delivery).await.unwrap();
        delivery.into_body()
    });

    assert_eq!(reply, "answer");
    assert!(matches!(outcome.unwrap(), Outcome::Accepted(_)));
    answers.close().await.unwrap();
    replies.close().await.unwrap();
    path.close().await;
}

#[tokio::test]
async fn an_anonymous_sender_reaches_any_address() {
    let mut path = Path::new("by/name").await;
    let mut anonymous = Sender::builder()
        .name("anonymous")
        .target(Target::builder().build())
        .attach(&mut path.client.session)
        .await
        .unwrap();
    let message = Message::builder().properties(Properties::builder().to("by/name").build()).value("x").build();
    let receiver = &mut path.receiver;

    let (outcome, received) = tokio::join!(anonymous.send(message), async {
        let delivery: Delivery<String> = receiver.recv().await.unwrap();
        receiver.accept(&delivery).await.unwrap();
        delivery.into_body()
    });

    assert_eq!(received, "x");
    assert!(matches!(outcome.unwrap(), Outcome::Accepted(_)));
    anonymous.close().await.unwrap();
    path.close().await;
}

#[tokio::test]
async fn a_client_comes_back_after_a_restart_of_the_router() {
    let mut router = Router::start();
    let mut before = router.connect().await;
    let _sender = Sender::attach(&mut before.session, "sender", "again").await.unwrap();

    router.restart();

    let mut client = router.connect().await;
    let receiver = Receiver::attach(&mut client.session, "receiver", "again").await.unwrap();
    let sender = Sender::attach(&mut client.session, "sender", "again").await.unwrap();
    let mut path = Path { router, client, sender, receiver };
    let outcome = outcome(&mut path, async |receiver, delivery| receiver.accept(&delivery).await.unwrap()).await;
    assert!(matches!(outcome, Outcome::Accepted(_)), "{outcome:?}");
    path.close().await;
}
