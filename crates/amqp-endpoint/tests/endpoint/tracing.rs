//! Frames told as text, in the form of the old router's protocol trace.

use amqp::frame::SASL_HEADER;
use amqp_endpoint::ConnectionConfig;

use crate::mechanisms::Anonymous;
use crate::pair::{Pair, config, sasl_acceptor, sasl_initiator};
use crate::scripted::Scripted;

/// What the server tells of a handshake with SASL.
fn traced() -> Vec<String> {
    let server = ConnectionConfig { container_id: "QDR".to_owned(), ..config("server") };
    let mut pair = Pair::with(config("client"), sasl_initiator(Anonymous), server, sasl_acceptor(Anonymous));
    pair.server.connection.trace(true);
    pair.run();
    pair.server.connection.take_traces()
}

fn position(traces: &[String], start: &str) -> usize {
    traces.iter().position(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start} is not in {traces:#?}"))
}

#[test]
fn nothing_is_told_unless_it_is_asked_for() {
    let mut pair = Pair::open();
    pair.begin();
    assert!(pair.server.connection.take_traces().is_empty());
}

#[test]
fn headers_and_frames_are_told_in_order_both_ways() {
    let traces = traced();
    let order = [
        position(&traces, "  <- SASL"),
        position(&traces, "  -> SASL"),
        position(&traces, "0 -> @sasl-mechanisms(64)"),
        position(&traces, "0 <- @sasl-init(65)"),
        position(&traces, "0 -> @sasl-outcome(68)"),
        position(&traces, "  <- AMQP"),
        position(&traces, "  -> AMQP"),
        position(&traces, "0 <- @open(16)"),
        position(&traces, "0 -> @open(16)"),
    ];
    assert!(order.is_sorted(), "{traces:#?}");
}

#[test]
fn an_open_is_told_as_the_old_router_tells_it() {
    let traces = traced();
    let line = &traces[position(&traces, "0 -> @open(16)")];
    let expected =
        "0 -> @open(16) [container-id=\"QDR\", max-frame-size=0x4000, channel-max=0x7fff, idle-time-out=0x1f40]";
    assert_eq!(line, expected);
}

#[test]
fn traces_are_taken_once() {
    let mut pair = Pair::open();
    pair.server.connection.trace(true);
    pair.begin();
    assert_eq!(pair.server.connection.take_traces().len(), 2);
    assert!(pair.server.connection.take_traces().is_empty());
}

#[test]
fn deliveries_are_told_both_ways() {
    let mut pair = Pair::open();
    let link = pair.sending(10);
    pair.client.connection.trace(true);
    pair.server.connection.trace(true);
    pair.send(link, [1]);
    let (out, into) = (pair.client.connection.take_traces(), pair.server.connection.take_traces());
    assert!(out[0].starts_with("0 -> @transfer(20)"), "{out:?}");
    assert!(into[0].starts_with("0 <- @transfer(20)"), "{into:?}");
}

#[test]
fn frames_of_a_large_delivery_are_told() {
    let mut pair = Pair::open();
    let link = pair.sending(10);
    pair.client.connection.trace(true);
    pair.client.connection.begin_delivery(link.client, &crate::pair::unsettled(1));
    pair.client.connection.send_payload(link.client, &[0; 20_000], false);
    let traces = pair.client.connection.take_traces();
    assert!(traces.len() == 2 && traces.iter().all(|line| line.starts_with("0 -> @transfer(20)")), "{traces:?}");
}

#[test]
fn the_end_of_the_transport_is_told() {
    let mut pair = Pair::open();
    pair.server.connection.trace(true);
    pair.server.connection.transport_closed();
    assert_eq!(pair.server.connection.take_traces(), ["  <- EOS"]);
}

#[test]
fn telling_may_stop() {
    let mut pair = Pair::open();
    pair.server.connection.trace(true);
    pair.server.connection.trace(false);
    pair.begin();
    assert!(pair.server.connection.take_traces().is_empty());
}

#[test]
fn a_frame_that_cannot_be_decoded_is_told_all_the_same() {
    let mut peer = Scripted::open();
    peer.end.connection.trace(true);
    peer.bytes(&crate::scripted::raw_frame(0, b"\xff\xff"));
    assert!(peer.end.connection.take_traces()[0].starts_with("0 <- "));
}

#[test]
fn a_header_that_is_refused_is_answered_in_the_trace_too() {
    let mut peer = Scripted::silent(config("acceptor"), crate::pair::acceptor());
    peer.end.connection.trace(true);
    peer.bytes(&SASL_HEADER);
    assert_eq!(peer.end.connection.take_traces(), ["  -> AMQP"]);
}
