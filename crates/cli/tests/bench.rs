//! `waystation bench` against a router of this version.

mod support;

use serde_json::Value;
use support::{Router, WAYSTATION, run};

fn bench(router: &Router, line: &str) -> Value {
    let done = run(WAYSTATION, &format!("bench --url {} --json -t 60 {line}", router.bus));
    assert_eq!(done.status, 0, "{}{}", done.out, done.err);
    serde_json::from_str(&done.out).expect("JSON")
}

/// Counts in the check of a report that have to be zero.
fn faults(report: &Value) -> u64 {
    let names = ["lost", "unsettled", "doubled", "disordered", "damaged", "aborted", "foreign"];
    names.iter().map(|name| report["check"][name].as_u64().expect("a count")).sum()
}

#[test]
fn every_message_of_a_count_is_accounted_for() {
    let router = Router::start("bench-count", "");
    let report = bench(&router, "--count 5000 --senders 3 --receivers 2 --threads 2");
    assert_eq!(report["check"]["sent"], 5000);
    assert_eq!(report["check"]["received"], 5000);
    assert_eq!(report["check"]["outcomes"]["accepted"], 5000);
    assert_eq!(faults(&report), 0, "{report}");
    assert!(report["latency"]["p50"].as_f64() <= report["latency"]["max"].as_f64());
}

#[test]
fn messages_of_many_frames_arrive_whole() {
    let router = Router::start("bench-large", "");
    let report = bench(&router, "--count 20 --size 1000000");
    assert_eq!((&report["check"]["received"], faults(&report)), (&20.into(), 0), "{report}");
}

#[test]
fn presettled_messages_have_no_outcomes() {
    let router = Router::start("bench-presettled", "");
    let report = bench(&router, "--count 2000 --settle presettled");
    assert_eq!(report["check"]["sent"], 2000);
    assert_eq!(report["check"]["outcomes"]["accepted"], 0);
    assert_eq!(report["check"]["doubled"], 0);
}

#[test]
fn many_links_share_a_connection_and_have_addresses_of_their_own() {
    let router = Router::start("bench-links", "");
    let line = "--count 4000 --senders 100 --receivers 100 --addresses 100 --links-per-connection 50";
    let report = bench(&router, line);
    assert_eq!((&report["check"]["received"], faults(&report)), (&4000.into(), 0), "{report}");
}

#[test]
fn every_receiver_of_a_multicast_address_gets_every_message() {
    let router = Router::start("bench-fan-out", "address {\n prefix: news\n distribution: multicast\n}\n");
    let report = bench(&router, "--count 500 --receivers 3 --fan-out --address news");
    assert_eq!((&report["check"]["received"], faults(&report)), (&1500.into(), 0), "{report}");
}

#[test]
fn a_schedule_is_kept_to_the_message() {
    let router = Router::start("bench-rate", "");
    let line = format!("--rate 500 --duration 1 --warm-up 0.2 --pid {} --cool-down 0", router.pid());
    let report = bench(&router, &line);
    // 0.2 seconds of warm-up and one that is measured.
    assert_eq!((&report["check"]["sent"], faults(&report)), (&600.into(), 0), "{report}");
    assert_eq!(report["latency"]["count"], 500);
    assert!(report["server"]["memory_before"].as_u64() > Some(0));
}

#[test]
fn idle_connections_are_counted_in_memory() {
    let router = Router::start("bench-idle", "");
    let report = bench(&router, &format!("--connections 20 --further-links 3 --pid {} --cool-down 0", router.pid()));
    assert_eq!((&report["connections"], &report["further_links"]), (&20.into(), &3.into()));
    assert!(report["memory_connected"].as_u64() > Some(0));
}

#[test]
fn a_plan_that_makes_no_sense_is_refused() {
    let done = run(WAYSTATION, "bench --size 1");
    assert_eq!(done.status, 1);
    assert!(done.err.starts_with("waystation: --size 1: must be at least 24 bytes"), "{}", done.err);
}
