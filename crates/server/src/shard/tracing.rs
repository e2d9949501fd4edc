//! The protocol trace: frames in the log, for one connection or all.

use logging::{Level, Module};

use super::conn::Conn;
use super::host::ShardHost;
use super::place::ConnRef;

impl ShardHost {
    /// Shows the frames of one connection, or of all of this shard, or no longer.
    pub(super) fn trace(&mut self, conn: Option<ConnRef>, on: bool) {
        match conn {
            Some(at) => {
                if let Some(conn) = self.conn(at) {
                    conn.set_traced(on);
                }
            }
            None => self.conns.iter_mut().for_each(|(_, conn)| conn.set_traced(on)),
        }
    }
}

impl Conn {
    /// Shows its frames from now on, or no longer.
    pub(super) fn set_traced(&mut self, on: bool) {
        self.flags.traced = on;
        self.endpoint.trace(on);
    }

    /// Writes the frames since the last time.
    #[inline]
    pub(super) fn write_traces(&mut self) {
        if self.flags.traced {
            for text in self.endpoint.take_traces() {
                logging::force(Module::Protocol, Level::Trace, None, format_args!("[C{}]:FRAME: {text}", self.id));
            }
        }
    }
}
