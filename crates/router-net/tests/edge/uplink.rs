//! The edge router's side.

use amqp::Value;
use router_net::LinkRef;
use router_net::edge::wire::{LookupReply, LookupRequest, LookupStatus, Tracking};
use router_net::edge::{LinkId, LookupResult, Purpose, Uplink, UplinkOutput};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
const ONE: LinkRef = LinkRef(1);
const TWO: LinkRef = LinkRef(2);

fn drain(uplink: &mut Uplink) -> Vec<UplinkOutput> {
    std::iter::from_fn(|| uplink.poll_output()).collect()
}

fn opened(outputs: &[UplinkOutput]) -> Vec<(LinkRef, Purpose)> {
    let open = |output: &UplinkOutput| match output {
        UplinkOutput::Open { on, purpose, .. } => Some((*on, purpose.clone())),
        _ => None,
    };
    outputs.iter().filter_map(open).collect()
}

fn link(outputs: &[UplinkOutput], wanted: &Purpose) -> LinkId {
    let open = |output: &UplinkOutput| match output {
        UplinkOutput::Open { link, purpose, .. } if purpose == wanted => Some(*link),
        _ => None,
    };
    outputs.iter().find_map(open).unwrap()
}

fn sent(outputs: &[UplinkOutput], on: LinkId) -> Vec<Vec<u8>> {
    let send = |output: &UplinkOutput| match output {
        UplinkOutput::Send { link, content, .. } if *link == on => Some(content.clone()),
        _ => None,
    };
    outputs.iter().filter_map(send).collect()
}

fn lines(outputs: &[UplinkOutput]) -> Vec<&str> {
    let line = |output: &'_ UplinkOutput| matches!(output, UplinkOutput::Log { .. });
    let lines = outputs.iter().filter(|output| line(output));
    lines.map(|output| if let UplinkOutput::Log { text, .. } = output { text.as_str() } else { "" }).collect()
}

/// An uplink all of whose links are attached, and what it asked for.
fn connected() -> (Uplink, Vec<UplinkOutput>) {
    let mut uplink = Uplink::new("E");
    uplink.connection_opened(SECOND, ONE, 7);
    let outputs = drain(&mut uplink);
    for (number, output) in outputs.iter().enumerate() {
        if let UplinkOutput::Open { link, .. } = output {
            uplink.link_answered(SECOND, *link, Some(&format!("temp.{number}")));
        }
    }
    (uplink, outputs)
}

#[test]
fn the_links_of_an_uplink_are_opened_in_the_old_routers_order() {
    let mut uplink = Uplink::new("E");
    uplink.connection_opened(SECOND, ONE, 7);
    let outputs = drain(&mut uplink);
    assert_eq!(lines(&outputs), ["Edge connection (id=7) to interior established"]);
    let purposes: Vec<Purpose> = opened(&outputs).into_iter().map(|(_, purpose)| purpose).collect();
    let addresses: Vec<(bool, bool, Option<String>)> = (purposes.iter())
        .map(|purpose| {
            let source = purpose.source("E").and_then(|source| source.address);
            let target = purpose.target().and_then(|target| target.address);
            (purpose.is_incoming(), purpose.is_conversation(), source.or(target))
        })
        .collect();
    let text = |text: &str| Some(text.to_owned());
    let expected = [
        (false, false, None),
        (true, false, text("E")),
        (true, true, text("_$qd.edge_addr_tracking")),
        (false, true, text("$management")),
        (true, true, None),
        (false, true, text("_$qd.addr_lookup")),
        (true, true, None),
        (false, true, text("_$qd.edge_heartbeat")),
    ];
    assert_eq!(addresses, expected);
}

#[test]
fn an_alternate_takes_over_when_the_uplink_is_lost() {
    let (mut uplink, _) = connected();
    uplink.consumers(SECOND, "M0a", true);
    uplink.connection_opened(SECOND, TWO, 9);
    drain(&mut uplink);
    uplink.connection_lost(SECOND * 2, ONE);
    let outputs = drain(&mut uplink);
    assert_eq!(lines(&outputs), ["Edge connection (id=7) to interior lost, activating alternate id=9"]);
    assert_eq!(uplink.active(), Some(TWO));
    assert!(opened(&outputs).contains(&(TWO, Purpose::ConsumerProxy("M0a".to_owned()))));
}

#[test]
fn the_last_connection_lost_leaves_none() {
    let (mut uplink, _) = connected();
    drain(&mut uplink);
    uplink.connection_lost(SECOND * 2, ONE);
    let outputs = drain(&mut uplink);
    assert_eq!(lines(&outputs), ["Edge connection (id=7) to interior lost, no alternate connection available"]);
    assert!(outputs.contains(&UplinkOutput::Active(None)));
}

#[test]
fn an_alternate_that_is_lost_changes_nothing() {
    let (mut uplink, _) = connected();
    uplink.connection_opened(SECOND, TWO, 9);
    drain(&mut uplink);
    uplink.connection_lost(SECOND, TWO);
    assert_eq!(drain(&mut uplink), []);
}

#[test]
fn a_heartbeat_goes_out_every_two_seconds() {
    let (mut uplink, outputs) = connected();
    let link = link(&outputs, &Purpose::Heartbeats);
    let mut beats = sent(&drain(&mut uplink), link).len();
    for _ in 0..5 {
        let at = uplink.next_timeout().unwrap();
        uplink.handle_timeout(at);
        beats += sent(&drain(&mut uplink), link).len();
    }
    assert_eq!(beats, 6);
    assert_eq!(uplink.next_timeout(), Some(SECOND * 13));
}

#[test]
fn a_producers_proxy_is_bound_only_while_there_are_consumers_elsewhere() {
    let (mut uplink, outputs) = connected();
    let tracking = link(&outputs, &Purpose::Tracking);
    uplink.producers(SECOND, "M0a", true);
    let proxy = link(&drain(&mut uplink), &Purpose::ProducerProxy("M0a".to_owned()));
    for has_destinations in [true, true, false] {
        let message = Tracking { key: "M0a".to_owned(), has_destinations };
        uplink.receive(SECOND, tracking, &message.encode());
    }
    let bind = |bound| UplinkOutput::Bind { link: proxy, key: "M0a".to_owned(), bound };
    assert_eq!(drain(&mut uplink), [bind(true), bind(false)]);
}

#[test]
fn a_proxy_is_closed_with_its_last_consumer() {
    let (mut uplink, _) = connected();
    drain(&mut uplink);
    uplink.consumers(SECOND, "M0a", true);
    let proxy = link(&drain(&mut uplink), &Purpose::ConsumerProxy("M0a".to_owned()));
    uplink.consumers(SECOND, "M0a", false);
    assert_eq!(drain(&mut uplink), [UplinkOutput::Close { link: proxy }]);
}

#[test]
fn proxies_carry_the_phase_of_their_address() {
    let capability = |purpose: Purpose| {
        let source = purpose.source("E").unwrap().capabilities;
        source.into_iter().chain(purpose.target().unwrap().capabilities).map(|symbol| symbol.0).collect::<Vec<_>>()
    };
    assert_eq!(capability(Purpose::ConsumerProxy("M0a".to_owned())), [""; 0]);
    assert_eq!(capability(Purpose::ConsumerProxy("M1a".to_owned())), ["qd.waypoint.2"]);
    assert_eq!(capability(Purpose::ProducerProxy("M1a".to_owned())), ["qd.waypoint.1"]);
    assert_eq!(capability(Purpose::ConsumerProxy("MFa".to_owned())), ["qd.fallback"]);
}

#[test]
fn a_link_that_the_interior_refuses_is_opened_again() {
    let (mut uplink, outputs) = connected();
    drain(&mut uplink);
    uplink.link_lost(SECOND, link(&outputs, &Purpose::Tracking));
    uplink.handle_timeout(SECOND * 2);
    assert_eq!(opened(&drain(&mut uplink)), [(ONE, Purpose::Tracking)]);
}

fn look_up(status: LookupStatus, is_link_route: bool, has_destinations: bool) -> Vec<UplinkOutput> {
    let (mut uplink, outputs) = connected();
    drain(&mut uplink);
    uplink.look_up(SECOND, 5, "a", true);
    let request = sent(&drain(&mut uplink), link(&outputs, &Purpose::LookupRequests)).remove(0);
    let request = LookupRequest::decode(&request).unwrap();
    let (to, correlation_id) = (request.reply_to, request.correlation_id);
    let reply = LookupReply { to, correlation_id, status, is_link_route, has_destinations };
    uplink.receive(SECOND, link(&outputs, &Purpose::LookupReplies), &reply.encode());
    drain(&mut uplink)
}

#[test]
fn what_the_interior_says_of_an_address_decides_what_becomes_of_a_link() {
    let looked_up = |result| [UplinkOutput::LookedUp { token: 5, result }];
    assert_eq!(look_up(LookupStatus::NotFound, false, false), looked_up(LookupResult::Local));
    assert_eq!(look_up(LookupStatus::Ok, false, true), looked_up(LookupResult::Local));
    assert_eq!(look_up(LookupStatus::Ok, true, true), looked_up(LookupResult::Route));
    assert_eq!(look_up(LookupStatus::Ok, true, false), looked_up(LookupResult::NoDestination));
}

#[test]
fn a_look_up_that_nobody_answers_ends_after_three_seconds() {
    let (mut uplink, _) = connected();
    uplink.look_up(SECOND, 5, "a", true);
    drain(&mut uplink);
    uplink.handle_timeout(SECOND * 4);
    assert!(drain(&mut uplink).contains(&UplinkOutput::LookedUp { token: 5, result: LookupResult::Local }));
}

#[test]
fn a_look_up_without_an_uplink_ends_at_once() {
    let mut uplink = Uplink::new("E");
    uplink.look_up(SECOND, 5, "a", true);
    assert_eq!(drain(&mut uplink), [UplinkOutput::LookedUp { token: 5, result: LookupResult::Local }]);
}

fn management_reply(request: &[u8], status: i32, identity: Option<&str>) -> Vec<u8> {
    let request = amqp::message::Message::decode(request).unwrap();
    let body: amqp::Map = identity.map(|identity| ("identity", identity)).into_iter().collect();
    let mut reply = amqp::message::Message::new(amqp::message::Body::Value(body.into()));
    reply.properties.correlation_id = request.properties.correlation_id;
    reply.application_properties.insert("statusCode", Value::Int(status));
    reply.to_bytes()
}

fn operation(request: &[u8]) -> String {
    let request = amqp::message::Message::decode(request).unwrap();
    let operation = request.application_properties.get("operation").and_then(Value::as_text).unwrap().to_owned();
    let name = request.application_properties.get("name").and_then(Value::as_text).unwrap().to_owned();
    format!("{operation} {name}")
}

#[test]
fn a_link_route_is_made_at_the_interior_and_deleted_when_its_container_has_gone() {
    let (mut uplink, outputs) = connected();
    let (requests, replies) =
        (link(&outputs, &Purpose::ManagementRequests), link(&outputs, &Purpose::ManagementReplies));
    uplink.link_route(SECOND, "Cq", true);
    let create = sent(&drain(&mut uplink), requests).remove(0);
    uplink.receive(SECOND, replies, &management_reply(&create, 201, Some("3")));
    uplink.link_route(SECOND, "Cq", false);
    let delete = sent(&drain(&mut uplink), requests).remove(0);
    assert_eq!([operation(&create), operation(&delete)], ["CREATE E/proxyLinkRoute/Cq", "DELETE E/proxyLinkRoute/Cq"]);
}

#[test]
fn a_link_route_whose_container_goes_before_the_answer_is_deleted_afterwards() {
    let (mut uplink, outputs) = connected();
    let (requests, replies) =
        (link(&outputs, &Purpose::ManagementRequests), link(&outputs, &Purpose::ManagementReplies));
    uplink.link_route(SECOND, "Cq", true);
    let create = sent(&drain(&mut uplink), requests).remove(0);
    uplink.link_route(SECOND, "Cq", false);
    uplink.receive(SECOND, replies, &management_reply(&create, 201, Some("3")));
    assert_eq!(operation(&sent(&drain(&mut uplink), requests)[0]), "DELETE E/proxyLinkRoute/Cq");
}

#[test]
fn a_request_for_a_link_route_that_nobody_answers_is_repeated() {
    let (mut uplink, outputs) = connected();
    let requests = link(&outputs, &Purpose::ManagementRequests);
    uplink.link_route(SECOND, "Cq", true);
    drain(&mut uplink);
    uplink.handle_timeout(SECOND * 11);
    assert_eq!(operation(&sent(&drain(&mut uplink), requests)[0]), "CREATE E/proxyLinkRoute/Cq");
}

#[test]
fn another_interior_is_asked_for_all_link_routes() {
    let (mut uplink, outputs) = connected();
    let (requests, replies) =
        (link(&outputs, &Purpose::ManagementRequests), link(&outputs, &Purpose::ManagementReplies));
    uplink.link_route(SECOND, "Cq", true);
    let create = sent(&drain(&mut uplink), requests).remove(0);
    uplink.receive(SECOND, replies, &management_reply(&create, 201, Some("3")));
    uplink.connection_opened(SECOND, TWO, 9);
    uplink.connection_lost(SECOND, ONE);
    let outputs = drain(&mut uplink);
    for purpose in [Purpose::ManagementRequests, Purpose::ManagementReplies] {
        uplink.link_answered(SECOND, link(&outputs, &purpose), Some("temp"));
    }
    let requests = link(&outputs, &Purpose::ManagementRequests);
    assert_eq!(operation(&sent(&drain(&mut uplink), requests)[0]), "CREATE E/proxyLinkRoute/Cq");
}

#[test]
fn no_bytes_do_harm() {
    let (mut uplink, outputs) = connected();
    drain(&mut uplink);
    for purpose in [Purpose::Tracking, Purpose::LookupReplies, Purpose::ManagementReplies] {
        uplink.receive(SECOND, link(&outputs, &purpose), b"\x00\x53\x77\xd0nonsense");
    }
    assert_eq!(lines(&drain(&mut uplink)).len(), 3);
}

#[test]
fn a_request_for_a_link_route_that_the_interior_does_not_take_is_sent_again() {
    let (mut uplink, outputs) = connected();
    let requests = link(&outputs, &Purpose::ManagementRequests);
    drain(&mut uplink);
    uplink.link_route(SECOND, "Cqueue", true);
    let named = |outputs: &[UplinkOutput]| {
        outputs.iter().find_map(|output| match output {
            UplinkOutput::Send { link, request, .. } if *link == requests => request.clone(),
            _ => None,
        })
    };
    let first = named(&drain(&mut uplink)).expect("the request goes out unsettled");
    uplink.outcome(SECOND, &first, true);
    assert_eq!(named(&drain(&mut uplink)), None);
    uplink.outcome(SECOND, &first, false);
    assert_eq!(uplink.next_timeout(), Some(SECOND * 2));
    uplink.handle_timeout(SECOND * 2);
    let second = named(&drain(&mut uplink)).expect("the request goes out again");
    assert_ne!(first, second);
}
