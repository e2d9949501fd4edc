//! The router: `qdrouterd`, as users start it.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::node::Node;
use super::wire::Wire;
use super::{PATIENCE, wait_for};

/// A running router with one listener for anybody. What it logs is kept.
pub(crate) struct Router {
    process: Child,
    pub(crate) port: u16,
    log: Arc<Mutex<Vec<String>>>,
    config: ConfigFile,
    killed: bool,
}

/// A configuration file, removed in the end.
pub(crate) struct ConfigFile(PathBuf);

impl ConfigFile {
    pub(crate) fn new(text: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{number}.conf", std::process::id());
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&path, text).expect("the folder for tests can be written to");
        Self(path)
    }

    /// The router program with this configuration.
    pub(crate) fn program(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_qdrouterd"));
        command.arg("-c").arg(&self.0).stdin(Stdio::null());
        command
    }
}

impl Drop for ConfigFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// What a configuration consists of in these tests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Setup<'a> {
    /// More lines in the `router` section.
    pub(crate) router: &'a str,
    /// More lines in the `listener` section.
    pub(crate) listener: &'a str,
    /// More sections, in front of the listener.
    pub(crate) sections: &'a str,
    /// More of the environment.
    pub(crate) environment: &'a [(&'a str, &'a str)],
}

impl Setup<'_> {
    fn text(&self) -> String {
        let Setup { router, listener, sections, .. } = self;
        let id = if router.contains("id:") { "" } else { "id: QDR" };
        let mode = if router.contains("mode:") { "" } else { "mode: standalone" };
        format!(
            "router {{\n{mode}\n{id}\n{router}\n}}\n{sections}\nlistener {{\nname: clients\nhost: \
             127.0.0.1\nport: 0\nsaslMechanisms: ANONYMOUS\nauthenticatePeer: no\n{listener}\n}}\n"
        )
    }

    pub(crate) fn start(self) -> Router {
        let config = ConfigFile::new(&self.text());
        let (process, log) = begin(&config, self.environment);
        let mut router = Router { process, port: 0, log, config, killed: false };
        router.port = router.listening_port();
        router
    }
}

/// Starts the program; what it logs is collected.
fn begin(config: &ConfigFile, environment: &[(&str, &str)]) -> (Child, Arc<Mutex<Vec<String>>>) {
    let mut process = config
        .program()
        .envs(environment.iter().copied())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    let log = Arc::<Mutex<Vec<String>>>::default();
    let errors = process.stderr.take().expect("it is piped");
    let lines = Arc::clone(&log);
    std::thread::spawn(move || collect(errors, &lines));
    (process, log)
}

fn collect(errors: ChildStderr, log: &Mutex<Vec<String>>) {
    for line in BufReader::new(errors).split(b'\n') {
        let Ok(line) = line else { return };
        let line = String::from_utf8_lossy(&line).into_owned();
        log.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }
}

impl Router {
    /// A router with more sections in its configuration.
    pub(crate) fn start(sections: &str) -> Self {
        Setup { sections, ..Setup::default() }.start()
    }

    /// A router with just this configuration, of which a listener for clients is on this port.
    pub(crate) fn configured(text: &str, port: u16) -> Self {
        let config = ConfigFile::new(text);
        let (process, log) = begin(&config, &[]);
        let mut router = Self { process, port, log, config, killed: false };
        router.wait_for_log("Listening on", |line| line.contains(&format!(":{port}")));
        router
    }

    fn listening_port(&mut self) -> u16 {
        let line = self.wait_for_log("Listening on 127.0.0.1:", |line| line.contains("(clients)"));
        let port = line.split("Listening on 127.0.0.1:").nth(1).and_then(|rest| rest.split(' ').next());
        port.and_then(|port| port.parse().ok()).expect("the line has a port")
    }

    /// A client with a session.
    pub(crate) fn client(&self) -> Wire {
        Wire::client(self.port)
    }

    /// A client of its management node.
    pub(crate) fn management(&self) -> Node {
        Node::of(self.client())
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// All that was logged so far.
    pub(crate) fn log(&self) -> Vec<String> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many lines of the log contain a text.
    pub(crate) fn count_in_log(&self, text: &str) -> usize {
        self.log().iter().filter(|line| line.contains(text)).count()
    }

    /// Waits until so many lines contain a text.
    pub(crate) fn wait_for_log_times(&self, text: &str, times: usize) {
        wait_for(&format!("{text:?} {times} times in the log"), || (self.count_in_log(text) >= times).then_some(()));
    }

    /// Waits for a line that contains a text and more.
    pub(crate) fn wait_for_log(&mut self, text: &str, and: impl Fn(&str) -> bool) -> String {
        let begun = std::time::Instant::now();
        loop {
            if let Some(line) = self.log().into_iter().find(|line| line.contains(text) && and(line)) {
                return line;
            }
            assert!(self.is_running(), "the router has stopped:\n{}", self.log().join("\n"));
            assert!(begun.elapsed() < PATIENCE, "waited in vain for {text:?} in the log:\n{}", self.log().join("\n"));
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    pub(crate) fn is_running(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// Ends the process without notice.
    pub(crate) fn kill(&mut self) {
        self.process.kill().expect("it is running");
        self.process.wait().expect("it was killed");
        self.killed = true;
    }

    /// Starts it again after [`Router::kill`].
    pub(crate) fn start_again(&mut self) {
        (self.process, self.log) = begin(&self.config, &[]);
        self.killed = false;
        self.port = self.listening_port();
    }

    /// Ends the process without notice, and starts it again.
    pub(crate) fn restart(&mut self) {
        self.kill();
        self.start_again();
    }

    /// Keeps the processor from the router meanwhile.
    pub(crate) fn hold_up(&self, meanwhile: impl FnOnce()) {
        self.signal("-STOP");
        meanwhile();
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let id = self.process_id().to_string();
        let status = Command::new("kill").args([signal, &id]).status().expect("there is such a program");
        assert!(status.success());
    }

    /// A figure of the process's memory, in KiB: `VmRSS` is what it has now, `VmHWM` the most that it ever had.
    pub(crate) fn memory(&self, figure: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process_id())).expect("it is running");
        let line = status.lines().find_map(|line| line.strip_prefix(figure)).expect("there is such a figure");
        line.trim_matches(|c: char| !c.is_ascii_digit()).parse().expect("a number")
    }

    /// Waits until the router uses no processor time: whatever it had to do is done, and it does not run in circles.
    pub(crate) fn wait_until_idle(&self) {
        wait_for("a moment in which the router does nothing", || {
            let before = self.processor_ticks();
            std::thread::sleep(std::time::Duration::from_millis(300));
            (self.processor_ticks() == before).then_some(())
        });
    }

    /// Processor time used so far, in the system's clock ticks (of 10 ms).
    fn processor_ticks(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process_id())).expect("it is running");
        // Fields 14 and 15, of which the second, in parentheses, may contain blanks.
        let (_, fields) = stat.rsplit_once(')').expect("the name is in parentheses");
        fields.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<u64>().expect("a number")).sum()
    }
}

impl Drop for Router {
    fn drop(&mut self) {
        let crashed = !self.killed && !self.is_running();
        let _ = self.process.kill();
        let _ = self.process.wait();
        if crashed && !std::thread::panicking() {
            panic!("the router has stopped in the middle of the test:\n{}", self.log().join("\n"));
        }
    }
}
