//! A broker on fe2o3-amqp's acceptor behind the router, and fe2o3-amqp clients that reach it.

use fe2o3_amqp::transaction::{
    Controller, Transaction, TransactionDischarge, TransactionPosting, TransactionRetirement,
};
use fe2o3_amqp::types::definitions::{AmqpError, ConnectionError, Error, Fields};
use fe2o3_amqp::types::messaging::{AmqpValue, Body, DistributionMode, Modified, Outcome, Source};
use fe2o3_amqp::types::primitives::{OrderedMap, Symbol, Value};
use fe2o3_amqp::{Delivery, Receiver, Sender};
use interop_fe2o3::broker::{Answer, Broker, Script};
use interop_fe2o3::{Client, PATIENCE, Router};
use std::future::Future;
use tokio::time::timeout;

/// A broker, a router in front of it, and a client of the router.
struct Site {
    broker: Broker,
    router: Router,
    client: Client,
}

/// Link routes for `queue` and for transactions, and auto-links for the queue `waypoint`.
fn sections(port: u16) -> String {
    let mut text =
        format!("connector {{\n name: broker\n host: 127.0.0.1\n port: {port}\n role: route-container\n}}\n");
    for (prefix, directions) in [("queue", &["in", "out"][..]), ("$coordinator", &["in"])] {
        for direction in directions {
            text += &format!("linkRoute {{\n prefix: {prefix}\n connection: broker\n direction: {direction}\n}}\n");
        }
    }
    text += "address {\n prefix: waypoint\n waypoint: yes\n}\n";
    for direction in ["in", "out"] {
        text += &format!("autoLink {{\n address: waypoint\n connection: broker\n direction: {direction}\n}}\n");
    }
    text
}

fn all_active(told: &str) -> bool {
    told.contains("\"active\"")
        && ["inactive", "attaching", "failed", "quiescing"].iter().all(|word| !told.contains(word))
}

impl Site {
    async fn new() -> Self {
        Self::scripted(Script::default()).await
    }

    async fn scripted(script: Script) -> Self {
        let broker = Broker::scripted(script).await;
        let router = Router::with(&sections(broker.port()));
        router.wait_for("linkRoute", "operStatus", all_active).await;
        let client = router.connect().await;
        Site { broker, router, client }
    }

    async fn sender(&mut self, address: &str) -> Sender {
        soon(Sender::attach(&mut self.client.session, format!("to-{address}"), address))
            .await
            .expect("the sender attaches")
    }

    async fn receiver(&mut self, address: &str) -> Receiver {
        let attached = Receiver::attach(&mut self.client.session, format!("from-{address}"), address);
        soon(attached).await.expect("the receiver attaches")
    }
}

async fn soon<T>(event: impl Future<Output = T>) -> T {
    timeout(PATIENCE, event).await.expect("it happens in time")
}

async fn send(sender: &mut Sender, body: &str) -> Outcome {
    soon(sender.send(body)).await.expect("an outcome")
}

async fn next(receiver: &mut Receiver) -> Delivery<Body<Value>> {
    soon(receiver.recv()).await.expect("a delivery")
}

fn text(delivery: &Delivery<Body<Value>>) -> String {
    match delivery.body() {
        Body::Value(AmqpValue(Value::String(text))) => text.clone(),
        other => panic!("not the text that was sent: {other:?}"),
    }
}

fn error(description: &str) -> Error {
    Error::new(AmqpError::ResourceLocked, Some(description.to_owned()), None)
}

async fn wait_for_depth(broker: &Broker, address: &str, depth: usize) {
    soon(async {
        while broker.depth(address) != depth {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn messages_wait_at_the_broker_for_a_receiver() {
    let mut site = Site::new().await;
    site.router.wait_for("autoLink", "operStatus", all_active).await;
    for address in ["queue.a", "waypoint"] {
        let mut sender = site.sender(address).await;
        for body in ["one", "two"] {
            assert!(matches!(send(&mut sender, body).await, Outcome::Accepted(_)));
        }
        let mut receiver = site.receiver(address).await;
        for body in ["one", "two"] {
            let delivery = next(&mut receiver).await;
            assert_eq!(text(&delivery), body);
            receiver.accept(&delivery).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_browser_leaves_messages_in_the_queue() {
    let mut site = Site::new().await;
    let mut sender = site.sender("queue.a").await;
    send(&mut sender, "x").await;
    let source = Source { distribution_mode: Some(DistributionMode::Copy), ..Source::from("queue.a") };
    let browser = Receiver::builder().name("browser").source(source).attach(&mut site.client.session);
    let mut browser = soon(browser).await.expect("the browser attaches");

    let delivery = next(&mut browser).await;
    browser.accept(&delivery).await.unwrap();

    assert_eq!(text(&delivery), "x");
    assert_eq!(site.broker.depth("queue.a"), 1);
}

#[tokio::test]
async fn what_is_sent_within_a_transaction_is_there_once_that_is_committed() {
    let mut site = Site::new().await;
    let mut sender = site.sender("queue.a").await;
    let controller = soon(Controller::attach(&mut site.client.session, "control")).await.expect("a coordinator");
    let transaction = soon(Transaction::declare(&controller, None)).await.expect("a transaction");

    for body in ["one", "two"] {
        let outcome = soon(transaction.post(&mut sender, body)).await.expect("an outcome");
        assert!(matches!(outcome, Outcome::Accepted(_)));
    }
    assert_eq!(site.broker.depth("queue.a"), 0);
    soon(transaction.commit()).await.expect("the transaction is committed");

    wait_for_depth(&site.broker, "queue.a", 2).await;
}

#[tokio::test]
async fn what_is_sent_within_a_transaction_is_nowhere_once_that_is_rolled_back() {
    let mut site = Site::new().await;
    let mut sender = site.sender("queue.a").await;
    let controller = soon(Controller::attach(&mut site.client.session, "control")).await.expect("a coordinator");
    let transaction = soon(Transaction::declare(&controller, None)).await.expect("a transaction");

    soon(transaction.post(&mut sender, "x")).await.expect("an outcome");
    soon(transaction.rollback()).await.expect("the transaction is rolled back");

    assert!(matches!(send(&mut sender, "after").await, Outcome::Accepted(_)));
    assert_eq!(site.broker.depth("queue.a"), 1);
}

#[tokio::test]
async fn what_is_accepted_within_a_transaction_is_gone_once_that_is_committed() {
    for commit in [true, false] {
        let mut site = Site::new().await;
        let mut sender = site.sender("queue.a").await;
        send(&mut sender, "x").await;
        let mut receiver = site.receiver("queue.a").await;
        let controller = soon(Controller::attach(&mut site.client.session, "control")).await.expect("a coordinator");
        let transaction = soon(Transaction::declare(&controller, None)).await.expect("a transaction");

        let delivery = next(&mut receiver).await;
        soon(transaction.accept(&mut receiver, &delivery)).await.expect("it is accepted within the transaction");
        if commit {
            soon(transaction.commit()).await.expect("the transaction is committed");
        } else {
            soon(transaction.rollback()).await.expect("the transaction is rolled back");
        }
        soon(receiver.close()).await.expect("the receiver detaches");

        wait_for_depth(&site.broker, "queue.a", usize::from(!commit)).await;
    }
}

#[tokio::test]
async fn each_outcome_reaches_the_sender_in_both_ways() {
    let modified = Modified { delivery_failed: Some(true), undeliverable_here: Some(true), message_annotations: None };
    let mut site = Site::new().await;
    site.router.wait_for("autoLink", "operStatus", all_active).await;
    for address in ["queue.a", "waypoint"] {
        let mut sender = site.sender(address).await;
        let mut answered = async |answer: Answer| {
            site.broker.script(|script| drop(script.answers.insert(address.to_owned(), answer)));
            send(&mut sender, "x").await
        };
        assert!(matches!(answered(Answer::Release).await, Outcome::Released(_)));
        let Outcome::Rejected(rejected) = answered(Answer::Reject(error("full"))).await else { panic!("{address}") };
        assert_eq!(rejected.error.and_then(|error| error.description).as_deref(), Some("full"));
        let Outcome::Modified(said) = answered(Answer::Modify(modified.clone())).await else { panic!("{address}") };
        assert_eq!((said.delivery_failed, said.undeliverable_here), (Some(true), Some(true)));
        assert!(matches!(answered(Answer::Accept).await, Outcome::Accepted(_)));
    }
}

#[tokio::test]
async fn a_link_that_the_broker_closes_tells_its_client_why() {
    let mut site = Site::new().await;
    let mut sender = site.sender("queue.a").await;
    send(&mut sender, "x").await;

    site.broker.close_links("queue.a", error("under repair"));

    let told = format!("{:?}", soon(sender.on_detach()).await);
    assert!(told.contains("under repair"), "{told}");
}

#[tokio::test]
async fn an_auto_link_that_the_broker_closes_is_back_once_the_broker_takes_it() {
    let site = Site::new().await;
    site.router.wait_for("autoLink", "operStatus", all_active).await;
    site.broker.script(|script| drop(script.refused.insert("waypoint".to_owned(), error("under repair"))));

    site.broker.close_links("waypoint", error("going down"));
    site.router.wait_for("autoLink", "lastError", |told| told.contains("under repair")).await;
    site.broker.script(|script| script.refused.clear());

    site.router.wait_for("autoLink", "operStatus", all_active).await;
}

#[tokio::test]
async fn a_connection_that_the_broker_closes_is_made_again() {
    let mut site = Site::new().await;
    let gone = Error::new(ConnectionError::ConnectionForced, Some("going down".to_owned()), None);
    site.broker.close_connections(gone);
    site.router.wait_for("linkRoute", "operStatus", |told| !all_active(told)).await;
    site.router.wait_for("linkRoute", "operStatus", all_active).await;
    let mut sender = site.sender("queue.a").await;
    assert!(matches!(send(&mut sender, "x").await, Outcome::Accepted(_)));
}

#[tokio::test]
async fn a_broker_that_gives_no_credit_holds_up_its_own_sender_only() {
    let mut site = Site::new().await;
    site.broker.script(|script| script.without_credit.extend(["queue.held".to_owned()]));
    let mut held = site.sender("queue.held").await;
    let mut other = site.sender("queue.a").await;

    let waiting = tokio::spawn(async move { held.send("x").await });
    for _ in 0..20 {
        assert!(matches!(send(&mut other, "y").await, Outcome::Accepted(_)));
    }

    assert!(!waiting.is_finished());
    assert_eq!(site.broker.depth("queue.held"), 0);
    waiting.abort();
}

#[tokio::test]
async fn a_broker_that_stops_reading_holds_nobody_else_up() {
    let mut site = Site::new().await;
    let mut sender = site.sender("queue.a").await;
    let mut receiver = site.receiver("elsewhere").await;
    let mut elsewhere = site.sender("elsewhere").await;
    site.broker.stop_reading();

    let waiting = tokio::spawn(async move { sender.send("x".repeat(1 << 20)).await });
    for _ in 0..20 {
        let (outcome, ()) = tokio::join!(send(&mut elsewhere, "y"), async {
            let delivery = next(&mut receiver).await;
            receiver.accept(&delivery).await.unwrap();
        });
        assert!(matches!(outcome, Outcome::Accepted(_)));
    }
    site.broker.go_on_reading();

    assert!(matches!(soon(waiting).await.unwrap().expect("an outcome"), Outcome::Accepted(_)));
}

#[tokio::test]
async fn the_brokers_list_of_others_is_where_the_router_goes_when_it_is_lost() {
    let second = Broker::start().await;
    let server = OrderedMap::from_iter([
        (Value::Symbol(Symbol::from("network-host")), Value::String("127.0.0.1".to_owned())),
        (Value::Symbol(Symbol::from("port")), Value::String(second.port().to_string())),
    ]);
    let mut properties = Fields::new();
    properties.insert(Symbol::from("failover-server-list"), Value::List(vec![Value::Map(server)]));
    let mut site = Site::scripted(Script { properties, ..Script::default() }).await;
    let listed = format!("127.0.0.1:{}", second.port());
    site.router.wait_for("connector", "failoverUrls", |told| told.contains(&listed)).await;

    site.broker.kill();
    site.router.wait_for("linkRoute", "operStatus", |told| !all_active(told)).await;
    site.router.wait_for("linkRoute", "operStatus", all_active).await;

    let mut sender = site.sender("queue.a").await;
    assert!(matches!(send(&mut sender, "x").await, Outcome::Accepted(_)));
    wait_for_depth(&second, "queue.a", 1).await;
}

#[tokio::test]
async fn a_refused_link_is_refused_in_the_brokers_words() {
    let mut site = Site::new().await;
    site.broker.script(|script| drop(script.refused.insert("queue.none".to_owned(), error("no such queue"))));
    let told = match soon(Sender::attach(&mut site.client.session, "refused", "queue.none")).await {
        Ok(mut sender) => format!("{:?}", soon(sender.on_detach()).await),
        Err(error) => format!("{error:?}"),
    };
    assert!(told.contains("no such queue"), "{told}");
    let mut sender = site.sender("queue.a").await;
    assert!(matches!(send(&mut sender, "x").await, Outcome::Accepted(_)));
}
