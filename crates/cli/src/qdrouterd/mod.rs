//! `qdrouterd`: runs a router, with the old program's command line.

mod getopt;

use std::io::{self, Write};
use std::path::PathBuf;

use server::{ConfigSource, DISPATCH_VERSION, DaemonOptions, Options};

use getopt::{Item, Opt};

/// The configuration file that is read if none is named: where the old program's packages put it.
const DEFAULT_CONFIG: &str = "/etc/qpid-dispatch/qdrouterd.conf";

const OPTIONS: [Opt; 8] = [
    Opt { short: 'c', long: "config", takes_argument: true },
    Opt { short: 'I', long: "include", takes_argument: true },
    Opt { short: 'd', long: "daemon", takes_argument: false },
    Opt { short: 'P', long: "pidfile", takes_argument: true },
    Opt { short: 'U', long: "user", takes_argument: true },
    Opt { short: 'T', long: "test-hooks", takes_argument: false },
    Opt { short: 'v', long: "version", takes_argument: false },
    Opt { short: 'h', long: "help", takes_argument: false },
];

/// What a command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Asked {
    Run {
        config: PathBuf,
        daemon: Option<DaemonOptions>,
        test_hooks: bool,
    },
    Version,
    Help,
    /// What `getopt` or the program has to say against it.
    Wrong(Complaint),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Complaint {
    Option(String),
    Words(Vec<String>),
}

/// Runs the program with the words of its command line, its own name first, and returns its exit status: 0 after a
/// stop that was asked for, else 1.
pub fn run(program: &str, words: &[String], out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    let (status, told) = match read(words) {
        Asked::Run { config, daemon, test_hooks } => {
            let config = ConfigSource::File(config);
            let options = Options { program: program.to_owned(), config, daemon, test_hooks, on_ready: None };
            return server::run(options).code();
        }
        Asked::Version => (0, writeln!(out, "{DISPATCH_VERSION}")),
        Asked::Help => (0, usage(program, out)),
        Asked::Wrong(Complaint::Option(text)) => {
            (1, writeln!(err, "{program}: {text}").and_then(|()| usage(program, out)))
        }
        Asked::Wrong(Complaint::Words(words)) => {
            let told = writeln!(err, "Unexpected arguments: {}\n", words.join(" "));
            (1, told.and_then(|()| usage(program, out)))
        }
    };
    if told.and_then(|()| out.flush()).is_err() { 1 } else { status }
}

fn read(words: &[String]) -> Asked {
    let (items, mistake) = getopt::parse(&OPTIONS, words);
    let mut config = PathBuf::from(DEFAULT_CONFIG);
    let mut is_daemon = false;
    let mut daemon = DaemonOptions::default();
    let mut test_hooks = false;
    let mut others = Vec::new();
    for item in items {
        match item {
            Item::Option('c', path) => config = path.into(),
            Item::Option('d', _) => is_daemon = true,
            Item::Option('P', path) => daemon.pid_file = Some(path.into()),
            Item::Option('U', name) => daemon.user = Some(name),
            Item::Option('T', _) => test_hooks = true,
            Item::Option('v', _) => return Asked::Version,
            Item::Option('h', _) => return Asked::Help,
            // The old program's Python library, which this one does not need.
            Item::Option(..) => {}
            Item::Word(word) => others.push(word),
        }
    }
    if let Some(text) = mistake {
        return Asked::Wrong(Complaint::Option(text));
    }
    if !others.is_empty() {
        return Asked::Wrong(Complaint::Words(others));
    }
    Asked::Run { config, daemon: is_daemon.then_some(daemon), test_hooks }
}

fn usage(program: &str, out: &mut dyn Write) -> io::Result<()> {
    write!(
        out,
        "\
Usage: {program} [OPTIONS]

  -c, --config=PATH          The configuration file
                             ({DEFAULT_CONFIG})
  -I, --include=PATH         Accepted for the old program's sake; no library
                             is needed
  -d, --daemon               Run as a daemon; return once the router serves
  -P, --pidfile=PATH         With -d: write the daemon's process id to a file
  -U, --user=NAME            With -d: run as this user
  -T, --test-hooks           Offer the addresses that system tests use
  -v, --version              Print the version whose behaviour this is
  -h, --help                 Print this
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> Asked {
        read(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    fn printed(line: &str) -> (u8, String, String) {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let status = run("qdrouterd", &words, &mut out, &mut err);
        (status, String::from_utf8(out).expect("text"), String::from_utf8(err).expect("text"))
    }

    #[test]
    fn what_system_tests_call_it_with_is_understood() {
        let daemon = DaemonOptions { pid_file: Some("/tmp/p".into()), user: None };
        assert_eq!(
            asked("-d -I /usr/lib/python -c test.conf -P /tmp/p -T"),
            Asked::Run { config: "test.conf".into(), daemon: Some(daemon), test_hooks: true }
        );
    }

    #[test]
    fn the_last_configuration_counts_and_the_installed_one_is_the_default() {
        let Asked::Run { config, .. } = asked("-c a --conf=b") else { panic!("it is to run") };
        assert_eq!(config, PathBuf::from("b"));
        let Asked::Run { config, daemon, .. } = asked("-P /tmp/p") else { panic!("it is to run") };
        assert_eq!((config, daemon), (PathBuf::from(DEFAULT_CONFIG), None));
    }

    #[test]
    fn help_and_version_are_for_the_standard_output() {
        let (status, out, err) = printed("-h");
        assert!(status == 0 && err.is_empty() && out.starts_with("Usage: qdrouterd [OPTIONS]\n"));
        assert_eq!(printed("-v"), (0, format!("{DISPATCH_VERSION}\n"), String::new()));
    }

    #[test]
    fn mistakes_end_with_one_and_the_usage() {
        let (status, out, err) = printed("--bad");
        assert_eq!((status, err.as_str()), (1, "qdrouterd: unrecognized option '--bad'\n"));
        assert!(out.starts_with("Usage: "));
        let (status, _, err) = printed("a b");
        assert_eq!((status, err.as_str()), (1, "Unexpected arguments: a b\n\n"));
    }
}
