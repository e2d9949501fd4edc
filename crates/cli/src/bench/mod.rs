//! Puts load on any AMQP 1.0 server, and measures: throughput, latency, the server's processor time and memory, and
//! whether every message came, once, and in order.
//!
//! Two kinds of load. *Saturating*: each sender sends whenever it has credit; times then say more about queues than
//! about the server. *At a fixed rate*: messages are due by a schedule that waits for nobody, and times count from when
//! a message was due, so that a server that stops for a second is charged with what a second's senders would have
//! waited (no coordinated omission).

mod histogram;
mod idle;
mod pace;
mod party;
mod plan;
mod progress;
mod receiver;
mod report;
mod seen;
mod sender;
mod sending;
mod server_process;
mod shared;
mod stamp;
mod traffic;
mod wire;
mod worker;

use std::sync::Arc;

use crate::client::{ClientError, random_id};
use party::Party;
use plan::spread;
use shared::Shared;
use wire::Wire;
use worker::{Handle, Share};

pub use idle_run::run as run_idle;
pub use plan::{Length, Plan, Settle};
pub use progress::Progress;
pub use report::{CheckReport, IdleReport, LatencyReport, PlanReport, ServerReport, TrafficReport};
pub use traffic::run;

mod idle_run;

/// Why a run came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The plan makes no sense, or the run had to be given up.
    #[error("{0}")]
    Given(String),
    /// The server could not be reached.
    #[error(transparent)]
    Client(#[from] ClientError),
}

impl BenchError {
    /// The error in plain words.
    pub fn advice(&self) -> String {
        match self {
            Self::Given(text) => text.clone(),
            Self::Client(error) => error.advice(),
        }
    }
}

/// What a worker found out: in common, and by connection.
type Found<P> = (<P as Party>::Common, Vec<P>);

/// Workers of one kind.
struct Crew<P: Party> {
    handles: Vec<Handle<P>>,
}

impl<P: Party + 'static> Crew<P>
where
    P::Common: 'static,
{
    /// Connects, and starts as many workers as the plan has threads. `links` of this kind there are; `party` makes what
    /// a connection does with some of them.
    fn start(
        plan: &Arc<Plan>,
        shared: &Arc<Shared>,
        name: &str,
        links: usize,
        common: impl Fn() -> P::Common,
        party: impl Fn(&[usize]) -> P,
        share: impl Fn(&[Vec<usize>]) -> Option<Share>,
    ) -> Result<Self, BenchError> {
        let tls = P::url(plan).is_tls().then(|| plan.connect.tls.load()).transpose()?;
        let mut handles = Vec::new();
        for (thread, connections) in spread(links, plan.links_per_connection, plan.threads).into_iter().enumerate() {
            let mut wires = Vec::with_capacity(connections.len());
            for links in &connections {
                wires.push(Wire::connect(
                    plan,
                    shared,
                    tls.as_ref(),
                    P::url(plan),
                    format!("bench-{name}-{}", random_id()),
                    party(links),
                )?);
            }
            // Taking turns over connections first spreads what is due at the same time.
            let most = connections.iter().map(Vec::len).max().unwrap_or(0);
            let turns = (0..most).flat_map(|link| {
                let has = move |(_, links): &(usize, &Vec<usize>)| link < links.len();
                connections.iter().enumerate().filter(has).map(move |(wire, _)| (wire, link))
            });
            let turns = turns.collect();
            let name = format!("{name}-{thread}");
            let handle = worker::start(&name, shared.clone(), wires, common(), share(&connections), turns);
            handles.push(handle.map_err(|error| BenchError::Given(format!("cannot start a thread: {error}")))?);
        }
        Ok(Self { handles })
    }

    fn tell(&self, command: shared::Command) {
        self.handles.iter().for_each(|handle| handle.tell(command));
    }

    /// Ends the workers, and takes what they found out.
    fn finish(self, shared: &Shared) -> Result<Vec<Found<P>>, BenchError> {
        self.tell(shared::Command::Finish);
        let results: Vec<_> = self.handles.into_iter().map(Handle::join).collect();
        if let Some(error) = shared.failure() {
            return Err(BenchError::Given(error));
        }
        let gone = || BenchError::Given("a thread of the run ended unexpectedly".to_owned());
        results.into_iter().map(|result| result.ok_or_else(gone)).collect()
    }
}
