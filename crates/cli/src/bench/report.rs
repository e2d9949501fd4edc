//! What a run found out.

use serde::Serialize;

use super::histogram::Histogram;
use super::plan::{Length, Plan, Settle};
use super::sending::Outcomes;
use super::server_process::Cpu;

/// What a run with traffic found out. Times are microseconds unless their names say otherwise.
#[derive(Clone, Debug, Serialize)]
pub struct TrafficReport {
    /// What was asked for.
    pub plan: PlanReport,
    /// Seconds that were measured.
    pub seconds: f64,
    /// Messages received while it was measured.
    pub messages: u64,
    /// The same by the second.
    pub messages_per_second: f64,
    /// Bodies of these messages, in millions of bytes by the second.
    pub megabytes_per_second: f64,
    /// How long messages were under way: from when they were to be sent until they were received.
    pub latency: LatencyReport,
    /// How long after they were to be sent messages were sent: waiting for credit, and for this program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lateness: Option<LatencyReport>,
    /// How long after they were to be sent messages had their outcome at the sender. A queue answers when it has taken them;
    /// without one their receivers do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<LatencyReport>,
    /// Whether all that was sent came, once, and in order.
    pub check: CheckReport,
    /// What the server used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerReport>,
    /// Processor time that this program used for a message.
    pub own_cpu_per_message: f64,
}

/// What was asked for.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names are those of the options")]
pub struct PlanReport {
    pub url: String,
    pub address: String,
    pub addresses: usize,
    pub senders: usize,
    pub receivers: usize,
    pub links_per_connection: usize,
    pub threads: usize,
    pub size: usize,
    pub settle: Settle,
    pub durable: bool,
    pub credit: u32,
    pub window: Option<usize>,
    pub rate: Option<f64>,
    pub fan_out: bool,
    pub warm_up_seconds: f64,
    pub seconds: Option<f64>,
    pub count: Option<u64>,
}

impl From<&Plan> for PlanReport {
    fn from(plan: &Plan) -> Self {
        let (seconds, count) = match plan.length {
            Length::Time(time) => (Some(time.as_secs_f64()), None),
            Length::Messages(count) => (None, Some(count)),
        };
        Self {
            url: plan.connect.url.to_string(),
            address: plan.address.clone(),
            addresses: plan.addresses,
            senders: plan.senders,
            receivers: plan.receivers,
            links_per_connection: plan.links_per_connection,
            threads: plan.threads,
            size: plan.size,
            settle: plan.settle,
            durable: plan.durable,
            credit: plan.credit,
            window: plan.window,
            rate: plan.rate,
            fan_out: plan.fan_out,
            warm_up_seconds: plan.warm_up.as_secs_f64(),
            seconds,
            count,
        }
    }
}

/// How times are spread.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LatencyReport {
    /// How many were measured.
    pub count: u64,
    /// The shortest.
    pub min: f64,
    /// Half were at most this long.
    pub p50: f64,
    /// Nine of ten were.
    pub p90: f64,
    /// 99 of a hundred were.
    pub p99: f64,
    /// 999 of a thousand were.
    pub p99_9: f64,
    /// The longest.
    pub max: f64,
}

impl From<&Histogram> for LatencyReport {
    fn from(times: &Histogram) -> Self {
        Self {
            count: times.count(),
            min: micros(times.shortest()),
            p50: micros(times.percentile(50_000)),
            p90: micros(times.percentile(90_000)),
            p99: micros(times.percentile(99_000)),
            p99_9: micros(times.percentile(99_900)),
            max: micros(times.longest()),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "nanoseconds beyond 2^53 are a hundred days")]
fn micros(nanos: u64) -> f64 {
    nanos as f64 / 1000.0
}

/// Whether all that was sent came, once, and in order. All of the run counts, not only what was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// Messages sent.
    pub sent: u64,
    /// Different messages received, by each receiver if every one gets every message.
    pub received: u64,
    /// What their receivers said of them (not of those sent settled).
    pub outcomes: Outcomes,
    /// Sent unsettled, and still without outcome at the end.
    pub unsettled: u64,
    /// Accepted or sent settled, but not received.
    pub lost: u64,
    /// Received once more.
    pub doubled: u64,
    /// Received after one that the same sender had sent later.
    pub disordered: u64,
    /// Too short or too long.
    pub damaged: u64,
    /// Given up half-way by the server.
    pub aborted: u64,
    /// Received, but not of this run or not for this receiver.
    pub foreign: u64,
}

impl CheckReport {
    /// Whether the server did anything that it must not. Messages that were sent settled may be lost.
    pub fn is_broken(&self, settle: Settle) -> bool {
        let lost = settle == Settle::Unsettled && (self.lost > 0 || self.unsettled > 0);
        lost || self.doubled > 0 || self.disordered > 0 || self.damaged > 0
    }
}

/// What the server's processes used, all together.
#[derive(Clone, Debug, Serialize)]
pub struct ServerReport {
    /// Their process ids.
    pub pids: Vec<u32>,
    /// Processor time for a message.
    pub cpu_per_message: f64,
    /// The part of it that the program itself used.
    pub user_per_message: f64,
    /// The part of it that the system used for it.
    pub system_per_message: f64,
    /// Processor time for a second, in seconds: how many processors were busy.
    pub cores: f64,
    /// Memory before the first connection, in bytes.
    pub memory_before: u64,
    /// The most memory while it ran.
    pub memory_most: u64,
    /// Memory after the last connection was closed.
    pub memory_after: u64,
}

impl ServerReport {
    /// Divides what was used among messages.
    #[expect(clippy::cast_precision_loss, reason = "counts beyond 2^53 do not occur")]
    pub(super) fn new(pids: &[u32], used: Cpu, messages: u64, seconds: f64, memory: [u64; 3]) -> Self {
        let per_message = |time: std::time::Duration| time.as_secs_f64() * 1e6 / messages.max(1) as f64;
        let [memory_before, memory_most, memory_after] = memory;
        Self {
            pids: pids.to_vec(),
            cpu_per_message: per_message(used.total()),
            user_per_message: per_message(used.user),
            system_per_message: per_message(used.system),
            cores: used.total().as_secs_f64() / seconds.max(1e-9),
            memory_before,
            memory_most,
            memory_after,
        }
    }
}

/// What a run with idle connections found out. Memory is in bytes.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct IdleReport {
    /// Connections made, each with one link.
    pub connections: usize,
    /// Links that were then attached on each of them.
    pub further_links: usize,
    /// The server's memory before.
    pub memory_before: u64,
    /// With the connections.
    pub memory_connected: u64,
    /// With the further links.
    pub memory_linked: u64,
    /// After all were closed.
    pub memory_after: u64,
    /// For a connection with its first link.
    pub bytes_per_connection: f64,
    /// For each further link.
    pub bytes_per_link: f64,
    /// Seconds until all connections stood.
    pub seconds: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn losing_what_was_sent_settled_is_no_fault_but_doubling_is() {
        let lost = CheckReport { lost: 1, ..CheckReport::default() };
        assert!(lost.is_broken(Settle::Unsettled));
        assert!(!lost.is_broken(Settle::Presettled));
        assert!(CheckReport { doubled: 1, ..CheckReport::default() }.is_broken(Settle::Presettled));
        assert!(!CheckReport { foreign: 1, aborted: 1, ..CheckReport::default() }.is_broken(Settle::Unsettled));
    }

    #[test]
    fn processor_time_is_divided_among_messages() {
        let used = Cpu { user: Duration::from_secs(3), system: Duration::from_secs(1) };
        let report = ServerReport::new(&[1], used, 1_000_000, 2.0, [1, 2, 3]);
        assert_eq!((report.cpu_per_message, report.user_per_message, report.cores), (4.0, 3.0, 2.0));
    }
}
