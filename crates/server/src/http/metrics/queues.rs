//! Metrics of queues, and of the log under them.

use queue_log::{SYNC_BOUNDS, Stats};

use super::details::MOST;
use super::exposition::{Exposition, Kind};
use crate::shard::Shards;
use crate::store::{QueueView, Report, report};

/// Name without `waystation_queue_`, kind, what it is, and where it comes from.
type Metric = (&'static str, Kind, &'static str, fn(&QueueView) -> u64);

const METRICS: [Metric; 14] = [
    ("messages", Kind::Gauge, "Messages in the queue.", |queue| queue.messages),
    ("bytes", Kind::Gauge, "Bytes of these messages.", |queue| queue.bytes),
    ("acquired_messages", Kind::Gauge, "Those of them that consumers have and have not settled.", |queue| {
        queue.acquired
    }),
    ("delayed_messages", Kind::Gauge, "Those of them that wait for their time.", |queue| queue.delayed),
    ("consumers", Kind::Gauge, "Links that receive from the queue, browsers included.", |queue| queue.consumers),
    ("producers", Kind::Gauge, "Links that send to the queue.", |queue| queue.producers),
    ("full", Kind::Gauge, "1 if the queue has reached one of its limits and has had little room since.", |queue| {
        u64::from(queue.full)
    }),
    ("enqueued_total", Kind::Counter, "Messages that have come.", |queue| queue.enqueued),
    ("dequeued_total", Kind::Counter, "Messages that consumers have acknowledged.", |queue| queue.dequeued),
    ("delivered_total", Kind::Counter, "Deliveries to consumers, browsers not counted.", |queue| queue.delivered),
    ("redelivered_total", Kind::Counter, "Deliveries that were not the first of their message.", |queue| {
        queue.redelivered
    }),
    ("dead_lettered_total", Kind::Counter, "Messages that went to the dead-letter address.", |queue| {
        queue.dead_lettered
    }),
    ("expired_total", Kind::Counter, "Messages whose time was up.", |queue| queue.expired),
    (
        "dropped_total",
        Kind::Counter,
        "Messages that were refused or dropped for want of room, or as dead letters without an address.",
        |queue| queue.dropped,
    ),
];

/// Writes them, those of single queues with `detail`.
pub(super) fn write(shards: &Shards, detail: bool, text: &mut Exposition) {
    let Some(Report { queues, log, takes_messages, cached }) = report(shards, if detail { MOST } else { 0 }) else {
        return;
    };
    if !queues.is_empty() {
        write_queues(&queues, text);
    }
    let up = "Whether the store takes messages: its disk is neither full nor broken.";
    text.single("waystation_store_up", Kind::Gauge, up, u8::from(takes_messages));
    text.single("waystation_store_cached_bytes", Kind::Gauge, "Bytes of queued messages that are in memory.", cached);
    if let Some(log) = log {
        write_log(&log, text);
    }
}

fn write_queues(queues: &[QueueView], text: &mut Exposition) {
    for (name, kind, help, value) in METRICS {
        let family = text.family(&format!("waystation_queue_{name}"), kind, help);
        queues.iter().for_each(|queue| family.sample(&[("queue", &*queue.settings.address)], value(queue)));
    }
    let oldest = text.family(
        "waystation_queue_oldest_message_seconds",
        Kind::Gauge,
        "How long the first message has been in the queue; 0 if there is none.",
    );
    for queue in queues {
        let age = queue.oldest.unwrap_or_default().as_secs_f64();
        oldest.sample(&[("queue", &*queue.settings.address)], age);
    }
}

fn write_log(log: &Stats, text: &mut Exposition) {
    let entries = "Entries that were written to the log: one for all that a worker thread did at a time.";
    text.single("waystation_store_log_entries_total", Kind::Counter, entries, log.entries);
    text.single("waystation_store_log_bytes_total", Kind::Counter, "Bytes that were written to the log.", log.bytes);
    text.single("waystation_store_disk_bytes", Kind::Gauge, "Bytes of the files of the log.", log.disk_bytes);
    let live = "Bytes of messages in the log that some queue still has.";
    text.single("waystation_store_live_bytes", Kind::Gauge, live, log.live_bytes);
    let queued = "Bytes that are on their way to the disk.";
    text.single("waystation_store_queued_bytes", Kind::Gauge, queued, log.queued_bytes);
    let name = "waystation_store_sync_seconds";
    let family = text.family(name, Kind::Histogram, "How long the disk took to confirm what was written.");
    let mut sum = 0;
    let bounds = SYNC_BOUNDS.iter().map(|micros| (*micros as f64 / 1e6).to_string()).chain(["+Inf".to_owned()]);
    for (bound, count) in bounds.zip(log.sync_classes) {
        sum += count;
        family.sample_of("_bucket", &[("le", &bound)], sum);
    }
    family.sample_of("_sum", &[], log.sync_micros as f64 / 1e6);
    family.sample_of("_count", &[], log.syncs);
}
