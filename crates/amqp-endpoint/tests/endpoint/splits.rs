//! Bytes may come in any pieces: what they mean does not depend on where they are cut.

use std::time::Duration;

use amqp::frame::{AMQP_HEADER, write_performative, write_transfer};
use amqp::performative::{Close, Detach, Performative, Role};
use amqp_endpoint::{Connection, Event, Input};
use proptest::prelude::*;

use crate::mechanisms::Anonymous;
use crate::pair::{Pair, acceptor, config, sasl_acceptor, sasl_initiator, unsettled};
use crate::scripted::{attach, begin, open, whole};

/// All that a peer says from its header to its close, without waiting for answers.
fn monologue() -> Vec<u8> {
    let mut said = AMQP_HEADER.to_vec();
    write_performative(&mut said, 0, &Performative::Open(Box::new(open())));
    write_performative(&mut said, 0, &Performative::Begin(begin()));
    write_performative(&mut said, 0, &Performative::Attach(Box::new(attach("a", 0, Role::Sender))));
    for id in 0..5 {
        write_transfer(&mut said, 0, &whole(id), &[&[id as u8; 100]]);
    }
    write_transfer(&mut said, 0, &whole(5), &[&[9; 16_000]]);
    write_performative(&mut said, 0, &Performative::Detach(Detach { handle: 0, closed: true, error: None }));
    write_performative(&mut said, 0, &Performative::Close(Close { error: None }));
    said
}

/// What an owner is told that accepts everything at once, when bytes come in these pieces.
fn told<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> Vec<String> {
    let mut connection = Connection::new(config("acceptor"), acceptor(), Duration::ZERO);
    let (mut inbox, mut events) = (Vec::new(), Vec::new());
    for piece in pieces {
        inbox.extend_from_slice(piece);
        let mut input = Input::new(&inbox);
        while let Some(event) = connection.poll(Duration::ZERO, &mut input) {
            events.push(format!("{event:?}"));
            accept(&mut connection, event);
        }
        let consumed = input.consumed();
        inbox.drain(..consumed);
    }
    events
}

fn accept(connection: &mut Connection, event: Event<'_>) {
    match event {
        Event::Opened(_) => connection.open(None),
        Event::Attached(link, attach) => {
            connection.attach_answer(link, attach.source, attach.target, None);
            connection.add_credit(link, 10);
            connection.flush(Duration::ZERO);
        }
        _ => {}
    }
}

/// Cuts `bytes` into pieces of these sizes, and a last one.
fn cut<'b>(mut bytes: &'b [u8], sizes: &[usize]) -> Vec<&'b [u8]> {
    let mut pieces = Vec::new();
    for &size in sizes {
        let (piece, rest) = bytes.split_at(size.min(bytes.len()));
        pieces.push(piece);
        bytes = rest;
    }
    pieces.push(bytes);
    pieces
}

#[test]
fn single_bytes_mean_what_they_mean_together() {
    let said = monologue();
    assert_eq!(told(said.chunks(1)), told([&said[..]]));
}

#[test]
fn all_of_a_monologue_is_told() {
    let events = told([&monologue()[..]]);
    assert_eq!(events.iter().filter(|event| event.starts_with("Transfer")).count(), 6);
    assert_eq!(events.last().map(String::as_str), Some("Closed(None)"));
}

#[test]
fn two_ends_may_talk_in_pieces_of_any_size() {
    for piece in 1..100 {
        let mut pair = Pair::silent(sasl_initiator(Anonymous), sasl_acceptor(Anonymous));
        pair.piece = piece;
        pair.run();
        pair.forget_events();
        let link = pair.sending(10);
        pair.send(link, 0..10);
        assert_eq!(pair.server.take_transfers().len(), 10, "pieces of {piece} bytes");
    }
}

#[test]
fn bytes_that_are_not_consumed_are_less_than_a_frame() {
    let mut connection = Connection::new(config("acceptor"), acceptor(), Duration::ZERO);
    let mut bytes = AMQP_HEADER.to_vec();
    write_performative(&mut bytes, 0, &Performative::Open(Box::new(open())));
    let opened = bytes.len();
    write_performative(&mut bytes, 0, &Performative::Begin(begin()));
    let mut input = Input::new(&bytes[..bytes.len() - 1]);
    while let Some(event) = connection.poll(Duration::ZERO, &mut input) {
        accept(&mut connection, event);
    }
    assert_eq!(input.consumed(), opened);
}

proptest! {
    #[test]
    fn output_may_be_written_in_any_pieces(sizes in proptest::collection::vec(0usize..400, 0..60)) {
        let mut pair = Pair::open();
        let link = pair.sending(100);
        let mut written = Vec::new();
        for (key, size) in sizes.into_iter().enumerate() {
            pair.client.connection.try_send(link.client, &unsettled(key as u64), &[&[key as u8; 100]]);
            let output = pair.client.connection.output();
            let taken = size.min(output.len());
            written.extend_from_slice(&output[..taken]);
            pair.client.connection.consume_output(taken);
        }
        let sent = pair.client.connection.link(link.client).map_or(0, |link| 100 - link.credit);
        written.extend(pair.client.take_output(pair.now));
        pair.server.receive(pair.now, &written);
        let arrived: Vec<_> = pair.server.take_transfers().iter().map(|transfer| transfer.payload[0]).collect();
        prop_assert_eq!(arrived, (0..sent as u8).collect::<Vec<_>>());
    }

    #[test]
    fn bytes_mean_the_same_wherever_they_are_cut(sizes in proptest::collection::vec(0usize..3000, 0..20)) {
        let said = monologue();
        prop_assert_eq!(told(cut(&said, &sizes)), told([&said[..]]));
    }
}
