//! The signals that stop the router.

use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// A signal that asked the router to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopSignal {
    /// Stop; the process exits with 0.
    Terminate,
    /// Stop; the process then dies by the signal, so that a shell sees that it was interrupted.
    Interrupt,
}

/// Waits for the signals. Once one has come, later ones are ignored: the router is stopping.
pub(crate) struct Signals {
    terminate: Signal,
    quit: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Signals {
    /// Takes the signals over.
    ///
    /// # Errors
    /// If the system refuses.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            quit: signal(SignalKind::quit())?,
            interrupt: signal(SignalKind::interrupt())?,
            // A router that lost its terminal goes on: it has nothing to reload.
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// The next signal to stop. May be dropped and called again without losing one.
    pub(crate) async fn stop(&mut self) -> StopSignal {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return StopSignal::Terminate,
                _ = self.quit.recv() => return StopSignal::Terminate,
                _ = self.interrupt.recv() => return StopSignal::Interrupt,
                _ = self.hangup.recv() => {}
            }
        }
    }
}

/// Ends the process by SIGINT, as if it had not been caught.
#[allow(unsafe_code, reason = "setting a signal's disposition has no safe form; the default one runs no code of ours")]
pub(crate) fn die_interrupted() {
    use nix::sys::signal::{SigHandler, Signal, raise, signal};
    // SAFETY: SIG_DFL installs no handler, so nothing can run in a signal's context.
    let reset = unsafe { signal(Signal::SIGINT, SigHandler::SigDfl) };
    if reset.is_ok() {
        // If this fails, the caller exits in the ordinary way.
        let _ = raise(Signal::SIGINT);
    }
}
