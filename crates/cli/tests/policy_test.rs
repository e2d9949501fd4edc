//! `waystation policy test`: who may do what, and by which rule, as a file or a running router has it.

mod support;

use support::{Done, Router, Scratch, WAYSTATION, run};

/// Bob of the office may send orders and read what is his own; everybody else only reads news.
const RULES: &str = "\
policy {
    enableVhostPolicy: yes
    enableVhostNamePatterns: yes
    defaultVhost: other.example
}
vhost {
    hostname: shop.example
    aliases: shop
    groups: {
        office: {
            users: bob, carol
            remoteHosts: 10.0.0.0/24, 127.0.0.1
            targets: ord*
            sources: ${user}/inbox
        }
    }
}
vhost {
    hostname: *.tenant.example
    allowUnknownUser: yes
    groups: {
        $default: {
            remoteHosts: *
            sources: news
            allowAnonymousSender: yes
        }
    }
}
";

/// What the file says; a number so that tests do not share it.
fn of_file(number: u32, question: &str) -> Done {
    let file = Scratch::with(&format!("policy-{number}.conf"), &format!("router {{\n mode: standalone\n}}\n{RULES}"));
    run(WAYSTATION, &format!("policy test {} {question}", file.0.display()))
}

const BOB: &str = "--user bob --host 10.0.0.7 --vhost shop";

#[test]
fn what_is_allowed_is_told_rule_by_rule() {
    let done = of_file(1, &format!("{BOB} --target orders"));
    let expected = "vhost 'shop.example', by its alias 'shop'\n\
                    group 'office', which names user 'bob'\n\
                    host 10.0.0.7, by remoteHosts '10.0.0.0-10.0.0.255'\n\
                    target 'orders', by rule 'ord*' of targets or targetPattern\n\
                    allowed\n";
    assert_eq!((done.status, done.out.as_str(), done.err.as_str()), (0, expected, ""));
}

#[test]
fn an_address_with_the_users_name_is_allowed_to_that_user() {
    assert_eq!(of_file(2, &format!("{BOB} --source bob/inbox")).status, 0);
    let denied = of_file(3, &format!("{BOB} --source carol/inbox"));
    assert_eq!(denied.status, 1);
    assert!(denied.err.contains("source 'carol/inbox' is in neither sources nor sourcePattern"), "{}", denied.err);
}

#[test]
fn what_is_denied_is_told_with_the_rule_that_is_missing() {
    let reasons = [
        ("--user bob --host 10.0.0.7 --vhost elsewhere", "there is no vhost for 'elsewhere', and no default vhost"),
        ("--user mallory --host 10.0.0.7 --vhost shop", "user 'mallory' is in no group of vhost 'shop.example'"),
        ("--user bob --host 10.0.1.7 --vhost shop", "host 10.0.1.7 is not in remoteHosts of group 'office'"),
        ("--user bob --host 10.0.0.7 --vhost shop --target news", "target 'news' is in neither targets nor"),
        ("--user bob --host 10.0.0.7 --vhost shop --target=", "allowAnonymousSender is no"),
    ];
    for (number, (question, reason)) in (10..).zip(reasons) {
        let done = of_file(number, question);
        assert_eq!(done.status, 1, "{question}: {}", done.out);
        assert!(done.err.starts_with("waystation: denied: ") && done.err.contains(reason), "{question}: {}", done.err);
    }
}

#[test]
fn patterns_of_hosts_default_groups_and_anonymous_senders_are_named() {
    let done = of_file(4, "--user eve --vhost a.tenant.example --target=");
    assert_eq!(done.status, 0, "{}", done.err);
    for part in ["by pattern '*.tenant.example'", "group '$default'", "by remoteHosts '*'", "by allowAnonymousSender"] {
        assert!(done.out.contains(part), "{part} is missing: {}", done.out);
    }
}

#[test]
fn where_policy_is_not_in_force_everything_is_allowed_for_that_reason() {
    let file = Scratch::with("policy-off.conf", "router {\n mode: standalone\n}\n");
    let done = run(WAYSTATION, &format!("policy test {} {BOB} --target orders", file.0.display()));
    assert_eq!(done.status, 0);
    assert!(done.out.contains("enableVhostPolicy is no"), "{}", done.out);
}

#[test]
fn no_answer_is_told_from_the_answer_no() {
    let broken = Scratch::with("policy-broken.conf", "router {\n mode: nosuch\n}\n");
    for question in ["/no/such/file.conf", &broken.0.display().to_string(), "--url 127.0.0.1:1"] {
        let done = run(WAYSTATION, &format!("policy test {question} {BOB}"));
        assert_eq!((done.status, done.out.as_str()), (2, ""), "{question}: {}", done.err);
        assert!(!done.err.contains("denied"), "{question}: {}", done.err);
    }
    assert_eq!(of_file(5, "--source a --target b").status, 2, "a link has one end");
}

#[test]
fn a_running_router_is_asked_for_the_rules_it_has_now() {
    // Whoever asks needs a vhost, too.
    let admin = "vhost {\n hostname: 127.0.0.1\n allowUnknownUser: yes\n groups: {\n $default: {\n remoteHosts: *\n \
                 sources: *\n targets: *\n allowDynamicSource: yes\n }\n }\n}\n";
    let router = Router::start("policy-router", &format!("{RULES}{admin}"));
    let ask = |question: &str| run(WAYSTATION, &format!("policy test --url {} {question}", router.bus));
    let allowed = ask(&format!("{BOB} --target orders"));
    assert_eq!((allowed.status, allowed.err.as_str()), (0, ""));
    assert!(allowed.out.contains("by rule 'ord*'"), "{}", allowed.out);
    assert_eq!(ask(&format!("{BOB} --target news")).status, 1);

    let changed = run(
        WAYSTATION,
        &format!("manage update --type vhost --name vhost/shop.example aliases=market --url {}", router.bus),
    );
    assert_eq!(changed.status, 0, "{}", changed.err);
    let gone = ask(BOB);
    assert!(gone.status == 1 && gone.err.contains("no vhost for 'shop'"), "{}", gone.err);
    assert_eq!(ask("--user bob --host 10.0.0.7 --vhost market").status, 0);
}
