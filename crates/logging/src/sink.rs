//! Where lines go.

use crate::Level;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::net::UnixDatagram;
use std::sync::{Arc, Weak};

/// An `outputFile` that cannot be written. The text is the old router's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenFailed {
    /// The path as configured.
    pub path: String,
}

impl fmt::Display for OpenFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Failed to open log file '{}'", self.path)
    }
}
impl std::error::Error for OpenFailed {}

/// An open destination. Modules that name the same one share it.
#[derive(Debug)]
pub(crate) enum Sink {
    Stderr,
    Stdout,
    Syslog(Option<UnixDatagram>),
    File(File),
}

impl Sink {
    /// Writes one line, newline included, and flushes it. A sink that fails has nobody to tell: the line is lost.
    ///
    /// Files are opened for appending and get the line in one call, so lines of several threads do not mix.
    pub(crate) fn write(&self, level: Level, line: &[u8]) {
        // Nothing useful can be done about a full disk or a closed terminal here.
        let _ = match self {
            Sink::Stderr => io::stderr().lock().write_all(line),
            Sink::Stdout => {
                let mut stdout = io::stdout().lock();
                stdout.write_all(line).and_then(|()| stdout.flush())
            }
            Sink::File(file) => (&*file).write_all(line),
            Sink::Syslog(Some(socket)) => socket.send(&syslog_datagram(level, line)).map(|_| ()),
            Sink::Syslog(None) => Ok(()),
        };
    }

    pub(crate) fn has_own_timestamp(&self) -> bool {
        matches!(self, Sink::Syslog(_))
    }
}

/// `<priority>tag[pid]: text`, the form that the local syslog socket takes (RFC 3164 without the time, which the daemon adds).
fn syslog_datagram(level: Level, line: &[u8]) -> Vec<u8> {
    const FACILITY_DAEMON: u8 = 3 << 3;
    let severity = match level {
        Level::Trace | Level::Debug => 7,
        Level::Info => 6,
        Level::Notice => 5,
        Level::Warning => 4,
        Level::Error => 3,
        Level::Critical => 2,
    };
    let mut datagram = format!("<{}>qdrouterd[{}]: ", FACILITY_DAEMON | severity, std::process::id()).into_bytes();
    datagram.extend_from_slice(line.strip_suffix(b"\n").unwrap_or(line));
    datagram
}

fn open_syslog() -> Option<UnixDatagram> {
    let socket = UnixDatagram::unbound().ok()?;
    socket.connect("/dev/log").ok()?;
    // A syslog daemon that does not keep up must not stop the router.
    socket.set_nonblocking(true).ok()?;
    Some(socket)
}

/// The open sinks by name.
pub(crate) struct Sinks {
    open: Vec<(String, Weak<Sink>)>,
}

impl Sinks {
    pub(crate) const fn new() -> Self {
        Sinks { open: Vec::new() }
    }

    /// Has all be opened anew.
    pub(crate) fn forget(&mut self) {
        self.open.clear();
    }

    /// The sink of this name, opened now or shared with who has it open.
    pub(crate) fn get(&mut self, name: &str) -> Result<Arc<Sink>, OpenFailed> {
        self.open.retain(|(_, sink)| sink.strong_count() > 0);
        if let Some(sink) = self.open.iter().find(|(open, _)| open == name).and_then(|(_, sink)| sink.upgrade()) {
            return Ok(sink);
        }
        let sink = Arc::new(match name {
            "stderr" => Sink::Stderr,
            "stdout" => Sink::Stdout,
            "syslog" => Sink::Syslog(open_syslog()),
            path => Sink::File(
                OpenOptions::new()
                    .append(true)
                    .create(true)
                    .open(path)
                    .map_err(|_| OpenFailed { path: path.to_owned() })?,
            ),
        });
        self.open.push((name.to_owned(), Arc::downgrade(&sink)));
        Ok(sink)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_path_is_opened_once() {
        let path = std::env::temp_dir().join(format!("logging-shared-{}", std::process::id()));
        let name = path.to_string_lossy().into_owned();
        let mut sinks = Sinks::new();

        let (first, second) = (sinks.get(&name).unwrap(), sinks.get(&name).unwrap());

        assert!(Arc::ptr_eq(&first, &second));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_path_that_cannot_be_opened_is_named() {
        let error = Sinks::new().get("/nonexistent/x.log").unwrap_err();
        assert_eq!(error.to_string(), "Failed to open log file '/nonexistent/x.log'");
    }

    #[test]
    fn syslog_lines_carry_the_severity_and_no_newline() {
        let datagram = syslog_datagram(Level::Error, b"SERVER (error) boom\n");
        let text = String::from_utf8(datagram).unwrap();
        assert!(text.starts_with("<27>qdrouterd[") && text.ends_with("]: SERVER (error) boom"), "{text}");
    }
}
