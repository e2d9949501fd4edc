use super::Direction::{Incoming, Outgoing};
use super::{event, frame, sasl_frame, value};
use crate::codec::{ListEncoder, encode};
use crate::performative::{Attach, Begin, Close, Disposition, Flow, Open, Role, Transfer};
use crate::sasl::{SaslCode, SaslFrame};
use crate::terminus::{Source, Target};
use crate::{Array, DeliveryState, ErrorCondition, Map, Performative, Value, descriptor};

fn traced(performative: &Performative<'_>, payload: &[u8]) -> String {
    let mut body = Vec::new();
    performative.encode(&mut body);
    body.extend_from_slice(payload);
    let mut out = String::new();
    frame(&mut out, Outgoing, 0, &body);
    out
}

fn traced_sasl(frame: &SaslFrame) -> String {
    let mut body = Vec::new();
    frame.encode(&mut body);
    let mut out = String::new();
    sasl_frame(&mut out, Incoming, &body);
    out
}

/// The value as it stands in a frame.
fn in_frame(value: &Value) -> String {
    let mut body = Vec::new();
    value.encode(&mut body);
    let mut out = String::new();
    frame(&mut out, Outgoing, 0, &body);
    out.split_off("0 -> ".len())
}

/// The value as it stands in other logs.
fn in_log(value: &Value) -> String {
    let mut out = String::new();
    super::value(&mut out, value);
    out
}

#[test]
fn an_open_reads_as_the_old_router_prints_it() {
    let capabilities = vec!["ANONYMOUS-RELAY".into(), "qd.streaming-links".into()];
    let mut properties = Map::new();
    properties.insert_symbol("product", "qpid-dispatch-router");
    properties.insert_symbol("version", "1.19.0");
    properties.insert_symbol("qd.conn-id", 2);
    let open = Open {
        container_id: "QDR".into(),
        max_frame_size: 16384,
        channel_max: 32767,
        idle_time_out: Some(8000),
        offered_capabilities: capabilities.clone(),
        desired_capabilities: capabilities,
        properties: Some(properties),
        ..Open::default()
    };
    assert_eq!(
        traced(&Performative::Open(Box::new(open)), b""),
        "0 -> @open(16) [container-id=\"QDR\", max-frame-size=0x4000, channel-max=0x7fff, idle-time-out=0x1f40, \
         offered-capabilities=@<symbol>[:ANONYMOUS-RELAY, :\"qd.streaming-links\"], \
         desired-capabilities=@<symbol>[:ANONYMOUS-RELAY, :\"qd.streaming-links\"], \
         properties={:product=\"qpid-dispatch-router\", :version=\"1.19.0\", :\"qd.conn-id\"=2}]"
    );
}

#[test]
fn a_begin_reads_as_the_old_router_prints_it() {
    let begin = Begin {
        remote_channel: Some(0),
        incoming_window: i32::MAX as u32,
        outgoing_window: i32::MAX as u32,
        ..Begin::default()
    };
    assert_eq!(
        traced(&Performative::Begin(begin), b""),
        "0 -> @begin(17) [remote-channel=0x0, next-outgoing-id=0x0, incoming-window=0x7fffffff, \
         outgoing-window=0x7fffffff]"
    );
}

#[test]
fn an_attach_reads_as_the_old_router_prints_it() {
    let mut attach = Attach::new("l", 0, Role::Receiver);
    attach.source = Some(Source { address: Some("x".into()), ..Source::default() });
    attach.target = Some(Target { address: Some("x".into()), ..Target::default() }.into());
    attach.initial_delivery_count = Some(0);
    attach.max_message_size = Some(0);
    assert_eq!(
        traced(&Performative::Attach(Box::new(attach)), b""),
        "0 -> @attach(18) [name=\"l\", handle=0x0, role=true, snd-settle-mode=0x2, rcv-settle-mode=0x0, \
         source=@source(40) [address=\"x\", durable=0x0, expiry-policy=:session-end, timeout=0x0, dynamic=false], \
         target=@target(41) [address=\"x\", durable=0x0, expiry-policy=:session-end, timeout=0x0, dynamic=false], \
         initial-delivery-count=0x0, max-message-size=0x0]"
    );
}

#[test]
fn a_flow_reads_as_the_old_router_prints_it() {
    let flow = Flow {
        next_incoming_id: Some(1),
        incoming_window: i32::MAX as u32,
        outgoing_window: i32::MAX as u32,
        handle: Some(0),
        delivery_count: Some(1),
        link_credit: Some(250),
        ..Flow::default()
    };
    assert_eq!(
        traced(&Performative::Flow(flow), b""),
        "0 -> @flow(19) [next-incoming-id=0x1, incoming-window=0x7fffffff, next-outgoing-id=0x0, \
         outgoing-window=0x7fffffff, handle=0x0, delivery-count=0x1, link-credit=0xfa, drain=false]"
    );
}

#[test]
fn a_transfer_shows_the_size_and_the_first_bytes_of_its_payload() {
    let transfer = Transfer {
        delivery_id: Some(0),
        delivery_tag: Some(b"\0a"),
        message_format: Some(0),
        settled: Some(true),
        ..Transfer::default()
    };
    assert_eq!(
        traced(&Performative::Transfer(transfer), b"\0Su\xa0\x03abc"),
        "0 -> @transfer(20) [handle=0x0, delivery-id=0x0, delivery-tag=b\"\\x00a\", message-format=0x0, settled=true] \
         (8) \\x00Su\\xa0\\x03abc"
    );
}

#[test]
fn a_long_payload_is_cut_where_the_old_router_cuts_it() {
    let payload = [b"\0Su\xb0\0\0\x03\xe8".as_slice(), &[b'x'; 1000]].concat();
    let text = traced(&Performative::Transfer(Transfer::default()), &payload);
    let shown = format!("(1008) \\x00Su\\xb0\\x00\\x00\\x03\\xe8{} ... (truncated)", "x".repeat(485));
    assert!(text.ends_with(&shown), "{text}");
}

#[test]
fn a_disposition_and_a_close_read_as_the_old_router_prints_them() {
    let state = Some(DeliveryState::Accepted);
    let disposition =
        Disposition { role: Role::Receiver, first: 0, last: None, settled: true, state, batchable: false };
    let close = Close { error: Some(ErrorCondition::new("amqp:connection:forced", "d")) };
    assert_eq!(
        traced(&Performative::Disposition(disposition), b""),
        "0 -> @disposition(21) [role=true, first=0x0, settled=true, state=@accepted(36) []]"
    );
    assert_eq!(
        traced(&Performative::Close(close), b""),
        "0 -> @close(24) [error=@error(29) [condition=:\"amqp:connection:forced\", description=\"d\"]]"
    );
}

#[test]
fn a_heartbeat_is_an_empty_frame() {
    let mut out = String::new();
    frame(&mut out, Incoming, 5, b"");
    assert_eq!(out, "5 <- (EMPTY FRAME)");
}

#[test]
fn what_cannot_be_decoded_is_shown_as_bytes() {
    let mut out = String::new();
    frame(&mut out, Incoming, 0, b"\0\x53\x10\xc0\x20\x03\xa1\x05abc");
    assert_eq!(out, "0 <- !! (11) \\x00S\\x10\\xc0 \\x03\\xa1\\x05abc");
}

#[test]
fn headers_and_the_end_of_the_stream_are_named() {
    let mut out = String::new();
    event(&mut out, Incoming, "SASL");
    event(&mut out, Outgoing, "EOS");
    assert_eq!(out, "  <- SASL  -> EOS");
}

#[test]
fn sasl_frames_read_as_the_old_router_prints_them() {
    let anonymous =
        SaslFrame::Init { mechanism: "ANONYMOUS".into(), initial_response: Some(b"abc".to_vec()), hostname: None };
    let outcome = SaslFrame::Outcome { code: SaslCode::Auth, additional_data: None };
    assert_eq!(
        traced_sasl(&SaslFrame::Mechanisms(vec!["ANONYMOUS".into()])),
        "0 <- @sasl-mechanisms(64) [sasl-server-mechanisms=@<symbol>[:ANONYMOUS]]"
    );
    assert_eq!(traced_sasl(&anonymous), "0 <- @sasl-init(65) [mechanism=:ANONYMOUS, initial-response=b\"abc\"]");
    assert_eq!(traced_sasl(&outcome), "0 <- @sasl-outcome(68) [code=0x1]");
}

#[test]
fn passwords_are_not_shown() {
    let init =
        SaslFrame::Init { mechanism: "PLAIN".into(), initial_response: Some(b"\0u\0pw".to_vec()), hostname: None };
    assert_eq!(traced_sasl(&init), "0 <- @sasl-init(65) [mechanism=:PLAIN, initial-response=b\"***\"]");
    assert_eq!(traced_sasl(&SaslFrame::Response(b"pw".to_vec())), "0 <- @sasl-response(67) [response=b\"***\"]");
}

#[test]
fn a_malformed_sasl_frame_shows_nothing_of_its_content() {
    let mut out = String::new();
    sasl_frame(&mut out, Incoming, b"\0\x53\x41\xc0\x09\x03\xa3\x05PLAIN\0u\0pw");
    assert_eq!(out, "0 <- !!");
}

#[test]
fn values_read_as_the_old_router_prints_them_in_frames_and_in_other_logs() {
    let values = [
        (Value::Null, "null", "null"),
        (Value::Ubyte(7), "0x7", "7"),
        (Value::Ulong(258), "0x102", "258"),
        (Value::Byte(-1), "-1", "-1"),
        (Value::Long(-1_234_567_890_123), "-1234567890123", "-1234567890123"),
        (Value::Float(0.1), "0.1", "0.1"),
        (Value::Double(123_456_789.123), "1.23457e+08", "1.23457e+08"),
        (Value::Decimal32([1, 2, 3, 4]), "D32(1020304)", "D32(16909060)"),
        (Value::Decimal64([0; 8]), "D64(00000000)", "D64(0)"),
        (Value::Timestamp(1_500_000_000_123), "1500000000123", "1500000000123"),
        (Value::Binary(b"ab\0\"\\".to_vec()), "b\"ab\\x00\\x22\\x5c\"", "b\"ab\\x00\\x22\\x5c\""),
        (Value::from("h\u{20ac} 'w'"), "\"h\\xe2\\x82\\xac \\x27w\\x27\"", "\"h\\xe2\\x82\\xac \\x27w\\x27\""),
        (Value::symbol("aB"), ":aB", ":aB"),
        (Value::symbol("x-opt-jms"), ":x-opt-jms", ":\"x-opt-jms\""),
        (Value::symbol("A1"), ":A1", ":\"A1\""),
        (Value::symbol("a.b"), ":\"a.b\"", ":\"a.b\""),
        (Value::symbol("1a"), ":\"1a\"", ":\"1a\""),
        (Value::symbol(""), ":\"\"", ":"),
        (Value::List(vec![Value::Null, true.into()]), "[null, true]", "[null, true]"),
        (Value::List(vec![]), "[]", "[]"),
        (Value::Map(Map::new()), "{}", "{}"),
    ];
    for (value, frame, log) in values {
        assert_eq!((in_frame(&value).as_str(), in_log(&value).as_str()), (frame, log));
    }
}

#[test]
fn a_uuid_has_hyphens() {
    let uuid = Value::Uuid(std::array::from_fn(|index| 0xa0 + index as u8));
    assert_eq!(in_log(&uuid), "UUID(a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf)");
}

#[test]
fn a_char_is_shown_and_a_decimal128_with_all_its_digits() {
    let decimal = Value::Decimal128(std::array::from_fn(|index| index as u8));
    assert_eq!(in_log(&Value::Char('A')), "A");
    assert_eq!(in_log(&decimal), "D128(000102030405060708090a0b0c0d0e0f)");
}

#[test]
fn described_values_read_as_the_old_router_prints_them() {
    let mut error = Vec::new();
    DeliveryState::Rejected(Some(Box::new(ErrorCondition::new("amqp:x", "d")))).encode(&mut error);
    let error = Value::decode(&error).unwrap();
    let symbolic = crate::Described { descriptor: Value::symbol("d"), value: Value::Int(5) }.into();
    let rejected = "@rejected(37) [error=@error(29) [condition=:\"amqp:x\", description=\"d\"]]";
    assert_eq!((in_frame(&error).as_str(), in_log(&error).as_str()), (rejected, rejected));
    assert_eq!((in_frame(&symbolic).as_str(), in_log(&symbolic).as_str()), ("@:d5", "@:d 5"));
    assert_eq!(in_frame(&Value::described(80, true)), "@80 true");
    let wide = Value::described(0x1_0000_0002, Value::List(vec![]));
    assert_eq!((in_frame(&wide).as_str(), in_log(&wide).as_str()), ("@0x100000002[]", "@4294967298 []"));
    assert_eq!(in_frame(&Value::described(0x75, b"a".as_slice())), "@data(117) b\"a\"");
}

#[test]
fn a_body_that_is_a_list_keeps_its_nulls() {
    let body = Value::described(descriptor::AMQP_SEQUENCE, vec![Value::Null, Value::Int(1)]);
    assert_eq!(in_frame(&body), "@amqp-sequence(118) [null, 1]");
}

#[test]
fn fields_beyond_those_defined_are_shown_without_a_name() {
    let mut received = Vec::new();
    let mut list = ListEncoder::described(&mut received, descriptor::RECEIVED);
    list.field(|out| encode::uint(out, 5)).field(|out| encode::ulong(out, 6)).field(|out| encode::int(out, 1));
    list.finish();
    let received = Value::decode(&received).unwrap();
    assert_eq!(in_frame(&received), "@received(35) [section-number=0x5, section-offset=0x6, 1]");
}

#[test]
fn arrays_name_their_type() {
    let ints = Array::new(vec![Value::Int(1), Value::Int(2)]).unwrap().into();
    let trues = Value::decode(b"\xe0\x02\x03\x41").unwrap();
    assert_eq!((in_frame(&ints).as_str(), in_log(&ints).as_str()), ("@<int>[1, 2]", "@PN_INT[1, 2]"));
    assert_eq!(in_frame(&Value::symbols([])), "@<symbol>[]");
    assert_eq!(in_frame(&trues), "@<true>[true, ...(2 more)]");
    assert_eq!(in_log(&trues), "@PN_BOOL[true, true, true]");
}

#[test]
fn a_value_too_long_for_a_log_is_cut() {
    let list = Value::List(vec![Value::from("x".repeat(9000)), Value::Null]);
    let mut out = String::new();
    value(&mut out, &list);
    assert!(out.len() < 8300 && out.ends_with("xxx ... (truncated)"), "{out}");
}
