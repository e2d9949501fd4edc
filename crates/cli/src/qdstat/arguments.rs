//! The command line.

use super::reports::Report;
use super::{Request, View};
use crate::old_tools::{CONNECTION_OPTIONS, TARGET_OPTIONS, VERSION};
use crate::python::argparse::{Opt, Parsed, Parser, Stop, Takes};

const REPORT_GROUP: u8 = 2;

const fn report(names: &'static [&'static str]) -> Opt {
    Opt { names, takes: Takes::Nothing, group: REPORT_GROUP }
}

const OPTIONS: &[Opt] = &[
    Opt { names: &["-h", "--help"], takes: Takes::Help, group: 0 },
    Opt { names: &["--version"], takes: Takes::Version, group: 0 },
    Opt { names: &["-v", "--verbose"], takes: Takes::Nothing, group: 0 },
    report(&["-g", "--general"]),
    report(&["-c", "--connections"]),
    report(&["-l", "--links"]),
    report(&["-n", "--nodes"]),
    report(&["-e", "--edge"]),
    report(&["-a", "--address"]),
    report(&["-m", "--memory"]),
    report(&["-p", "--policy"]),
    report(&["--autolinks"]),
    report(&["--linkroutes"]),
    report(&["--vhosts"]),
    report(&["--vhostgroups"]),
    report(&["--vhoststats"]),
    report(&["--log"]),
    report(&["--all-entities"]),
    // The group of the other options that name a router to ask.
    Opt { names: &["--all-routers"], takes: Takes::Nothing, group: TARGET_OPTIONS[0].group },
    Opt { names: &["--limit"], takes: Takes::Int, group: 0 },
    Opt { names: &["--csv"], takes: Takes::Nothing, group: 0 },
];

const PARSER: Parser = Parser {
    program: "qdstat",
    usage: include_str!("usage.txt"),
    help: include_str!("help.txt"),
    version: VERSION,
    options: &[OPTIONS, TARGET_OPTIONS, CONNECTION_OPTIONS],
};

/// Reads the command line: what is wanted, and the options about the connection.
pub(super) fn parse(words: &[String]) -> Result<(Request, Parsed), Stop> {
    let parsed = PARSER.parse_options(words)?;
    let limit = parsed.get("--limit").and_then(|text| crate::python::int(text).ok()).unwrap_or(0);
    let limit = usize::try_from(limit)
        .map_err(|_| PARSER.wrong("argument --limit: must be 0 (no limit) or the greatest number of rows to show"))?;
    let request = Request {
        view: if parsed.has("--all-entities") { View::All } else { View::One(chosen(&parsed)) },
        all_routers: parsed.has("--all-routers"),
        limit,
        csv: parsed.has("--csv"),
        verbose: parsed.has("--verbose"),
    };
    Ok((request, parsed))
}

fn chosen(parsed: &Parsed) -> Report {
    let reports = [
        ("--connections", Report::Connections),
        ("--links", Report::Links),
        ("--nodes", Report::Nodes),
        ("--edge", Report::Edge),
        ("--address", Report::Addresses),
        ("--memory", Report::Memory),
        ("--policy", Report::Policy),
        ("--autolinks", Report::AutoLinks),
        ("--linkroutes", Report::LinkRoutes),
        ("--vhosts", Report::Vhosts),
        ("--vhostgroups", Report::VhostGroups),
        ("--vhoststats", Report::VhostStats),
        ("--log", Report::Log),
    ];
    reports.into_iter().find(|(option, _)| parsed.has(option)).map_or(Report::General, |(_, report)| report)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(line: &str) -> Result<View, Stop> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&words).map(|(request, _)| request.view)
    }

    fn error(line: &str) -> String {
        match view(line) {
            Err(Stop::Usage(text)) => text.lines().last().unwrap_or_default().to_owned(),
            other => panic!("not a usage error: {other:?}"),
        }
    }

    #[test]
    fn without_options_the_router_as_a_whole_is_reported() {
        assert_eq!(view(""), Ok(View::One(Report::General)));
        assert_eq!(view("--links"), Ok(View::One(Report::Links)));
        assert_eq!(view("--all-ent"), Ok(View::All));
    }

    #[test]
    fn one_report_and_one_target_at_a_time() {
        assert_eq!(error("-g -c"), "qdstat: error: argument -c/--connections: not allowed with argument -g/--general");
        assert_eq!(
            error("-r a --all-routers"),
            "qdstat: error: argument --all-routers: not allowed with argument -r/--router"
        );
    }

    #[test]
    fn other_words_are_refused_with_the_usage() {
        let Err(Stop::Usage(text)) = view("extra words") else { panic!("not a usage error") };
        assert!(text.starts_with("usage: qdstat [-h] [--version] [-v]\n"));
        assert!(text.ends_with("\nqdstat: error: unrecognized arguments: extra words\n"));
    }

    #[test]
    fn a_negative_limit_is_refused() {
        assert!(error("--limit -1").starts_with("qdstat: error: argument --limit: must be 0"));
    }
}
