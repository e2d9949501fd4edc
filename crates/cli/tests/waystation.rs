//! `waystation`'s commands against a router of this version.

mod support;

use support::{Router, Scratch, WAYSTATION, run, run_with, start};

#[test]
fn what_is_sent_is_received_with_its_properties() {
    let router = Router::start("send", "");
    let receiver = start(WAYSTATION, &format!("receive --url {} news --count 2 --format json", router.bus), "");
    let sent = run(WAYSTATION, &format!("send --url {} news one two --subject s -p a=x -p n:=3 -t 30", router.bus));
    assert_eq!((sent.status, sent.out.as_str()), (0, "2 sent, 2 accepted\n"), "{}", sent.err);
    let received = receiver.finish();
    let message = |body: &str| {
        format!(
            "{{\"properties\": {{\"subject\": \"s\"}}, \
             \"application_properties\": {{\"a\": \"x\", \"n\": 3}}, \"body\": \"{body}\"}}\n"
        )
    };
    assert_eq!((received.status, received.out), (0, message("one") + &message("two")));
}

#[test]
fn the_standard_input_is_one_message_or_one_a_line() {
    let router = Router::start("lines", "");
    let receiver = start(WAYSTATION, &format!("receive --url {} news --count 3 --format raw", router.bus), "");
    let options = format!("--url {} -t 30 news", router.bus);
    assert_eq!(run_with(WAYSTATION, &format!("send {options}"), "whole\n").status, 0);
    assert_eq!(run_with(WAYSTATION, &format!("send {options} --lines"), "a\nb\n").status, 0);
    assert_eq!(receiver.finish().out, "whole\nab");
}

#[test]
fn a_large_message_of_bytes_arrives_whole() {
    let router = Router::start("large", "");
    let body = "0123456789abcdef".repeat(1 << 17);
    let receiver = start(WAYSTATION, &format!("receive --url {} big --count 1 --format raw", router.bus), "");
    let sent = run_with(WAYSTATION, &format!("send --url {} -t 30 big --type data", router.bus), &body);
    assert_eq!(sent.status, 0, "{}", sent.err);
    assert!(receiver.finish().out == body);
}

#[test]
fn what_is_not_accepted_is_told_and_fails() {
    let router = Router::start("refuse", "");
    let receiver = start(WAYSTATION, &format!("receive --url {} news --count 1 --outcome rejected", router.bus), "");
    let sent = run(WAYSTATION, &format!("send --url {} -t 30 news one", router.bus));
    assert_eq!((sent.status, sent.out.as_str()), (1, "1 sent, 0 accepted\n"));
    assert!(sent.err.contains("rejected"), "{}", sent.err);
    assert_eq!(receiver.finish().status, 0);
}

#[test]
fn without_a_receiver_sending_says_what_is_missing() {
    let router = Router::start("nobody", "");
    let sent = run(WAYSTATION, &format!("send --url {} -t 0.2 nobody one", router.bus));
    assert_eq!(sent.status, 1);
    assert!(sent.err.contains("nobody receives from the address"), "{}", sent.err);
}

#[test]
fn receiving_ends_when_nothing_comes() {
    let router = Router::start("nothing", "");
    let done = run(WAYSTATION, &format!("receive --url {} news --wait 0.1", router.bus));
    assert_eq!((done.status, done.out.as_str()), (0, ""), "{}", done.err);
    let too_few = run(WAYSTATION, &format!("receive --url {} news --wait 0.1 --count 2", router.bus));
    assert_eq!((too_few.status, too_few.err.as_str()), (1, "waystation: only 0 of 2 messages came\n"));
}

#[test]
fn the_router_is_shown_and_changed() {
    let router = Router::start("manage", "");
    let shown = run(WAYSTATION, &format!("stat links --url {}", router.bus));
    assert!(shown.status == 0 && shown.out.contains("Router Links\n  type "), "{}", shown.out);
    let created =
        run(WAYSTATION, &format!("manage create --type dummy --name d num1=7 --compact --url {}", router.bus));
    assert!(created.status == 0 && created.out.contains("\"num1\": 7"), "{}{}", created.out, created.err);
    let refused = run(WAYSTATION, &format!("manage read --type dummy --name nosuch --url {}", router.bus));
    let reason = "waystation: the management node refused: No entity with name=nosuch\n";
    assert_eq!((refused.status, refused.err.as_str()), (1, reason));
}

#[test]
fn a_configuration_is_checked_without_being_run() {
    let good = Scratch::with("good.conf", "router {\n mode: standalone\n}\n");
    let bad = Scratch::with("bad.conf", "router {\n mode: standalone\n nosuch: 1\n}\nlistener {\n port: 70000\n}\n");
    let done = run(WAYSTATION, &format!("check {} {}", good.0.display(), bad.0.display()));
    assert_eq!(done.status, 1);
    let places = [format!("{}: nothing is wrong\n", good.0.display()), format!("{}:3:", bad.0.display())];
    assert!(places.iter().all(|place| done.out.contains(place)), "{}", done.out);
    assert!(done.err.contains("1 of these 2"), "{}", done.err);
}

#[test]
fn a_router_that_cannot_be_reached_is_told_in_plain_words() {
    let done = run(WAYSTATION, "stat --url 127.0.0.1:1");
    assert_eq!((done.status, done.out.as_str()), (1, ""));
    assert!(done.err.starts_with("waystation: cannot connect to amqp://127.0.0.1:1: "), "{}", done.err);
}

#[test]
fn man_pages_and_completions_are_made() {
    let folder = std::env::temp_dir().join(format!("waystation-generate-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder takes folders");
    let done = run(WAYSTATION, &format!("generate --output {}", folder.display()));
    let files = ["waystation.1", "waystation-send.1", "qdstat.1", "qdmanage.1", "qdrouterd.8", "waystation.bash"];
    let found = files.map(|file| std::fs::metadata(folder.join(file)).is_ok_and(|file| file.len() > 500));
    let _ = std::fs::remove_dir_all(&folder);
    assert_eq!((done.status, found), (0, [true; 6]), "{}", done.err);
}
