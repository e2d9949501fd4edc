//! What a service manager is told, if it has said where (`sd_notify(3)`).

use std::time::Duration;

use sd_notify::NotifyState;

/// The router serves.
pub(crate) fn ready() {
    tell(&[NotifyState::Ready]);
}

/// The configuration is being read again; [`ready`] is to follow.
pub(crate) fn reloading() {
    // When that was is asked for together with it.
    match NotifyState::monotonic_usec_now() {
        Ok(now) => tell(&[NotifyState::Reloading, now]),
        Err(_) => tell(&[NotifyState::Reloading]),
    }
}

/// The router stops.
pub(crate) fn stopping() {
    tell(&[NotifyState::Stopping]);
}

/// The router is alive.
pub(crate) fn alive() {
    tell(&[NotifyState::Watchdog]);
}

/// How often it wants to hear that the router is alive, if at all: twice as often as it would lose patience.
pub(crate) fn watchdog_interval() -> Option<Duration> {
    sd_notify::watchdog_enabled().map(|patience| patience / 2).filter(|interval| !interval.is_zero())
}

fn tell(states: &[NotifyState<'_>]) {
    // Without a service manager nobody wants to know.
    let _ = sd_notify::notify(states);
}
