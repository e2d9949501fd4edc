//! The exporter's thread: looks at what there is, and sends it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use super::hops::Hops;
use super::otlp;
use super::settings::Settings;
use super::spans::Spans;
use crate::http::{Context, metrics};

/// How often spans are looked at.
const TICK: Duration = Duration::from_millis(500);
/// How long a request may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The same when the router ends.
const LAST: Duration = Duration::from_secs(2);
/// Spans in one request.
const BATCH: usize = 1000;

/// Runs until `ended` is dropped, and then sends what is left.
pub(super) async fn run(settings: &Settings, context: &Context, hops: Option<&Hops>, mut ended: oneshot::Receiver<()>) {
    let mut exporter = Exporter {
        settings,
        context,
        resource: Value::Null,
        start: nanoseconds(),
        spans: Spans::default(),
        lost: 0,
        failing: false,
    };
    logging::log!(SERVER, Notice, "OpenTelemetry goes to {}:{}{}", settings.host, settings.port, settings.prefix);
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut next = settings.metrics.map(|every| Instant::now() + every);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            // There is nothing to receive: it is dropped.
            _ = &mut ended => break,
        }
        if let Some(hops) = hops {
            exporter.spans(hops, false).await;
        }
        if let (Some(due), Some(every)) = (next, settings.metrics)
            && due <= Instant::now()
        {
            next = Some(due.max(Instant::now() - every) + every);
            exporter.metrics().await;
        }
    }
    if let Some(hops) = hops {
        let _ = timeout(LAST, exporter.spans(hops, true)).await;
    }
}

struct Exporter<'c> {
    settings: &'c Settings,
    context: &'c Context,
    resource: Value,
    /// Nanoseconds since 1970.
    start: u64,
    spans: Spans,
    /// Messages that have no span, and of which the log has not heard.
    lost: u64,
    /// The last request has failed, and the log has heard of it.
    failing: bool,
}

impl Exporter<'_> {
    /// Sends the spans that are over; `all`: those under way as well.
    async fn spans(&mut self, hops: &Hops, all: bool) {
        let noted = hops.take();
        self.lost += noted.lost + std::mem::take(&mut self.spans.lost);
        noted.hops.into_iter().for_each(|hop| self.spans.note(hop));
        let over = self.spans.over(nanoseconds(), all);
        for batch in over.chunks(BATCH) {
            let resource = self.resource();
            // Zero is no id; two that are alike are as good as impossible.
            let id = || {
                let mut bytes = [0; 8];
                let _ = getrandom::fill(&mut bytes);
                u64::from_le_bytes(bytes).max(1)
            };
            self.send("/v1/traces", &otlp::traces(&resource, batch, id)).await;
        }
        if self.lost > 0 && !over.is_empty() {
            let lost = std::mem::take(&mut self.lost);
            logging::log!(SERVER, Warning, "OpenTelemetry: {lost} messages are traced that had no room for a span");
        }
    }

    async fn metrics(&mut self) {
        let families = metrics::of_router(self.context).await;
        let resource = self.resource();
        self.send("/v1/metrics", &otlp::metrics(&resource, families.families(), self.start, nanoseconds())).await;
    }

    fn resource(&mut self) -> Value {
        if self.resource.is_null() {
            self.resource = otlp::resource(self.settings, self.context.shards.router_id());
        }
        self.resource.clone()
    }

    /// Sends a request. If that fails, what is in it is lost: the next one will have newer numbers.
    async fn send(&mut self, path: &str, body: &Value) {
        let sent = timeout(PATIENCE, post(self.settings, path, body.to_string())).await;
        let failure = match sent {
            Ok(Ok(())) => None,
            Ok(Err(reason)) => Some(reason),
            Err(_) => Some(format!("no answer within {} seconds", PATIENCE.as_secs())),
        };
        let Settings { host, port, .. } = self.settings;
        match failure {
            Some(reason) if !self.failing => {
                self.failing = true;
                logging::log!(SERVER, Warning, "OpenTelemetry: the collector at {host}:{port} takes nothing: {reason}");
            }
            None if self.failing => {
                self.failing = false;
                logging::log!(SERVER, Notice, "OpenTelemetry: the collector at {host}:{port} is back");
            }
            _ => {}
        }
    }
}

async fn post(settings: &Settings, path: &str, body: String) -> Result<(), String> {
    let words = |error: &dyn std::error::Error| error.to_string();
    let stream = TcpStream::connect((settings.host.as_str(), settings.port)).await.map_err(|error| words(&error))?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|error| words(&error))?;
    let mut request = Request::post(format!("{}{path}", settings.prefix))
        .header(HOST, format!("{}:{}", settings.host, settings.port))
        .header(CONTENT_TYPE, "application/json");
    for (name, value) in &settings.headers {
        request = request.header(name, value);
    }
    let request = request.body(Full::new(Bytes::from(body))).map_err(|error| words(&error))?;
    let answer = async move {
        let answer = sender.send_request(request).await.map_err(|error| words(&error))?;
        if answer.status().is_success() { Ok(()) } else { Err(format!("it answers {}", answer.status())) }
    };
    // The connection moves only while somebody looks at it; it ends when the sender is gone.
    tokio::select! {
        result = answer => result,
        result = connection => Err(result.err().map_or("it has hung up".to_owned(), |error| words(&error))),
    }
}

/// Nanoseconds since 1970.
fn nanoseconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
