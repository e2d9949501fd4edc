//! `qdstat` against a router of this version: the tables as scripts know them.

mod support;

use support::{Done, QDSTAT, Router, assert_golden, run};

const SECTIONS: &str = "\
address {
 prefix: news
 distribution: multicast
 priority: 7
}
address {
 pattern: a.*.b
 name: pattern
 distribution: closest
}
";

fn qdstat(router: &Router, line: &str) -> Done {
    let done = run(QDSTAT, &format!("-b {} --timeout 120 {line}", router.bus));
    assert_eq!((done.status, done.err.as_str()), (0, ""), "{}", done.out);
    done
}

#[test]
fn links_and_addresses_of_the_tool_itself_are_shown() {
    let router = Router::start("qdstat-links", SECTIONS);
    assert_golden("qdstat-links.txt", &qdstat(&router, "--links").out);
    assert_golden("qdstat-links-verbose.txt", &qdstat(&router, "-lv").out);
    assert_golden("qdstat-addresses.txt", &qdstat(&router, "--address").out);
    assert_golden("qdstat-addresses-verbose.txt", &qdstat(&router, "-av").out);
    assert_golden(
        "qdstat-connections.txt",
        &qdstat(&router, "--connections").out.replace("000:00:00:01", "000:00:00:00"),
    );
}

#[test]
fn the_columns_of_the_router_as_a_whole_do_not_move() {
    let router = Router::start("qdstat-general", SECTIONS);
    let text = qdstat(&router, "").out;
    let row = |label: &str, value: &str| text.contains(&format!("  {label:33}{value}\n"));
    assert!(row("Mode", "standalone") && row("Router Id", "R") && row("Worker Threads", "2"), "{text}");
    assert!(
        row("Nodes", "0") && row("Auto Links", "0") && row("Link Routes", "0") && row("Connections", "1"),
        "{text}"
    );
    let csv = qdstat(&router, "-g --csv").out;
    assert!(csv.contains("\"attr\",\"value\"\n") && csv.contains("\"Connections\",\"1\"\n"), "{csv}");
}

#[test]
fn what_there_is_none_of_is_told() {
    let router = Router::start("qdstat-none", "");
    let reports = ["-n", "-e", "--autolinks", "--linkroutes", "--vhosts", "--vhostgroups", "--vhoststats"];
    let text: String = reports.map(|report| format!("$ qdstat {report}\n{}", qdstat(&router, report).out)).concat();
    assert_golden("qdstat-none.txt", &text);
}

#[test]
fn a_limit_shortens_every_table() {
    let router = Router::start("qdstat-limit", SECTIONS);
    assert_eq!(qdstat(&router, "--links --limit 1").out.lines().count(), 7);
    assert_eq!(qdstat(&router, "--links --limit 1 --csv").out.lines().count(), 6);
    assert_eq!(qdstat(&router, "--address --limit 2 --csv").out.lines().count(), 7);
}

#[test]
fn memory_has_the_pool_that_scripts_look_for() {
    let router = Router::start("qdstat-memory", "");
    let text = qdstat(&router, "--memory").out;
    let row = text.lines().find(|line| line.trim_start().starts_with("qdr_address_t ")).expect("the pool is there");
    let size = row.split_whitespace().nth(1).expect("it has a size");
    assert!(size.replace(',', "").parse::<u64>().is_ok(), "{row}");
    assert!(text.contains("\n\nMemory Summary\n  VmSize"), "{text}");
}

#[test]
fn all_entities_come_in_their_order() {
    let router = Router::start("qdstat-all", "");
    let text = qdstat(&router, "--all-entities").out;
    let titles = [
        "\nRouter Links\n",
        "\nRouter Addresses\n",
        "\nConnections\n",
        "\nAutoLinks\n",
        "\nLink Routes\n",
        "\nRouter Statistics\n",
        "\nMemory Pools\n",
        "\nPolicy Configuration\n",
        "\nNo Vhosts\n",
        "\nNo Vhost Stats\n",
    ];
    let places: Vec<usize> =
        titles.iter().map(|title| text.find(title).unwrap_or_else(|| panic!("{title}{text}"))).collect();
    assert!(places.is_sorted(), "{text}");
    assert_eq!(text.matches(" UTC\n").count(), 1);
}

#[test]
fn a_router_that_cannot_be_reached_is_told_on_the_standard_output() {
    let done = run(QDSTAT, "-b 127.0.0.1:1 -g");
    assert_eq!((done.status, done.err.as_str()), (1, ""));
    assert_eq!(
        done.out,
        "ConnectionException: Connection amqp://127.0.0.1:1 disconnected: \
         Condition('proton.pythonio', 'Connection refused to all addresses')\n"
    );
}

#[test]
fn a_router_that_is_not_in_the_network_does_not_answer() {
    let router = Router::start("qdstat-nosuch", "");
    let done = run(QDSTAT, &format!("-b {} -r nosuch -t 0.2 -g", router.bus));
    assert_eq!(done.status, 1);
    assert!(
        done.out.starts_with(&format!("Timeout: Connection amqp://{} timed out: Sending on sender ", router.bus)),
        "{}",
        done.out
    );
}

#[test]
fn a_wrong_command_line_ends_with_two() {
    let done = run(QDSTAT, "--nosuch");
    assert_eq!((done.status, done.out.as_str()), (2, ""));
    assert!(done.err.starts_with("usage: qdstat ") && done.err.ends_with("error: unrecognized arguments: --nosuch\n"));
}
