//! `waystation bench`.

use std::io::Write;
use std::time::Duration;

use clap::Args;

use super::connect::duration;
use super::{ConnectArguments, Failure};
use crate::bench::{self, CheckReport, IdleReport, Length, Plan, Progress, Settle, TrafficReport};
use crate::client::Url;
use crate::text::{duration as time, grouped};

/// Measure any AMQP 1.0 server: throughput, latency, its processor time and memory
///
/// Without --rate, every sender sends whenever it has credit. With --rate, messages are due at fixed points in time,
/// and the time that each was under way counts from when it was due, not from when it could be sent: a server that
/// stalls cannot hide it.
///
/// Every message is numbered. What is lost, doubled, out of order or damaged is counted, and the exit status is 1 if
/// there was any of it (but messages sent settled may be lost).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  waystation bench --pid $(pidof waystation)
  waystation bench --rate 10000 --duration 30 --json
  waystation bench --senders 1000 --receivers 1000 --addresses 1000 --links-per-connection 1000
  waystation bench --connections 1000 --further-links 9 --pid $(pidof waystation)")]
pub(super) struct BenchArguments {
    /// The address; with --addresses, what addresses begin with
    #[arg(short, long, value_name = "ADDRESS", default_value = "bench")]
    address: String,

    /// How many addresses; links take turns: ADDRESS/0, ADDRESS/1, ...
    #[arg(long, value_name = "N", default_value_t = 1)]
    addresses: usize,

    /// How many links send
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    senders: usize,

    /// How many links receive
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    receivers: usize,

    /// How many links of a kind share a connection
    #[arg(long, value_name = "N", default_value_t = 1)]
    links_per_connection: usize,

    /// How many threads of this program send, and how many receive
    #[arg(long, value_name = "N", default_value_t = 1)]
    threads: usize,

    /// Bytes in the body of a message
    #[arg(long, value_name = "BYTES", default_value_t = 100)]
    size: usize,

    /// Whether messages are settled by their receivers, or sent settled
    #[arg(long, value_name = "MODE", value_enum, default_value_t = Settle::Unsettled)]
    settle: Settle,

    /// Messages say that they are durable: a queue is to keep them whatever happens
    #[arg(long)]
    durable: bool,

    /// Credit of each receiver
    #[arg(long, value_name = "N", default_value_t = 1000)]
    credit: u32,

    /// At most so many messages of a sender without outcome; as many as it has credit for, if not given
    #[arg(long, value_name = "N")]
    window: Option<usize>,

    /// Messages a second, all senders together; as fast as it goes, if not given
    #[arg(long, value_name = "N")]
    rate: Option<f64>,

    /// How many seconds to measure, after the warm-up
    #[arg(short, long, value_name = "SECONDS", default_value = "10", value_parser = duration)]
    duration: Duration,

    /// Send so many messages instead, all senders together
    #[arg(short = 'n', long, value_name = "N", conflicts_with = "duration")]
    count: Option<u64>,

    /// How many seconds at the beginning are not measured [default: 1, with --count 0]
    #[arg(long, value_name = "SECONDS", value_parser = duration)]
    warm_up: Option<Duration>,

    /// How many seconds to wait at the end for what is on its way
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = duration)]
    drain: Duration,

    /// Every receiver of an address gets every message: the address is multicast
    #[arg(long)]
    fan_out: bool,

    /// The largest frame to receive, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 65536)]
    max_frame_size: u32,

    /// The server's process on this machine: its processor time and memory are measured too. Given several times: those
    /// of all these processes together
    #[arg(long, value_name = "PID")]
    pid: Vec<u32>,

    /// Where receivers connect: another router of the network
    #[arg(long, value_name = "URL", conflicts_with = "connections")]
    receive_from: Option<String>,

    /// How many seconds to wait after the end before the server's memory is read once more
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = duration)]
    cool_down: Duration,

    /// Send nothing; make so many connections with one receiving link each, and measure the server's memory
    #[arg(long, value_name = "N", requires = "pid", conflicts_with_all = ["rate", "count", "senders", "receivers"])]
    connections: Option<usize>,

    /// With --connections: attach so many further links on each, and measure again
    #[arg(long, value_name = "N", default_value_t = 0, requires = "connections")]
    further_links: usize,

    /// Write the result as JSON
    #[arg(long)]
    json: bool,

    /// Show no progress, even on a terminal
    #[arg(short, long)]
    quiet: bool,

    #[command(flatten)]
    connect: ConnectArguments,
}

impl BenchArguments {
    fn receive_from(&self) -> Result<Option<Url>, Failure> {
        let parse = |url: &String| Url::parse(url).map_err(|text| format!("--receive-from {url}: {text}"));
        self.receive_from.as_ref().map(parse).transpose().map_err(Failure::Told)
    }

    fn plan(&self) -> Result<Plan, Failure> {
        let warm_up = Duration::from_secs(u64::from(self.count.is_none()));
        Ok(Plan {
            connect: self.connect.options()?,
            address: self.address.clone(),
            addresses: self.addresses,
            senders: self.senders,
            receivers: self.receivers,
            links_per_connection: self.links_per_connection,
            threads: self.threads,
            size: self.size,
            settle: self.settle,
            durable: self.durable,
            credit: self.credit,
            window: self.window,
            rate: self.rate,
            length: self.count.map_or(Length::Time(self.duration), Length::Messages),
            warm_up: self.warm_up.unwrap_or(warm_up),
            drain: self.drain,
            fan_out: self.fan_out,
            max_frame_size: self.max_frame_size,
            pids: self.pid.clone(),
            receive_from: self.receive_from()?,
            cool_down: self.cool_down,
        })
    }
}

pub(super) fn run(arguments: BenchArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let plan = arguments.plan()?;
    let mut progress = if arguments.quiet { Progress::silent() } else { Progress::new() };
    if let Some(connections) = arguments.connections {
        let report = bench::run_idle(plan, connections, arguments.further_links, &mut progress)?;
        return if arguments.json { write_json(&report, out) } else { Ok(write_idle(&report, out)?) };
    }
    let settle = plan.settle;
    let report = bench::run(plan, &mut progress)?;
    if arguments.json {
        write_json(&report, out)?
    } else {
        write_traffic(&report, out)?
    }
    if report.check.is_broken(settle) {
        return Err(Failure::Told(format!("the server did not keep its promise: {}", faults(&report.check, settle))));
    }
    Ok(())
}

fn write_json(report: &impl serde::Serialize, out: &mut dyn Write) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(report).map_err(|error| Failure::Told(error.to_string()))?;
    Ok(writeln!(out, "{text}")?)
}

fn write_traffic(report: &TrafficReport, out: &mut dyn Write) -> std::io::Result<()> {
    let plan = &report.plan;
    let pace = plan.rate.map_or_else(|| "as fast as it goes".to_owned(), |rate| format!("{} a second", grouped(rate)));
    let links = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    writeln!(
        out,
        "{} '{}': {}, {}, {}, messages of {} bytes, {}, credit {}, {pace}",
        plan.url,
        plan.address,
        links(plan.addresses, "address").replace("addresss", "addresses"),
        links(plan.senders, "sender"),
        links(plan.receivers, "receiver"),
        grouped(plan.size as f64),
        if plan.settle == Settle::Unsettled { "unsettled" } else { "presettled" },
        plan.credit,
    )?;
    writeln!(
        out,
        "  throughput  {} messages/s, {:.1} MB/s: {} messages in {:.1} s",
        grouped(report.messages_per_second),
        report.megabytes_per_second,
        grouped(report.messages as f64),
        report.seconds
    )?;
    let times = |times: &bench::LatencyReport| {
        format!(
            "p50 {}  p90 {}  p99 {}  p99.9 {}  max {}",
            time(times.p50),
            time(times.p90),
            time(times.p99),
            time(times.p99_9),
            time(times.max)
        )
    };
    writeln!(out, "  latency     {}", times(&report.latency))?;
    if let Some(lateness) = &report.lateness {
        writeln!(out, "  sent late   {}", times(lateness))?;
    }
    if let Some(outcome) = &report.outcome {
        writeln!(out, "  outcome     {}", times(outcome))?;
    }
    if let Some(server) = &report.server {
        writeln!(
            out,
            "  server      {:.2} us of processor time a message (program {:.2}, system {:.2}), {:.2} processors",
            server.cpu_per_message, server.user_per_message, server.system_per_message, server.cores
        )?;
        let memory = [server.memory_before, server.memory_most, server.memory_after].map(mebibytes);
        writeln!(out, "  its memory  {} before, {} at most, {} after", memory[0], memory[1], memory[2])?;
    }
    writeln!(out, "  this side   {:.2} us of processor time a message", report.own_cpu_per_message)?;
    writeln!(out, "  checked     {}", faults(&report.check, plan.settle))
}

/// What the check found, as a sentence.
fn faults(check: &CheckReport, settle: Settle) -> String {
    let outcomes = &check.outcomes;
    let found = [
        (check.lost, if settle == Settle::Presettled { "lost (sent settled: that is allowed)" } else { "lost" }),
        (check.unsettled, "without outcome at the end"),
        (check.doubled, "doubled"),
        (check.disordered, "out of order"),
        (check.damaged, "damaged"),
        (outcomes.rejected, "rejected"),
        (outcomes.released, "released"),
        (outcomes.modified, "modified"),
        (outcomes.other, "with another outcome"),
        (check.aborted, "aborted"),
        (check.foreign, "not of this run"),
    ];
    let found: Vec<String> = found
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", grouped(*count as f64)))
        .collect();
    let sent = grouped(check.sent as f64);
    if found.is_empty() {
        return format!("{sent} sent; nothing lost, doubled or out of order");
    }
    format!("{sent} sent; {}", found.join(", "))
}

fn write_idle(report: &IdleReport, out: &mut dyn Write) -> std::io::Result<()> {
    let kibibytes = |bytes: f64| format!("{:.1} KiB", bytes / 1024.0);
    writeln!(
        out,
        "{} connections with one link each, in {:.2} s: {} each",
        report.connections,
        report.seconds,
        kibibytes(report.bytes_per_connection)
    )?;
    if report.further_links > 0 {
        let links = report.connections * report.further_links;
        writeln!(out, "{links} further links: {} each", kibibytes(report.bytes_per_link))?;
    }
    writeln!(
        out,
        "the server's memory: {} before, {} with the connections, {} with the further links, {} after",
        mebibytes(report.memory_before),
        mebibytes(report.memory_connected),
        mebibytes(report.memory_linked),
        mebibytes(report.memory_after)
    )
}

#[expect(clippy::cast_precision_loss, reason = "one digit after the point is shown")]
fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / 1_048_576.0)
}
