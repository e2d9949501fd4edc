//! How a router stops: nobody new is let in, senders are told to stop, what is on its way may arrive, the rest is handed
//! back, and connections are closed with a reason. All of it within a few seconds, for the old router takes no more.

use std::time::Duration;

use amqp::ErrorCondition;
use amqp::condition::names;
use tokio::time::{Instant, sleep};

use crate::control::plane::Plane;
use crate::process::signals::Signals;

/// How long deliveries may take to be settled.
const SETTLE: Duration = Duration::from_millis(1_500);
/// How long connections may take to be closed.
const CLOSE: Duration = Duration::from_millis(1_500);
/// How often it is looked whether that is done.
const LOOK: Duration = Duration::from_millis(5);

/// Winds everything down that clients would notice. Another signal cuts it short.
pub(crate) async fn wind_down(plane: &mut Plane, signals: &mut Signals) {
    plane.entities.listeners.close_all();
    let shards = plane.shards.clone();
    if shards.connections() == 0 {
        return;
    }
    logging::log!(SERVER, Notice, "Stopping: {} connections are to be closed", shards.connections());
    if let Some(store) = plane.entities.store.get() {
        store.stop_delivering();
    }
    shards.with_core(|core, host, now| core.stop_senders(now, host));
    let settled = || shards.with_core(|core, _, _| core.object_counts().deliveries) == 0;
    if !wait(plane, signals, SETTLE, settled).await {
        let left = shards.with_core(|core, host, now| {
            let left = core.object_counts().deliveries;
            core.hand_back(now, host);
            left
        });
        logging::log!(SERVER, Notice, "{left} deliveries that were not settled in time are handed back");
    }
    shards.close_all(&ErrorCondition::new(names::CONNECTION_FORCED, "The router is stopping"));
    if !wait(plane, signals, CLOSE, || shards.connections() == 0).await {
        logging::log!(SERVER, Info, "{} connections were not closed in time", shards.connections());
    }
}

/// Goes on with the control plane's work until something is done. False: it took too long, or another signal came.
async fn wait(plane: &mut Plane, signals: &mut Signals, limit: Duration, mut done: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    while !done() {
        if Instant::now() >= deadline {
            return false;
        }
        tokio::select! {
            _ = signals.stop() => return false,
            // What fails now fails because of the end.
            _ = plane.step() => {}
            () = sleep(LOOK) => {}
        }
    }
    true
}
