//! Those who send more than they may, and those who do not take what they ask for.

use amqp::Performative;
use amqp::condition::names;
use amqp::frame;
use amqp::performative::{Open, Transfer};

use super::{condition, withstands};
use crate::support::CAPACITY;
use crate::support::codec::{data, head_of_data};
use crate::support::router::{Router, Setup};
use crate::support::wire::Wire;

#[test]
fn messages_without_credit_are_not_kept() {
    let router = Router::start("");
    let error = withstands(&router, 64, || {
        let mut wire = router.client();
        // Nobody receives there, so there is no credit.
        let to = wire.sender("nobody is there");
        for number in 0..1000_u32 {
            let tag = number.to_be_bytes();
            let transfer = Transfer {
                handle: to.handle,
                delivery_id: Some(number),
                delivery_tag: Some(&tag),
                ..Transfer::default()
            };
            let mut bytes = Vec::new();
            frame::write_transfer(&mut bytes, 0, &transfer, &[&data(16_000)]);
            wire.write(&bytes);
        }
        let (_, error) = wire.expect_detach(to);
        wire.sync();
        error
    });

    assert_eq!(condition(error.as_ref()), Some(names::TRANSFER_LIMIT_EXCEEDED));
}

#[test]
fn frames_beyond_the_window_end_the_session() {
    let router = Setup { listener: "maxSessionFrames: 10\n", ..Setup::default() }.start();
    let error = withstands(&router, 64, || {
        let (mut sender, mut receiver) = (router.client(), router.client());
        receiver.receiver("a", 0);
        let to = sender.sender("a");
        sender.expect_credit(to, CAPACITY);
        let delivery = sender.next_delivery();
        sender.send_part(to, delivery, false, &head_of_data(u32::MAX), true);
        for _ in 0..200 {
            sender.send_part(to, delivery, false, &[b'x'; 160_000], true);
        }
        sender.expect("an end", |frame| match frame {
            Performative::End(end) => Some(end.error.clone()),
            _ => None,
        })
    });

    assert_eq!(condition(error.as_ref()), Some(names::WINDOW_VIOLATION));
}

#[test]
fn a_receiver_that_asks_for_much_and_opens_no_window_makes_its_sender_wait_and_nobody_else() {
    let router = Router::start("");
    withstands(&router, 96, || {
        let mut sender = router.client();
        // It has credit without end, and a window of one frame that it never opens again.
        let open = Open { container_id: "sly".to_owned(), ..Open::default() };
        let mut receiver = Wire::client_with(router.port, open, 1);
        receiver.receiver("a", 1_000_000);
        let to = sender.sender("a");
        sender.expect_credit(to, CAPACITY);
        for _ in 0..CAPACITY {
            sender.send_message(to, true, &data(60_000));
        }
        sender.sync();
        assert!(receiver.waiting() == 0);
    });
}
