//! What does this router tell a collector of OpenTelemetry? Metrics from time to time, and a span for each hop of a message
//! that somebody traces; over HTTP, as OTLP in JSON.
//!
//! It is off unless the environment names a collector, and then costs nothing: a connection that nobody watches has one flag
//! that says so. It has a thread of its own, and knows nothing of routing. The protocol is small and stable, and the library
//! for it brings 40 others (a code generator and an RPC framework among them), so it is written out here.

mod export;
mod hops;
mod otlp;
mod settings;
mod spans;

pub(crate) use hops::Hops;
pub(crate) use settings::Settings;

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use crate::http::Context;

/// The exporter's thread. When this is dropped it sends what it has, and ends.
pub(crate) struct Telemetry {
    /// Dropping it tells the thread to end.
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Telemetry {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system has no thread left.
    pub(crate) fn start(settings: Settings, context: Context, hops: Option<Arc<Hops>>) -> io::Result<Self> {
        let (end, ended) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().thread_name("lookup").build()?;
        let thread = std::thread::Builder::new().name("telemetry".to_owned()).spawn(move || {
            runtime.block_on(export::run(&settings, &context, hops.as_deref(), ended));
            // A name server that does not answer must not hold up the end.
            runtime.shutdown_background();
        })?;
        Ok(Self { end: Some(end), thread: Some(thread) })
    }
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // One that panicked has ended, too.
            let _ = thread.join();
        }
    }
}
