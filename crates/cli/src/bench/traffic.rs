//! A run with traffic, from the first connection to the report.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::histogram::Histogram;
use super::plan::{Length, Plan, Settle};
use super::progress::Progress;
use super::receiver::{ReceiverParty, Receiving};
use super::report::{CheckReport, LatencyReport, PlanReport, ServerReport, TrafficReport};
use super::seen::Seen;
use super::sender::SenderParty;
use super::sending::{Outcomes, Sending};
use super::server_process::{Cpu, ServerProcess};
use super::shared::{Command, Shared, Window, nanos};
use super::worker::Share;
use super::{BenchError, Crew, Found};

/// How often it is looked how far a run got.
const LOOK: Duration = Duration::from_millis(20);
/// When nothing has come for so long at the end, nothing more will.
const QUIET: Duration = Duration::from_secs(1);

/// Does what the plan says.
///
/// # Errors
/// If the plan makes no sense, the server cannot be reached, or a connection or link ends while it runs.
pub fn run(plan: Plan, progress: &mut Progress) -> Result<TrafficReport, BenchError> {
    plan.check().map_err(BenchError::Given)?;
    let server = ServerProcess::new(&plan.pids).map_err(BenchError::Given)?;
    let mut run = Run { shared: Arc::new(Shared::new()), plan: Arc::new(plan), server, most_memory: 0, progress };
    run.go()
}

struct Run<'p> {
    plan: Arc<Plan>,
    shared: Arc<Shared>,
    server: Option<ServerProcess>,
    most_memory: u64,
    progress: &'p mut Progress,
}

/// A moment of a run.
#[derive(Clone, Copy, Debug, Default)]
struct Moment {
    nanos: u64,
    received: u64,
    server: Cpu,
    own: Duration,
}

impl Run<'_> {
    fn go(&mut self) -> Result<TrafficReport, BenchError> {
        let memory_before = self.memory();
        let mark = run_mark();
        let (receivers, senders) = (self.receivers(mark)?, self.senders(mark)?);
        let all = self.plan.receivers as u64;
        self.wait("attaching links", self.plan.connect.timeout, |shared| {
            shared.counters.attached.load(Ordering::Relaxed) >= all
        })?;
        let window = self.window();
        let begin = self.moment();
        receivers.tell(Command::Go(window));
        senders.tell(Command::Go(window));
        let (from, to) = self.measure(window, begin)?;
        senders.tell(Command::Stop);
        self.drain()?;
        let sent = senders.finish(&self.shared)?;
        let received = receivers.finish(&self.shared)?;
        self.progress.clear();
        std::thread::sleep(if self.server.is_some() { self.plan.cool_down } else { Duration::ZERO });
        let memory = [memory_before, self.most_memory, self.memory()];
        Ok(self.report(from, to, memory, &sent, &received))
    }

    fn receivers(&self, mark: u32) -> Result<Crew<ReceiverParty>, BenchError> {
        let plan = &self.plan;
        let party = |links: &[usize]| ReceiverParty::new(plan.clone(), links);
        Crew::start(plan, &self.shared, "receiver", plan.receivers, || Receiving::new(plan, mark), party, |_| None)
    }

    fn senders(&self, mark: u32) -> Result<Crew<SenderParty>, BenchError> {
        let plan = &self.plan;
        let senders = plan.senders as u64;
        let limit = |sender: usize| match plan.length {
            Length::Time(_) => u64::MAX,
            Length::Messages(all) => all / senders + u64::from((sender as u64) < all % senders),
        };
        let party = |links: &[usize]| SenderParty::new(plan.clone(), links, limit);
        let share = |connections: &[Vec<usize>]| {
            let links: Vec<usize> = connections.concat();
            #[expect(clippy::cast_precision_loss, reason = "nobody has 2^53 links")]
            let rate = plan.rate? * links.len() as f64 / plan.senders as f64;
            Some(Share { rate, limit: links.iter().map(|link| limit(*link)).fold(0, u64::saturating_add) })
        };
        Crew::start(plan, &self.shared, "sender", plan.senders, || Sending::new(plan, mark), party, share)
    }

    fn window(&self) -> Window {
        let start = self.shared.nanos();
        let measured_from = start + nanos(self.plan.warm_up);
        let end = match self.plan.length {
            Length::Time(time) => measured_from.saturating_add(nanos(time)),
            Length::Messages(_) => u64::MAX,
        };
        Window { start, measured_from, end }
    }

    /// Looks on until the window ends, or all messages have come.
    fn measure(&mut self, window: Window, begin: Moment) -> Result<(Moment, Moment), BenchError> {
        // Without a warm-up, what happens before the first look is measured too.
        let mut from = self.plan.warm_up.is_zero().then_some(begin);
        loop {
            std::thread::sleep(LOOK);
            self.check()?;
            let now = self.shared.nanos();
            if now < window.measured_from {
                self.progress.show(0.0, "warming up");
                self.look();
                continue;
            }
            let from = *from.get_or_insert_with(|| self.moment());
            self.look();
            let counters = &self.shared.counters;
            let received = counters.received.load(Ordering::Relaxed);
            let done = match self.plan.length {
                Length::Time(_) => share(now - window.measured_from, window.end - window.measured_from),
                Length::Messages(all) => share(counters.sent.load(Ordering::Relaxed), all),
            };
            let seconds = Duration::from_nanos(now.saturating_sub(from.nanos)).as_secs_f64().max(1e-9);
            #[expect(clippy::cast_precision_loss, reason = "counts beyond 2^53 do not occur")]
            let rate = (received - from.received) as f64 / seconds;
            self.progress.show(done, &format!("{} messages/s", crate::text::grouped(rate)));
            let over = match self.plan.length {
                Length::Time(_) => now >= window.end,
                Length::Messages(all) => counters.sent.load(Ordering::Relaxed) >= all && self.is_drained(),
            };
            if over || (done >= 1.0 && self.is_quiet()) {
                return Ok((from, self.last_moment()));
            }
        }
    }

    /// The end of what is measured: of a run of so many messages it was when the last one came.
    fn last_moment(&self) -> Moment {
        let moment = self.moment();
        match self.plan.length {
            Length::Time(_) => moment,
            Length::Messages(_) => {
                Moment { nanos: self.shared.counters.last_received.load(Ordering::Relaxed), ..moment }
            }
        }
    }

    /// Waits until all that was sent has come to its end, or nothing more comes.
    fn drain(&mut self) -> Result<(), BenchError> {
        let deadline = self.shared.now() + self.plan.drain;
        while !self.is_drained() && !self.is_quiet() && self.shared.now() < deadline {
            self.progress.show(1.0, "waiting for what is on its way");
            std::thread::sleep(LOOK);
            self.check()?;
            self.look();
        }
        Ok(())
    }

    fn is_drained(&self) -> bool {
        let counters = &self.shared.counters;
        let sent = counters.sent.load(Ordering::Relaxed);
        let copies = if self.plan.fan_out { self.plan.receivers.div_ceil(self.plan.addresses) as u64 } else { 1 };
        let (answered, taken) = match self.plan.settle {
            // A queue accepts what nobody has received yet.
            Settle::Unsettled => {
                (counters.settled.load(Ordering::Relaxed) >= sent, counters.accepted.load(Ordering::Relaxed))
            }
            Settle::Presettled => (true, sent),
        };
        counters.waiting.load(Ordering::Relaxed) == 0
            && answered
            && counters.received.load(Ordering::Relaxed) >= taken.saturating_mul(copies)
    }

    fn is_quiet(&self) -> bool {
        let last = self.shared.counters.last_received.load(Ordering::Relaxed);
        last > 0 && self.shared.nanos().saturating_sub(last) > nanos(QUIET.max(self.plan.drain / 4))
    }

    fn wait(&mut self, what: &str, patience: Duration, done: impl Fn(&Shared) -> bool) -> Result<(), BenchError> {
        let deadline = self.shared.now() + if patience.is_zero() { Duration::from_secs(3600) } else { patience };
        while !done(&self.shared) {
            self.progress.show(0.0, what);
            self.check()?;
            if self.shared.now() > deadline {
                return Err(BenchError::Given(format!(
                    "{what} took longer than {patience:?}; `--timeout` allows it more time"
                )));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    fn check(&mut self) -> Result<(), BenchError> {
        match self.shared.failure() {
            Some(error) => {
                self.progress.clear();
                Err(BenchError::Given(error))
            }
            None => Ok(()),
        }
    }

    fn look(&mut self) {
        self.most_memory = self.most_memory.max(self.memory());
    }

    fn memory(&self) -> u64 {
        self.server.as_ref().and_then(ServerProcess::memory).unwrap_or(0)
    }

    fn moment(&self) -> Moment {
        Moment {
            nanos: self.shared.nanos(),
            received: self.shared.counters.received.load(Ordering::Relaxed),
            server: self.server.as_ref().and_then(ServerProcess::cpu).unwrap_or_default(),
            own: own_cpu(),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts beyond 2^53 do not occur")]
    fn report(
        &self,
        from: Moment,
        to: Moment,
        memory: [u64; 3],
        sent: &[Found<SenderParty>],
        received: &[Found<ReceiverParty>],
    ) -> TrafficReport {
        let seconds = Duration::from_nanos(to.nanos.saturating_sub(from.nanos)).as_secs_f64().max(1e-9);
        let messages = to.received - from.received;
        let per_second = messages as f64 / seconds;
        let (mut latency, mut late, mut answers) = (Histogram::default(), Histogram::default(), Histogram::default());
        received.iter().for_each(|(common, _)| latency.merge(&common.latency));
        sent.iter().for_each(|(common, _)| late.merge(&common.late));
        sent.iter().for_each(|(common, _)| answers.merge(&common.answers));
        let used = to.server.since(from.server);
        TrafficReport {
            plan: PlanReport::from(&*self.plan),
            seconds,
            messages,
            messages_per_second: per_second,
            megabytes_per_second: per_second * self.plan.size as f64 / 1e6,
            latency: LatencyReport::from(&latency),
            lateness: self.plan.rate.map(|_| LatencyReport::from(&late)),
            outcome: (self.plan.settle == Settle::Unsettled).then(|| LatencyReport::from(&answers)),
            check: self.checked(sent, received),
            server: self.server.as_ref().map(|_| ServerReport::new(&self.plan.pids, used, messages, seconds, memory)),
            own_cpu_per_message: to.own.saturating_sub(from.own).as_secs_f64() * 1e6 / messages.max(1) as f64,
        }
    }

    fn checked(&self, sent: &[Found<SenderParty>], received: &[Found<ReceiverParty>]) -> CheckReport {
        let mut check = CheckReport::default();
        let mut expected = vec![0; self.plan.senders];
        for (common, parties) in sent {
            let outcomes = common.outcomes;
            check.outcomes.accepted += outcomes.accepted;
            check.outcomes.rejected += outcomes.rejected;
            check.outcomes.released += outcomes.released;
            check.outcomes.modified += outcomes.modified;
            check.outcomes.other += outcomes.other;
            for (sender, sent, accepted) in parties.iter().flat_map(SenderParty::tally) {
                check.sent += sent;
                expected[sender] = if self.plan.settle == Settle::Presettled { sent } else { accepted };
            }
        }
        if self.plan.settle == Settle::Unsettled {
            let Outcomes { accepted, rejected, released, modified, other } = check.outcomes;
            check.unsettled = check.sent.saturating_sub(accepted + rejected + released + modified + other);
        }
        for (common, _) in received {
            check.disordered += common.faults.disordered;
            check.damaged += common.faults.damaged;
            check.foreign += common.faults.foreign;
            check.aborted += common.faults.aborted;
        }
        let mut count = |sender: usize, seen: &Seen| {
            check.received += seen.count();
            check.doubled += seen.doubled();
            check.lost += expected[sender].saturating_sub(seen.count());
        };
        if self.plan.fan_out {
            let parties = received.iter().flat_map(|(_, parties)| parties);
            parties.flat_map(ReceiverParty::fanned_out).for_each(|(sender, seen)| count(sender, seen));
        } else {
            for sender in 0..self.plan.senders {
                let mut all = Seen::default();
                received.iter().for_each(|(common, _)| all.merge(&common.seen[sender]));
                count(sender, &all);
            }
        }
        check
    }
}

#[expect(clippy::cast_precision_loss, reason = "for a progress bar")]
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// Tells the messages of this run from those of others.
fn run_mark() -> u32 {
    u32::from_str_radix(&super::random_id()[..8], 16).unwrap_or(1)
}

/// Processor time that this program has used.
fn own_cpu() -> Duration {
    use nix::sys::resource::{UsageWho, getrusage};
    let time = |value: nix::sys::time::TimeVal| {
        let seconds = u64::try_from(value.tv_sec()).unwrap_or(0);
        let micros = u64::try_from(value.tv_usec()).unwrap_or(0);
        Duration::from_secs(seconds) + Duration::from_micros(micros)
    };
    getrusage(UsageWho::RUSAGE_SELF)
        .map(|usage| time(usage.user_time()) + time(usage.system_time()))
        .unwrap_or_default()
}
