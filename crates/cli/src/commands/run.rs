//! `waystation run`.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use server::{ConfigSource, DaemonOptions, ExitStatus, Options};

/// Run a router (this is also what waystation does without a command)
///
/// Without a configuration it is a standalone router that lets every client on port 5672 in. The configuration file is
/// the old qdrouterd.conf; `waystation check` says what is wrong with one.
///
/// It runs until it gets SIGTERM, SIGQUIT or SIGINT.
#[derive(Debug, Default, Args)]
pub(super) struct RunArguments {
    /// The configuration file; if not given, a standalone router on port 5672
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Run as a daemon; return once the router serves
    #[arg(short, long)]
    daemon: bool,

    /// Write the daemon's process id to a file
    #[arg(long, value_name = "FILE", requires = "daemon")]
    pid_file: Option<PathBuf>,

    /// Run as this user
    #[arg(long, value_name = "NAME", requires = "daemon")]
    user: Option<String>,
}

/// Runs a router, and returns the program's exit status. `program`: how it was called.
pub(super) fn run(program: String, arguments: RunArguments) -> ExitStatus {
    let RunArguments { config, daemon, pid_file, user } = arguments;
    let first_steps = config.is_none();
    let called = program.clone();
    let greet = move |listening: &[String]| {
        let text = greeting(&called, listening, first_steps);
        // Whoever closed the standard output does not want to be greeted.
        let _ = std::io::stdout().write_all(text.as_bytes());
    };
    server::run(Options {
        program,
        config: config.map_or(ConfigSource::BuiltIn, ConfigSource::File),
        daemon: daemon.then_some(DaemonOptions { pid_file, user }),
        test_hooks: false,
        on_ready: Some(Box::new(greet)),
    })
}

/// What is printed once the router serves.
fn greeting(program: &str, listening: &[String], first_steps: bool) -> String {
    let mut text = match listening {
        [] => "Waystation runs, and listens nowhere.\n".to_owned(),
        listening => format!("Waystation listens on {}.\n", listening.join(", ")),
    };
    if let Some(address) = listening.first().filter(|_| first_steps) {
        let url = match address.rsplit_once(':') {
            Some((_, "5672")) | None => String::new(),
            Some((_, port)) => format!(" --url 127.0.0.1:{port}"),
        };
        text += &format!(
            "A first message, from another terminal; it waits in a queue until it is fetched:\n  \
             {program} send{url} queue.greetings hello\n  \
             {program} receive{url} queue.greetings --count 1\n\
             What it is doing: {program} stat{url}. Stop it with Ctrl-C.\n"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_message_needs_no_options_on_the_standard_port() {
        let text = greeting("waystation", &["0.0.0.0:5672".to_owned()], true);
        assert!(text.starts_with("Waystation listens on 0.0.0.0:5672.\n"));
        assert!(
            text.contains(
                "\n  waystation send queue.greetings hello\n  waystation receive queue.greetings --count 1\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn on_another_port_the_commands_name_it() {
        let text = greeting("target/release/waystation", &["[::]:7000".to_owned(), "x:1".to_owned()], true);
        assert!(text.starts_with("Waystation listens on [::]:7000, x:1.\n"));
        assert!(text.contains("target/release/waystation send --url 127.0.0.1:7000 queue.greetings hello"), "{text}");
    }

    #[test]
    fn with_a_configuration_of_ones_own_one_line_is_enough() {
        assert_eq!(greeting("w", &["a:1".to_owned()], false).lines().count(), 1);
        assert_eq!(greeting("w", &[], true), "Waystation runs, and listens nowhere.\n");
    }
}
