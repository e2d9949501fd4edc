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

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// To stop.
    Stop(StopSignal),
    /// To read the configuration again, and to open log files anew (SIGHUP).
    Reload,
    /// To open log files anew, which were moved away (SIGUSR1).
    ReopenLogs,
}

/// Waits for the signals. Once one has come, later ones are ignored: the router is stopping.
pub(crate) struct Signals {
    terminate: Signal,
    quit: Signal,
    interrupt: Signal,
    hangup: Signal,
    user: Signal,
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
            hangup: signal(SignalKind::hangup())?,
            user: signal(SignalKind::user_defined1())?,
        })
    }

    /// What the next signal asks for. May be dropped and called again without losing one.
    pub(crate) async fn next(&mut self) -> Asked {
        tokio::select! {
            _ = self.terminate.recv() => Asked::Stop(StopSignal::Terminate),
            _ = self.quit.recv() => Asked::Stop(StopSignal::Terminate),
            _ = self.interrupt.recv() => Asked::Stop(StopSignal::Interrupt),
            _ = self.hangup.recv() => Asked::Reload,
            _ = self.user.recv() => Asked::ReopenLogs,
        }
    }

    /// The next signal to stop; others are of no account.
    pub(crate) async fn stop(&mut self) -> StopSignal {
        loop {
            if let Asked::Stop(signal) = self.next().await {
                return signal;
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
