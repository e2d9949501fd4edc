//! OTLP in JSON (opentelemetry-proto 1.x): requests for metrics and for traces. Numbers of 64 bits are texts there.

use serde_json::{Value, json};

use super::settings::Settings;
use super::spans::Span;
use crate::http::metrics::exposition::{Family, Kind, Sample};

/// Sums count from the start of the process.
const CUMULATIVE: u8 = 2;
/// Nobody asked this router for the message, nor does it take it: it is on its way.
const INTERNAL: u8 = 1;

/// A text by its name.
fn text(name: &str, value: &str) -> Value {
    json!({ "key": name, "value": { "stringValue": value } })
}

/// A number by its name.
fn number(name: &str, value: u64) -> Value {
    json!({ "key": name, "value": { "intValue": value.to_string() } })
}

/// Who tells all this.
pub(super) fn resource(settings: &Settings, router: &str) -> Value {
    let mut attributes = vec![
        text("service.name", settings.service.as_deref().unwrap_or(router)),
        text("service.instance.id", router),
        text("service.version", env!("CARGO_PKG_VERSION")),
    ];
    attributes.extend(settings.attributes.iter().map(|(name, value)| text(name, value)));
    json!({ "attributes": attributes })
}

fn scope() -> Value {
    json!({ "name": "waystation", "version": env!("CARGO_PKG_VERSION") })
}

/// A request with these metrics; `start` and `now` in nanoseconds since 1970.
pub(super) fn metrics(resource: &Value, families: &[Family], start: u64, now: u64) -> Value {
    let metrics: Vec<Value> = families.iter().map(|family| metric(family, start, now)).collect();
    let scoped = json!([{ "scope": scope(), "metrics": metrics }]);
    json!({ "resourceMetrics": [{ "resource": resource, "scopeMetrics": scoped }] })
}

fn metric(family: &Family, start: u64, now: u64) -> Value {
    let times = |mut point: Value| {
        point["startTimeUnixNano"] = start.to_string().into();
        point["timeUnixNano"] = now.to_string().into();
        point
    };
    let points = || -> Vec<Value> {
        let points = family.samples.iter().map(|sample| {
            let value: f64 = sample.value.parse().unwrap_or_default();
            times(json!({ "attributes": attributes(sample), "asDouble": value }))
        });
        points.collect()
    };
    let (kind, data) = match family.kind {
        Kind::Gauge => ("gauge", json!({ "dataPoints": points() })),
        Kind::Counter => {
            ("sum", json!({ "dataPoints": points(), "isMonotonic": true, "aggregationTemporality": CUMULATIVE }))
        }
        Kind::Histogram => {
            let point = times(histogram(&family.samples));
            ("histogram", json!({ "dataPoints": [point], "aggregationTemporality": CUMULATIVE }))
        }
    };
    json!({ "name": family.name, "description": family.help, "unit": unit(&family.name), kind: data })
}

/// By Prometheus's rules the name says it.
fn unit(name: &str) -> &'static str {
    let name = name.trim_end_matches("_total");
    [("_seconds", "s"), ("_bytes", "By")].iter().find(|(end, _)| name.ends_with(end)).map_or("1", |(_, unit)| unit)
}

fn attributes(sample: &Sample) -> Vec<Value> {
    sample.labels.iter().map(|(name, value)| text(name, value)).collect()
}

/// A histogram without labels: here each bucket counts its own values, there all up to its bound.
fn histogram(samples: &[Sample]) -> Value {
    let (mut bounds, mut counts, mut below) = (Vec::new(), Vec::new(), 0);
    let (mut sum, mut count) = (0.0, String::new());
    for Sample { suffix, labels, value } in samples {
        match *suffix {
            "_bucket" => {
                let upto: u64 = value.parse().unwrap_or_default();
                counts.push(upto.saturating_sub(below).to_string());
                below = upto;
                // The last has no bound.
                bounds
                    .extend(labels.iter().filter_map(|(_, bound)| bound.parse::<f64>().ok()).filter(|b| b.is_finite()));
            }
            "_sum" => sum = value.parse().unwrap_or_default(),
            _ => count.clone_from(value),
        }
    }
    json!({ "count": count, "sum": sum, "bucketCounts": counts, "explicitBounds": bounds })
}

/// A request with these spans, each with an id of its own.
pub(super) fn traces(resource: &Value, spans: &[Span], mut id: impl FnMut() -> u64) -> Value {
    let spans: Vec<Value> = spans.iter().map(|of| span(of, id())).collect();
    let scoped = json!([{ "scope": scope(), "spans": spans }]);
    json!({ "resourceSpans": [{ "resource": resource, "scopeSpans": scoped }] })
}

fn span(span: &Span, id: u64) -> Value {
    let mut attributes = vec![
        text("messaging.system", "amqp"),
        text("messaging.operation.name", "route"),
        text("messaging.destination.name", &span.address),
        number("messaging.message.body.size", span.size as u64),
        number("waystation.connection.id", span.connection),
        number("waystation.sent", span.sent.into()),
    ];
    if span.came > 1 {
        attributes.push(number("messaging.batch.message_count", span.came.into()));
    }
    json!({
        "traceId": format!("{:032x}", span.context.trace),
        "spanId": format!("{id:016x}"),
        "parentSpanId": format!("{:016x}", span.context.parent),
        "name": format!("route {}", span.address),
        "kind": INTERNAL,
        "startTimeUnixNano": span.start.to_string(),
        "endTimeUnixNano": span.end.to_string(),
        "attributes": attributes,
        "status": {},
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::metrics::exposition::Exposition;

    #[test]
    fn a_counter_is_a_sum_that_only_grows() {
        let mut families = Exposition::default();
        families.family("d_total", Kind::Counter, "D.").sample(&[("outcome", "accepted")], 3);
        let told = metrics(&json!({}), families.families(), 1, 2);
        let metric = &told["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0];
        assert_eq!((&metric["name"], &metric["sum"]["isMonotonic"]), (&json!("d_total"), &json!(true)));
        let point = &metric["sum"]["dataPoints"][0];
        assert_eq!((&point["asDouble"], &point["timeUnixNano"]), (&json!(3.0), &json!("2")));
        assert_eq!(point["attributes"], json!([{ "key": "outcome", "value": { "stringValue": "accepted" } }]));
    }

    #[test]
    fn each_bucket_of_a_histogram_counts_its_own() {
        let mut families = Exposition::default();
        let family = families.family("t_seconds", Kind::Histogram, "T.");
        for (bound, count) in [("0.1", 2), ("1", 5), ("+Inf", 6)] {
            family.sample_of("_bucket", &[("le", bound)], count);
        }
        family.sample_of("_sum", &[], 7.5);
        family.sample_of("_count", &[], 6);
        let told = metrics(&json!({}), families.families(), 1, 2);
        let metric = &told["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0];
        let point = &metric["histogram"]["dataPoints"][0];
        assert_eq!(metric["unit"], "s");
        assert_eq!(point["bucketCounts"], json!(["2", "3", "1"]));
        assert_eq!(point["explicitBounds"], json!([0.1, 1.0]));
        assert_eq!((&point["sum"], &point["count"]), (&json!(7.5), &json!("6")));
    }
}
