//! A router program in a process of its own, fe2o3-amqp clients for it, and a broker behind it.
#![forbid(unsafe_code)]

pub mod broker;
#[path = "../../../crates/cli/tests/support/ports.rs"]
mod ports;

use fe2o3_amqp::Session;
use fe2o3_amqp::connection::{Connection, ConnectionHandle};
use fe2o3_amqp::sasl_profile::SaslProfile;
use fe2o3_amqp::session::SessionHandle;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Names the folder that holds the programs under test.
const PROGRAMS: &str = "WAYSTATION_PROGRAMS";

/// Nothing here takes that long; only something broken does.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A running router, ended when dropped.
pub struct Router {
    process: Child,
    folder: TempDir,
    port: u16,
}

impl Router {
    /// Starts a router on a free port of the loopback interface, and waits until it listens there.
    pub fn start() -> Self {
        Self::with("")
    }

    /// Starts a router with these sections in its configuration.
    pub fn with(sections: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let port = ports::free_port();
        let text = format!(
            "router {{\n mode: standalone\n id: interop\n}}\nlistener {{\n host: 127.0.0.1\n port: {port}\n \
             saslMechanisms: ANONYMOUS\n authenticatePeer: no\n}}\naddress {{\n prefix: multicast\n \
             distribution: multicast\n}}\nlog {{\n module: DEFAULT\n enable: info+\n outputFile: {}\n}}\n{sections}\n",
            folder.path().join("router.log").display()
        );
        std::fs::write(folder.path().join("router.conf"), text).expect("the configuration is written");
        let process = run(folder.path());
        let router = Router { process, folder, port };
        router.listens();
        router
    }

    /// Ends it without notice and starts it again on the same port.
    pub fn restart(&mut self) {
        self.process.kill().and_then(|()| self.process.wait()).expect("the router is ended");
        self.process = run(self.folder.path());
        self.listens();
    }

    /// Asks it to stop, as an operator would.
    pub fn stop(mut self) -> ExitStatus {
        let asked = Command::new("kill").args(["-TERM", &self.process.id().to_string()]).status();
        assert!(asked.expect("kill runs").success());
        self.process.wait().expect("the router ends")
    }

    /// A connection to it, with a session.
    pub async fn connect(&self) -> Client {
        static CLIENTS: AtomicU32 = AtomicU32::new(0);
        let container = format!("fe2o3-{}", CLIENTS.fetch_add(1, Ordering::Relaxed));
        let url = format!("amqp://127.0.0.1:{}", self.port);
        let builder = Connection::builder().container_id(container).sasl_profile(SaslProfile::Anonymous);
        let mut connection = builder.open(url.as_str()).await.expect("the connection opens");
        let session = Session::begin(&mut connection).await.expect("the session begins");
        Client { connection, session }
    }

    /// What a management query prints.
    pub fn query(&self, entity_type: &str, attribute: &str) -> String {
        let asked = Command::new(program("qdmanage"))
            .args(["-b", &format!("127.0.0.1:{}", self.port), "query", "--type", entity_type, attribute])
            .output()
            .expect("qdmanage runs");
        String::from_utf8_lossy(&asked.stdout).into_owned()
    }

    /// Waits until a query prints what is wanted.
    pub async fn wait_for(&self, entity_type: &str, attribute: &str, wanted: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let told = self.query(entity_type, attribute);
            if wanted(&told) {
                return;
            }
            assert!(Instant::now() < deadline, "waited in vain for {entity_type} {attribute}: {told}\n{}", self.log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("router.log")).unwrap_or_default()
    }

    fn listens(&self) {
        let deadline = Instant::now() + PATIENCE;
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(Instant::now() < deadline, "the router does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Router {
    fn drop(&mut self) {
        // It may have ended already; there is nothing to do about it here.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The path of one of the programs under test.
fn program(name: &str) -> PathBuf {
    let programs = std::env::var_os(PROGRAMS).unwrap_or_else(|| {
        panic!("{PROGRAMS} must name the folder of the programs under test; `cargo xtask interop` sets it")
    });
    Path::new(&programs).join(name)
}

fn run(folder: &Path) -> Child {
    let output = std::fs::File::create(folder.join("router.out")).expect("a file for the router's output");
    let errors = output.try_clone().expect("a second handle");
    Command::new(program("qdrouterd"))
        .arg("-c")
        .arg(folder.join("router.conf"))
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors)
        .spawn()
        .expect("the router starts")
}

/// One connection and one session.
pub struct Client {
    pub connection: ConnectionHandle<()>,
    pub session: SessionHandle<()>,
}

impl Client {
    /// Ends the session and closes the connection, both answered by the router.
    pub async fn close(mut self) {
        self.session.end().await.expect("the session ends");
        self.connection.close().await.expect("the connection closes");
    }
}
