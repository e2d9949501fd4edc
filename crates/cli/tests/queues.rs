//! `waystation queue` and the other commands, against a router with a store.

mod support;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use support::{Done, Router, WAYSTATION, run, run_with};

/// Far more than anything here takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// A router with a store of its own, and what is said of queues in its configuration.
struct Stored {
    router: Router,
    path: PathBuf,
}

impl Stored {
    fn start(name: &str, sections: &str) -> Self {
        let path = std::env::temp_dir().join(format!("waystation-queues-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        let store =
            format!("store {{\n path: {}\n segmentBytes: 1048576\n largeMessageBytes: 65536\n}}\n", path.display());
        Self { router: Router::start(&format!("queues-{name}"), &(store + sections)), path }
    }

    fn run(&self, line: &str) -> Done {
        run(WAYSTATION, &format!("{line} --url {} --timeout 120", self.router.bus))
    }

    /// What a command prints that does what it was asked to.
    fn out(&self, line: &str) -> String {
        let done = self.run(line);
        assert_eq!(done.status, 0, "{line}: {}{}", done.out, done.err);
        done.out
    }

    fn refused(&self, line: &str) -> String {
        let done = self.run(line);
        assert_eq!(done.status, 1, "{line}: {}", done.out);
        done.err
    }

    fn attribute(&self, queue: &str, name: &str) -> serde_json::Value {
        json(&self.out(&format!("queue show {queue} --json")))[name].clone()
    }
}

impl Stored {
    /// Waits until an attribute has a value: what a receiver said last takes effect when it is on disk.
    fn until(&self, queue: &str, name: &str, value: u64) {
        let begun = Instant::now();
        while self.attribute(queue, name) != value {
            assert!(begun.elapsed() < PATIENCE, "{name} of {queue} does not become {value}");
        }
    }
}

impl Drop for Stored {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn a_message_that_is_sent_first_is_received_later() {
    let stored = Stored::start("later", "queue {\n address: orders\n}\n");
    assert_eq!(stored.out("send orders one two"), "2 sent, 2 accepted\n");
    assert_eq!(stored.attribute("orders", "depth"), 2);
    assert_eq!(stored.out("receive orders --count 2"), "one\ntwo\n");
    stored.until("orders", "messagesOut", 2);
    assert_eq!(stored.attribute("orders", "depth"), 0);
}

#[test]
fn queues_are_listed() {
    let stored = Stored::start("list", "queue {\n address: a\n}\nqueue {\n address: b\n durable: no\n}\n");
    stored.out("send b x y");
    let listed = stored.out("queue list --sort depth");
    let rows: Vec<Vec<&str>> = listed.lines().skip(3).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!((rows[0][..2].to_vec(), rows[1][..2].to_vec()), (vec!["b", "2"], vec!["a", "0"]), "{listed}");
    let listed = json(&stored.out("queue list b --json"));
    assert_eq!((listed.as_array().map(Vec::len), &listed[0]["durable"]), (Some(1), &false.into()));
}

#[test]
fn a_queue_is_made_changed_and_deleted() {
    let stored = Stored::start("made", "");
    assert_eq!(stored.out("queue create jobs maxMessages=5 overflow=reject"), "Queue jobs was made.\n");
    assert_eq!(stored.attribute("jobs", "maxMessages"), 5);
    assert!(stored.refused("queue create jobs").contains("already"));
    let refused = stored.refused("queue create more maxMessages=none");
    assert!(refused.contains("maxMessages: ") && refused.contains("write a whole number"), "{refused}");
    let refused = stored.refused("queue create more overflow=ring");
    assert!(refused.contains("add maxMessages"), "{refused}");
    stored.out("manage update --type queue --name jobs maxMessages=7");
    assert_eq!(stored.attribute("jobs", "maxMessages"), 7);
    stored.out("send jobs x");
    let refused = stored.refused("queue delete jobs");
    assert!(refused.contains("it has messages") && refused.contains("--force"), "{refused}");
    assert_eq!(stored.out("queue delete jobs --force"), "Queue jobs was deleted.\n");
    let refused = stored.refused("queue show jobs");
    assert!(refused.contains("There is no queue 'jobs'") && refused.contains("queue list"), "{refused}");
}

#[test]
fn messages_are_looked_at_and_stay() {
    let stored = Stored::start("peek", "queue {\n address: q\n}\n");
    stored.out("send q low -p n:=1 --subject first");
    stored.out("send q high -p n:=2 --priority 9");
    let shown = stored.out("queue peek q");
    let places: Vec<&str> = shown.lines().filter(|line| line.starts_with("place: ")).collect();
    assert_eq!(places, ["place: 9-0", "place: 4-0"], "{shown}");
    assert!(shown.contains("properties.subject: first") && shown.contains("body: low"), "{shown}");
    let found = json(&stored.out("queue peek q --selector n=1 --json"));
    assert_eq!((found.as_array().map(Vec::len), &found[0]["body"]), (Some(1), &"low".into()));
    let refused = stored.refused("queue peek q --selector n==1");
    assert!(refused.contains("write a single `=`"), "{refused}");
    assert_eq!(stored.attribute("q", "depth"), 2);
}

#[test]
fn messages_are_moved_and_purged() {
    let stored = Stored::start("move", "queue {\n address: a\n}\nqueue {\n address: b\n}\n");
    for n in 1..=4 {
        stored.out(&format!("send a m{n} -p n:={n}"));
    }
    assert_eq!(stored.out("queue move a b --selector n>2"), "2 messages moved from a to b.\n");
    assert_eq!(stored.out("queue move a b --count 1"), "1 message moved from a to b.\n");
    assert_eq!(stored.out("receive b --count 3"), "m3\nm4\nm1\n");
    assert_eq!(run(WAYSTATION, "queue purge a").status, 2, "what is dropped has to be said");
    for command in ["queue purge a --selector=", "queue move a b --selector="] {
        assert_eq!(run(WAYSTATION, command).status, 2, "an empty selector chooses nothing: {command}");
    }
    assert_eq!(stored.out("queue purge a --all --json"), "{\n  \"messages\": 1,\n  \"held\": 0\n}\n");
    assert_eq!(stored.attribute("a", "depth"), 0);
    assert!(stored.refused("queue move a nosuch").contains("nosuch"));
}

#[test]
fn a_rejected_message_is_a_dead_letter_and_is_retried() {
    let stored = Stored::start("retry", "queue {\n address: q\n deadLetterAddress: q.dead\n}\n");
    stored.out("send q bad");
    stored.out("receive q --count 1 --outcome rejected");
    stored.until("q", "deadLettered", 1);
    let dead = json(&stored.out("queue peek q.dead --json"));
    assert_eq!(
        (&dead[0]["deadLetter"][0]["reason"], &dead[0]["deadLetter"][0]["address"]),
        (&"rejected".into(), &"q".into())
    );
    assert_eq!(stored.out("queue retry q.dead"), "1 message moved from q.dead back to where they came from.\n");
    assert_eq!(stored.out("receive q --count 1"), "bad\n");
}

#[test]
fn a_receiver_browses_and_selects() {
    let stored = Stored::start("browse", "queue {\n address: q\n}\n");
    stored.out("send q one -p n:=1");
    stored.out("send q two -p n:=2");
    assert_eq!(stored.out("receive q --browse --count 2"), "one\ntwo\n");
    assert_eq!(stored.out("receive q --selector n=2 --count 1"), "two\n");
    let refused = stored.refused("receive q --selector n==2 --count 1");
    assert!(refused.contains("single `=`"), "{refused}");
    stored.until("q", "depth", 1);
}

#[test]
fn a_durable_subscription_gets_what_came_while_nobody_received() {
    let stored = Stored::start("topic", "topic {\n address: news\n}\n");
    let line = "receive news --subscription mine --container me";
    stored.out(&format!("{line} --wait 0.5"));
    stored.out("send news today");
    assert_eq!(stored.out(&format!("{line} --count 1")), "today\n");
}

#[test]
fn queues_of_a_template_are_made_when_they_are_needed() {
    let stored = Stored::start("template", "queueTemplate {\n pattern: q.#\n maxMessages: 5\n}\n");
    stored.out("send q.new x");
    assert_eq!(stored.attribute("q.new", "maxMessages"), 5);
    let templates = json(&stored.out("manage query --type queueTemplate --compact"));
    assert_eq!(templates[0]["pattern"], "q.#");
}

#[test]
fn the_store_tells_how_it_is() {
    let stored = Stored::start("state", "queue {\n address: q\n}\n");
    stored.out("send q x");
    let store = json(&stored.out("manage query --type store --compact"));
    assert_eq!((&store[0]["state"], &store[0]["messages"], &store[0]["queues"]), (&"ok".into(), &1.into(), &1.into()));
}

#[test]
fn a_router_without_a_store_says_what_is_missing() {
    let router = Router::start("queues-none", "");
    let refused = run(WAYSTATION, &format!("queue create q --url {}", router.bus));
    assert!(refused.status == 1 && refused.err.contains("store { path: ... }"), "{}", refused.err);
    assert_eq!(run(WAYSTATION, &format!("queue list --url {}", router.bus)).out, "There are no such queues.\n");
}

#[test]
fn a_running_router_makes_a_backup_that_is_a_store() {
    let stored = Stored::start("backup", "queue {\n address: q\n}\n");
    stored.out("send q kept");
    let (backup, copy) = (stored.path.with_extension("backup"), stored.path.with_extension("restored"));
    let told = stored.out(&format!("backup {}", backup.display()));
    assert!(told.contains("all checksums are right"), "{told}");
    let again = stored.refused(&format!("backup {}", backup.display()));
    assert!(again.contains(&backup.display().to_string()), "{again}");
    let restored = run(WAYSTATION, &format!("restore {} {}", backup.display(), copy.display()));
    assert_eq!(restored.status, 0, "{}", restored.err);
    let router = Router::start(
        "queues-restored",
        &format!("store {{\n path: {}\n segmentBytes: 1048576\n largeMessageBytes: 65536\n}}\n", copy.display()),
    );
    assert_eq!(run(WAYSTATION, &format!("receive q --count 1 --url {}", router.bus)).out, "kept\n");
    drop(router);
    for path in [backup, copy] {
        let _ = std::fs::remove_dir_all(path);
    }
}

#[test]
fn a_policy_says_who_may_have_queues_made_and_who_may_manage_them() {
    let policy = "policy {\n enableVhostPolicy: yes\n}\nvhost {\n hostname: $default\n allowUnknownUser: yes\n groups: {\n  \
                  $default: {\n   remoteHosts: *\n   sources: q.mine\n   targets: q.mine\n  }\n }\n}\n";
    let stored = Stored::start("policy", &format!("queueTemplate {{\n pattern: q.#\n}}\n{policy}"));
    assert_eq!(stored.out("send q.mine one"), "1 sent, 1 accepted\n");
    for line in ["send q.other one", "receive q.other --wait 1", "queue list", "queue delete q.mine --force"] {
        let refused = stored.refused(line);
        assert!(refused.contains("amqp:unauthorized-access"), "{line}: {refused}");
    }
    assert_eq!(stored.out("receive q.mine --count 1"), "one\n");
}

#[test]
fn who_takes_a_topic_for_a_queue_is_told_where_its_messages_are() {
    let stored = Stored::start("topic", "topic {\n address: news\n}\n");
    let refused = stored.refused("queue peek news");
    assert!(refused.contains("it is a topic") && refused.contains("waystation queue list news::"), "{refused}");
    assert!(stored.refused("queue create news").contains("There is a topic 'news' already"));
}

#[test]
fn rates_are_shown_for_who_waits_a_second() {
    let stored = Stored::start("rates", "queue {\n address: orders\n}\n");
    let header = stored.out("queue list --rates").lines().nth(1).unwrap_or_default().to_owned();
    assert!(header.contains("in/s") && header.contains("out/s"), "{header}");
    let rates = json(&stored.out("queue show orders --rates --json"));
    assert_eq!((&rates["inPerSecond"], &rates["outPerSecond"]), (&0.0.into(), &0.0.into()));
}

#[test]
fn a_topic_with_messages_is_deleted_by_force_only() {
    let stored = Stored::start("topic-force", "topic {\n address: news\n}\n");
    stored.out("receive news --container me --subscription mine --wait 1");
    stored.out("send news one");
    let refused = stored.refused("manage delete --type topic --name news");
    assert!(refused.contains("'news' is in use: a subscription has messages"), "{refused}");
    stored.out("manage delete --type topic --name news --force");
    assert!(!stored.out("queue list").contains("news"));
}

#[test]
fn large_messages_whose_files_are_gone_are_named_by_verify_backup_and_restore_and_all_else_is_copied() {
    let stored = Stored::start("lost", "queue {\n address: orders\n}\n");
    let large = "x".repeat(200_000);
    let sent = run_with(WAYSTATION, &format!("send orders --url {} --timeout 120", stored.router.bus), &large);
    assert_eq!(sent.status, 0, "{}", sent.err);
    stored.out("send orders small");
    let file = std::fs::read_dir(stored.path.join("large")).expect("it is there").next();
    let file = file.expect("it has a file").expect("it can be read").path();
    std::fs::remove_file(&file).expect("it can be removed");
    let copies: Vec<PathBuf> = ["running", "stopped", "again"].map(|name| stored.path.with_extension(name)).into();
    let [running, stopped, again] = [0, 1, 2].map(|at: usize| copies[at].display().to_string());
    let name = file.file_name().expect("it has one").to_string_lossy().into_owned();
    let names_it = |done: &Done| {
        let named = done.out.contains(&name) && done.out.contains("message 4-0 of the queue 'orders'");
        assert!(done.status == 1 && named, "{}{}", done.out, done.err);
    };
    let done = stored.run(&format!("backup {running}"));
    names_it(&done);
    assert!(done.err.contains("everything else is"), "{}", done.err);
    stored.router.terminate();
    let store = stored.path.display().to_string();
    let begun = Instant::now();
    let done = loop {
        // Until it has closed the store there is no answer.
        let done = run(WAYSTATION, &format!("log verify {store}"));
        if done.status != 2 {
            break done;
        }
        assert!(begun.elapsed() < PATIENCE, "{}", done.err);
    };
    names_it(&done);
    let told = run(WAYSTATION, &format!("log verify {store} --json"));
    let told = json(&told.out);
    assert_eq!(
        (&told["whole"], &told["missing"][0]["message"]),
        (&false.into(), &"message 4-0 of the queue 'orders'".into())
    );
    names_it(&run(WAYSTATION, &format!("backup {stopped} --store {store}")));
    names_it(&run(WAYSTATION, &format!("restore {running} {again}")));
    drop(stored);
    for copy in copies {
        let _ = std::fs::remove_dir_all(copy);
    }
}
