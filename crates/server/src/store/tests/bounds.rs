//! What clients cannot make grow without end.

use amqp::condition::names;

use super::{in_memory, volatile};
use crate::shard::tests::client::{Happened, message};
use crate::store::TemplateSpec;

#[test]
fn senders_to_queues_in_memory_wait_while_there_is_too_much_in_it() {
    let (router, store) = in_memory([volatile("orders")]);
    store.with(|node| node.most_transient = 100_000);
    let mut client = router.client();
    let link = client.sender(Some("orders"));
    client.wait_for_credit(link);
    let credit =
        |client: &crate::shard::tests::client::Client| client.endpoint.link(link).map_or(0, |info| info.credit);
    let mut sent = 0;
    while credit(&client) > 0 {
        let key = client.send(link, false, &message(1000));
        client.outcome(key);
        sent += 1;
        assert!(sent < 10_000, "there is no end to it");
    }
    client.settle_down();
    assert_eq!(credit(&client), 0);
    let mut other = router.client();
    other.receiver("orders", sent);
    (0..sent).for_each(|_| other.accept_last());
    client.wait_for_credit(link);
}

#[test]
fn addresses_that_mean_something_else_are_none_of_queues() {
    let (router, store) = in_memory([]);
    store.create_template(TemplateSpec { pattern: "tmp/#".to_owned(), queue: volatile("any") }).expect("it is new");
    let mut client = router.client();
    for address in ["tmp/#", "tmp/*", "tmp/a/#/b", "tmp/..", "tmp///"] {
        client.begin_link(false, address);
        let end = client.expect("an end", |happened| matches!(happened, Happened::Detached { .. }));
        let Happened::Detached { error: Some(error), .. } = end else { panic!("{end:?}") };
        assert_eq!(error.condition.as_str(), names::INVALID_FIELD, "{address}");
    }
    assert!(store.queues().is_empty());
    // The template's own ways are still there.
    let link = client.sender(Some("tmp/a"));
    client.wait_for_credit(link);
}
