//! An unmodified fe2o3-amqp client and a router's own queues: what an attach can ask for, outcomes, drains, browsers,
//! transactions.

use fe2o3_amqp::link::receiver::CreditMode;
use fe2o3_amqp::transaction::{
    Controller, Transaction, TransactionAcquisition, TransactionDischarge, TransactionPosting, TransactionRetirement,
};
use fe2o3_amqp::types::definitions::{AmqpError, Error, ReceiverSettleMode};
use fe2o3_amqp::types::messaging::{
    AmqpValue, ApplicationProperties, Body, DistributionMode, Message, Modified, Outcome, Released, Source,
    TerminusDurability, TerminusExpiryPolicy,
};
use fe2o3_amqp::types::primitives::{OrderedMap, SimpleValue, Symbol, Value};
use fe2o3_amqp::{Delivery, Receiver, Sender};
use interop_fe2o3::{Client, PATIENCE, Router};
use serde_amqp::described::Described;
use serde_amqp::descriptor::Descriptor;
use serde_amqp::primitives::Array;
use std::future::Future;
use tempfile::TempDir;
use tokio::time::{Duration, timeout};

/// A router with queues, and a client of it.
struct Site {
    router: Router,
    client: Client,
    links: u32,
    _folder: TempDir,
}

impl Site {
    async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let sections = format!(
            "store {{\n path: {}\n}}\nqueueTemplate {{\n pattern: queue.#\n deadLetterAddress: dead\n}}\n\
             queue {{\n address: dead\n}}\ntopic {{\n address: news\n}}\n",
            folder.path().join("store").display()
        );
        let router = Router::with(&sections);
        let client = router.connect().await;
        Self { router, client, links: 0, _folder: folder }
    }

    fn name(&mut self) -> String {
        self.links += 1;
        format!("link-{}", self.links)
    }

    async fn sender(&mut self, address: &str) -> Sender {
        let name = self.name();
        soon(Sender::attach(&mut self.client.session, name, address)).await.expect("the sender attaches")
    }

    async fn receiver(&mut self, source: impl Into<Source>) -> Receiver {
        let name = self.name();
        let attached = Receiver::builder().name(name).source(source).attach(&mut self.client.session);
        soon(attached).await.expect("the receiver attaches")
    }

    /// Sends texts to an address.
    async fn send(&mut self, address: &str, bodies: &[&str]) {
        let mut sender = self.sender(address).await;
        for body in bodies {
            let outcome = soon(sender.send(*body)).await.expect("an outcome");
            assert!(matches!(outcome, Outcome::Accepted(_)), "{outcome:?}");
        }
        soon(sender.close()).await.expect("the sender detaches");
    }

    /// Takes messages out of a queue; there must be these, and no more.
    async fn holds(&mut self, address: &str, bodies: &[&str]) {
        let mut receiver = self.receiver(address).await;
        for body in bodies {
            let delivery = next(&mut receiver).await;
            assert_eq!(text(&delivery), *body);
            receiver.accept(&delivery).await.expect("it is accepted");
        }
        has_nothing(&mut receiver).await;
        soon(receiver.close()).await.expect("the receiver detaches");
    }

    async fn controller(&mut self) -> Controller {
        let name = self.name();
        soon(Controller::attach(&mut self.client.session, name)).await.expect("a coordinator")
    }
}

async fn soon<T>(event: impl Future<Output = T>) -> T {
    timeout(PATIENCE, event).await.expect("it happens in time")
}

async fn next(receiver: &mut Receiver) -> Delivery<Body<Value>> {
    soon(receiver.recv()).await.expect("a delivery")
}

/// Makes a round trip: the router knows then what a client has said before.
async fn is_heard(client: &mut Client) {
    let sender = soon(Sender::attach(&mut client.session, "heard", "elsewhere")).await.expect("the sender attaches");
    soon(sender.close()).await.expect("the sender detaches");
}

async fn has_nothing(receiver: &mut Receiver) {
    let came = timeout(Duration::from_millis(300), receiver.recv::<Body<Value>>()).await;
    assert!(came.is_err(), "something came: {came:?}");
}

fn text(delivery: &Delivery<Body<Value>>) -> String {
    match delivery.body() {
        Body::Value(AmqpValue(Value::String(text))) => text.clone(),
        other => panic!("not the text that was sent: {other:?}"),
    }
}

fn selector(text: &str) -> Source {
    let name = Symbol::from("apache.org:selector-filter:string");
    let described = Described { descriptor: Descriptor::Name(name.clone()), value: Value::String(text.to_owned()) };
    let filter = OrderedMap::from_iter([(name, Value::Described(Box::new(described)))]);
    Source { filter: Some(filter), ..Source::from("queue.a") }
}

fn capable(address: &str, capabilities: &[&str]) -> Source {
    let capabilities: Vec<Symbol> = capabilities.iter().map(|name| Symbol::from(*name)).collect();
    Source { capabilities: Some(Array::from(capabilities)), ..Source::from(address) }
}

#[tokio::test]
async fn what_was_sent_first_is_there_later_also_after_a_restart() {
    let mut site = Site::new().await;
    site.send("queue.a", &["one", "two"]).await;
    site.router.restart();
    site.client = site.router.connect().await;
    site.holds("queue.a", &["one", "two"]).await;
}

#[tokio::test]
async fn each_outcome_does_what_it_should() {
    let mut site = Site::new().await;
    site.send("queue.a", &["x"]).await;
    let mut receiver = site.receiver("queue.a").await;
    let delivery = next(&mut receiver).await;
    receiver.release(&delivery).await.unwrap();
    let delivery = next(&mut receiver).await;
    assert_eq!(delivery.message().header.as_ref().map_or(0, |header| header.delivery_count), 0);
    let mut annotations = OrderedMap::new();
    annotations.insert(Symbol::from("x-opt-why"), Value::String("torn".to_owned()));
    let how =
        Modified { delivery_failed: Some(true), undeliverable_here: None, message_annotations: Some(annotations) };
    receiver.modify(&delivery, how).await.unwrap();
    let delivery = next(&mut receiver).await;
    assert_eq!(delivery.message().header.as_ref().map_or(0, |header| header.delivery_count), 1);
    assert!(format!("{:?}", delivery.message().message_annotations).contains("torn"));
    let error = Error::new(AmqpError::NotAllowed, Some("not today".to_owned()), None);
    receiver.reject(&delivery, error).await.unwrap();
    has_nothing(&mut receiver).await;
    let mut dead = site.receiver("dead").await;
    let delivery = next(&mut dead).await;
    let told = format!("{:?}", delivery.message().message_annotations);
    assert!(told.contains("rejected") && told.contains("not today"), "{told}");
    dead.accept(&delivery).await.unwrap();
}

#[tokio::test]
async fn a_receiver_that_settles_second_is_answered() {
    let mut site = Site::new().await;
    site.send("queue.a", &["x"]).await;
    let name = site.name();
    let builder = Receiver::builder().name(name).source("queue.a").receiver_settle_mode(ReceiverSettleMode::Second);
    let mut receiver = soon(builder.attach(&mut site.client.session)).await.expect("the receiver attaches");
    let delivery = next(&mut receiver).await;
    soon(receiver.accept(&delivery)).await.expect("it is accepted");
    soon(receiver.close()).await.expect("the receiver detaches");
    site.holds("queue.a", &[]).await;
}

#[tokio::test]
async fn a_drain_brings_what_there_is() {
    let mut site = Site::new().await;
    site.send("queue.a", &["one", "two"]).await;
    let name = site.name();
    let builder = Receiver::builder().name(name).source("queue.a").credit_mode(CreditMode::Manual);
    let mut receiver = soon(builder.attach(&mut site.client.session)).await.expect("the receiver attaches");
    receiver.set_credit(10).await.expect("credit");
    receiver.drain().await.expect("a drain");
    for body in ["one", "two"] {
        let delivery = next(&mut receiver).await;
        assert_eq!(text(&delivery), body);
        receiver.accept(&delivery).await.unwrap();
    }
    site.send("queue.a", &["three"]).await;
    has_nothing(&mut receiver).await;
}

#[tokio::test]
async fn a_browser_takes_nothing() {
    let mut site = Site::new().await;
    site.send("queue.a", &["one", "two"]).await;
    let source = Source { distribution_mode: Some(DistributionMode::Copy), ..Source::from("queue.a") };
    let mut browser = site.receiver(source).await;
    for body in ["one", "two"] {
        let delivery = next(&mut browser).await;
        assert_eq!(text(&delivery), body);
        browser.accept(&delivery).await.unwrap();
    }
    site.holds("queue.a", &["one", "two"]).await;
}

#[tokio::test]
async fn a_selector_is_applied_and_echoed() {
    let mut site = Site::new().await;
    let mut sender = site.sender("queue.a").await;
    for (n, body) in [(1, "one"), (2, "two")] {
        let mut properties = OrderedMap::new();
        properties.insert("n".to_owned(), SimpleValue::Int(n));
        let message = Message::builder().application_properties(ApplicationProperties(properties)).value(body).build();
        soon(sender.send(message)).await.expect("an outcome");
    }
    let mut receiver = site.receiver(selector("n > 1")).await;
    let echoed = format!("{:?}", receiver.source().as_ref().and_then(|source| source.filter.clone()));
    assert!(echoed.contains("n > 1"), "{echoed}");
    let delivery = next(&mut receiver).await;
    assert_eq!(text(&delivery), "two");
    receiver.accept(&delivery).await.unwrap();
    has_nothing(&mut receiver).await;
    let name = site.name();
    let refused = Receiver::builder().name(name).source(selector("n >")).attach(&mut site.client.session);
    let told = format!("{:?}", soon(refused).await.err());
    assert!(told.contains("InvalidField"), "{told}");
}

#[tokio::test]
async fn the_default_outcome_is_in_the_answer() {
    let mut site = Site::new().await;
    let source = Source { default_outcome: Some(Outcome::Released(Released {})), ..Source::from("queue.a") };
    let receiver = site.receiver(source).await;
    let answered = receiver.source().as_ref().and_then(|source| source.default_outcome.clone());
    assert!(matches!(answered, Some(Outcome::Released(_))), "{answered:?}");
}

#[tokio::test]
async fn a_durable_subscription_goes_on_while_nobody_is_there() {
    let mut site = Site::new().await;
    let source = Source {
        durable: TerminusDurability::UnsettledState,
        expiry_policy: TerminusExpiryPolicy::Never,
        ..Source::from("news")
    };
    let mut client = site.router.connect().await;
    let subscribed = Receiver::builder().name("mine").source(source.clone()).attach(&mut client.session);
    let receiver = soon(subscribed).await.expect("the receiver attaches");
    let detached = soon(receiver.detach()).await.map_err(|(_, error)| error).expect("it detaches");
    site.send("news", &["meanwhile"]).await;
    drop(detached);
    let again = Receiver::builder().name("mine").source(source).attach(&mut client.session);
    let mut receiver = soon(again).await.expect("the receiver attaches");
    let delivery = next(&mut receiver).await;
    assert_eq!(text(&delivery), "meanwhile");
    receiver.accept(&delivery).await.unwrap();
}

#[tokio::test]
async fn a_shared_subscription_is_one() {
    let mut site = Site::new().await;
    let mut clients = [site.router.connect().await, site.router.connect().await];
    let mut receivers = Vec::new();
    for client in &mut clients {
        let source = capable("news", &["shared", "global"]);
        let subscribed = Receiver::builder().name("together").source(source).attach(&mut client.session);
        receivers.push(soon(subscribed).await.expect("the receiver attaches"));
    }
    for client in &mut clients {
        is_heard(client).await;
    }
    site.send("news", &["one", "two"]).await;
    let mut got = Vec::new();
    for receiver in &mut receivers {
        let delivery = next(receiver).await;
        got.push(text(&delivery));
        receiver.accept(&delivery).await.unwrap();
        has_nothing(receiver).await;
    }
    got.sort();
    assert_eq!(got, ["one", "two"]);
}

#[tokio::test]
async fn capabilities_are_answered_and_a_queue_is_no_topic() {
    let mut site = Site::new().await;
    site.send("queue.a", &["x"]).await;
    let receiver = site.receiver(capable("queue.a", &["queue", "unheard-of"])).await;
    let answered = receiver.source().as_ref().and_then(|source| source.capabilities.clone());
    assert_eq!(answered.map(|all| all.0), Some(vec![Symbol::from("queue")]));
    let name = site.name();
    let builder = Receiver::builder().name(name).source(capable("queue.a", &["topic"]));
    let told = format!("{:?}", soon(builder.attach(&mut site.client.session)).await.err());
    assert!(told.contains("PreconditionFailed"), "{told}");
}

#[tokio::test]
async fn what_is_sent_and_taken_in_a_transaction_is_so_once_that_is_committed() {
    for commit in [true, false] {
        let mut site = Site::new().await;
        site.send("queue.from", &["x"]).await;
        let (mut sender, mut receiver) = (site.sender("queue.to").await, site.receiver("queue.from").await);
        let controller = site.controller().await;
        let transaction = soon(Transaction::declare(&controller, None)).await.expect("a transaction");

        let delivery = next(&mut receiver).await;
        let outcome = soon(transaction.post(&mut sender, text(&delivery))).await.expect("an outcome");
        assert!(matches!(outcome, Outcome::Accepted(_)), "{outcome:?}");
        soon(transaction.accept(&mut receiver, &delivery)).await.expect("it is accepted within the transaction");
        site.holds("queue.to", &[]).await;
        if commit {
            soon(transaction.commit()).await.expect("the transaction is committed");
        } else {
            soon(transaction.rollback()).await.expect("the transaction is rolled back");
        }
        soon(receiver.close()).await.expect("the receiver detaches");

        let (from, to): (&[&str], &[&str]) = if commit { (&[], &["x"]) } else { (&["x"], &[]) };
        site.holds("queue.from", from).await;
        site.holds("queue.to", to).await;
    }
}

#[tokio::test]
async fn what_is_acquired_in_a_transaction_is_taken_once_that_is_committed() {
    for commit in [true, false] {
        let mut site = Site::new().await;
        site.send("queue.a", &["one", "two"]).await;
        let name = site.name();
        let builder = Receiver::builder().name(name).source("queue.a").credit_mode(CreditMode::Manual);
        let mut receiver = soon(builder.attach(&mut site.client.session)).await.expect("the receiver attaches");
        let controller = site.controller().await;
        let transaction = soon(Transaction::declare(&controller, None)).await.expect("a transaction");
        let mut acquisition = soon(transaction.acquire(&mut receiver, 2)).await.expect("it can be asked for");
        for body in ["one", "two"] {
            let delivery = soon(acquisition.recv::<Body<Value>>()).await.expect("a delivery");
            assert_eq!(text(&delivery), body);
            soon(acquisition.accept(&delivery)).await.expect("it is accepted within the transaction");
        }
        if commit {
            soon(acquisition.commit()).await.expect("the transaction is committed");
        } else {
            soon(acquisition.rollback()).await.expect("the transaction is rolled back");
        }
        // The receiver is still there: what is back is anybody's.
        site.holds("queue.a", if commit { &[] } else { &["one", "two"] }).await;
    }
}

#[tokio::test]
async fn messages_can_be_released_and_rejected_in_a_transaction() {
    let mut site = Site::new().await;
    site.send("queue.a", &["one", "two"]).await;
    let mut receiver = site.receiver("queue.a").await;
    let controller = site.controller().await;
    let transaction = soon(Transaction::declare(&controller, None)).await.expect("a transaction");
    let (one, two) = (next(&mut receiver).await, next(&mut receiver).await);
    soon(transaction.reject(&mut receiver, &one, None)).await.expect("it is rejected within the transaction");
    soon(transaction.release(&mut receiver, &two)).await.expect("it is released within the transaction");
    soon(transaction.commit()).await.expect("the transaction is committed");
    soon(receiver.close()).await.expect("the receiver detaches");
    site.holds("queue.a", &["two"]).await;
    site.holds("dead", &["one"]).await;
}

#[tokio::test]
async fn transactions_of_two_controllers_do_not_mix() {
    let mut site = Site::new().await;
    let (mut a, mut b) = (site.sender("queue.a").await, site.sender("queue.b").await);
    let controllers = (site.controller().await, site.controller().await);
    let first = soon(Transaction::declare(&controllers.0, None)).await.expect("a transaction");
    let second = soon(Transaction::declare(&controllers.1, None)).await.expect("a transaction");
    soon(first.post(&mut a, "first")).await.expect("an outcome");
    soon(second.post(&mut b, "second")).await.expect("an outcome");
    soon(second.rollback()).await.expect("the transaction is rolled back");
    soon(first.commit()).await.expect("the transaction is committed");
    site.holds("queue.a", &["first"]).await;
    site.holds("queue.b", &[]).await;
}
