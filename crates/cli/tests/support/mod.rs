//! Programs under test: a router that runs while a test does, and what the tools print about it.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

pub(crate) const QDROUTERD: &str = env!("CARGO_BIN_EXE_qdrouterd");
pub(crate) const QDSTAT: &str = env!("CARGO_BIN_EXE_qdstat");
pub(crate) const QDMANAGE: &str = env!("CARGO_BIN_EXE_qdmanage");
pub(crate) const WAYSTATION: &str = env!("CARGO_BIN_EXE_waystation");

/// Far more than anything here takes; only a test that would hang for ever ends by it.
const PATIENCE: Duration = Duration::from_secs(120);

/// A file that is gone at the end.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn with(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("waystation-test-{}-{name}", std::process::id()));
        std::fs::write(&path, text).expect("the temporary folder takes files");
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A router that runs until the end of the test.
pub(crate) struct Router {
    process: Child,
    pub(crate) bus: String,
    _config: Scratch,
}

impl Router {
    /// Starts a standalone router named R with these further sections in its configuration.
    pub(crate) fn start(name: &str, sections: &str) -> Self {
        let config = format!(
            "router {{\n mode: standalone\n id: R\n workerThreads: 2\n}}\n\
             listener {{\n host: 127.0.0.1\n port: 0\n name: front\n saslMechanisms: ANONYMOUS\n authenticatePeer: no\n}}\n\
             log {{\n module: DEFAULT\n enable: notice+\n}}\n{sections}"
        );
        Self::launch(name, &config, &[])
    }

    /// Starts a router with this configuration, whose log says from level notice on where it listens, and these variables in its
    /// environment.
    pub(crate) fn launch(name: &str, config: &str, variables: &[(&str, &str)]) -> Self {
        let config = Scratch::with(&format!("{name}.conf"), config);
        let mut command = Command::new(QDROUTERD);
        command.arg("-c").arg(&config.0).envs(variables.iter().copied()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("the router is there");
        let errors = process.stderr.take().expect("it is a pipe");
        let (tell, told) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                if let Some((_, rest)) = line.split_once("Listening on ") {
                    let _ = tell.send(rest.split_whitespace().next().unwrap_or_default().to_owned());
                }
            }
        });
        let bus = told.recv_timeout(PATIENCE).expect("the router listens");
        Self { process, bus, _config: config }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Asks it to stop.
    pub(crate) fn terminate(&self) {
        let asked = Command::new("kill").arg(self.pid().to_string()).status().expect("there is such a program");
        assert!(asked.success());
    }
}

impl Drop for Router {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What a program did.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs a program with the words of a line, and this on its standard input.
pub(crate) fn run_with(program: &str, line: &str, input: &str) -> Done {
    start(program, line, input).finish()
}

/// Runs a program with the words of a line.
pub(crate) fn run(program: &str, line: &str) -> Done {
    run_with(program, line, "")
}

/// A program that runs, and whose output is taken while it does.
pub(crate) struct Running(JoinHandle<Output>);

/// Starts a program with the words of a line, and this on its standard input.
pub(crate) fn start(program: &str, line: &str, input: &str) -> Running {
    let mut command = Command::new(program);
    command.args(line.split_whitespace()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program is there");
    // A program that does not read closes the pipe, which is its business.
    let _ = child.stdin.take().expect("it is a pipe").write_all(input.as_bytes());
    Running(std::thread::spawn(move || child.wait_with_output().expect("the program ends")))
}

impl Running {
    pub(crate) fn finish(self) -> Done {
        let output = self.0.join().expect("it was waited for");
        Done {
            status: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).expect("text"),
            err: String::from_utf8(output.stderr).expect("text"),
        }
    }
}

/// Compares text with a golden file in tests/golden, after replacing what differs from run to run. With UPDATE_GOLDEN
/// set, the file is written instead.
pub(crate) fn assert_golden(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let text = mask(text);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &text).expect("the folder of golden files takes them");
        return;
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(golden == text, "{name} differs; it was:\n{golden}\nand is now:\n{text}");
}

/// Replaces what differs from run to run by something of the same length: digits of times, ports, ids.
fn mask(text: &str) -> String {
    text.lines().map(|line| mask_line(line) + "\n").collect()
}

fn mask_line(line: &str) -> String {
    if line.ends_with(" UTC") {
        return "<time> UTC".to_owned();
    }
    let mut out = String::new();
    let mut rest = line;
    while let Some(char) = rest.chars().next() {
        if let Some((length, masked)) = volatile(rest) {
            out.push_str(&masked);
            rest = &rest[length..];
        } else {
            out.push(char);
            rest = &rest[char.len_utf8()..];
        }
    }
    out
}

/// Something volatile at the beginning of a text: its length, and what to show instead.
fn volatile(text: &str) -> Option<(usize, String)> {
    if let Some(rest) = text.strip_prefix("127.0.0.1:") {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        // Ports have different numbers of digits: the blanks that fill the column up are masked with them.
        let blanks = rest[digits..].len() - rest[digits..].trim_start_matches(' ').len();
        let filler = if blanks > 0 { "  " } else { "" };
        return (digits > 0).then(|| (10 + digits + blanks, format!("127.0.0.1:<port>{filler}")));
    }
    if text.starts_with("temp.") && text.len() >= 20 {
        return Some((20, "temp.<random>".to_owned()));
    }
    let uuid = |text: &str| {
        let groups = [8, 4, 4, 4, 12];
        let mut at = 0;
        for (index, length) in groups.into_iter().enumerate() {
            if index > 0 {
                at += usize::from(text.as_bytes().get(at) == Some(&b'-'));
            }
            let group = text.get(at..at + length)?;
            if !group.chars().all(|c| c.is_ascii_hexdigit()) {
                return None;
            }
            at += length;
        }
        (at == 36).then_some(at)
    };
    if let Some(length) = uuid(text) {
        return Some((length, "<uuid>".to_owned()));
    }
    None
}
