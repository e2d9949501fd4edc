//! OpenTelemetry: what a collector hears of metrics and of traced messages.

#[path = "support/ports.rs"]
mod ports;
mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;
use support::{Router, WAYSTATION, run, start};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// A collector that writes down what it hears.
struct Collector {
    endpoint: String,
    heard: Receiver<(String, Value)>,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let endpoint = format!("http://{}/base", listener.local_addr().expect("it is bound"));
        let (tell, heard) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut reader = BufReader::new(stream);
                let mut lines = (&mut reader).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
                let path = lines.next().unwrap_or_default().split(' ').nth(1).unwrap_or_default().to_owned();
                let headers: Vec<String> = lines.map(|line| line.to_ascii_lowercase()).collect();
                let of = |name: &str| headers.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
                assert_eq!((of("content-type"), of("x-key")), (Some("application/json"), Some("secret")));
                let mut body = vec![0; of("content-length").and_then(|text| text.parse().ok()).expect("a length")];
                reader.read_exact(&mut body).expect("the body comes");
                let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
                reader.into_inner().write_all(answer).expect("the answer is taken");
                if tell.send((path, serde_json::from_slice(&body).expect("JSON"))).is_err() {
                    return;
                }
            }
        });
        Self { endpoint, heard }
    }

    /// Waits for a request of this kind that has what is looked for.
    fn wait_for<T>(&self, path: &str, look: impl Fn(&Value) -> Option<T>) -> T {
        loop {
            let (to, body) = self.heard.recv_timeout(Duration::from_secs(120)).expect("the collector hears of it");
            if to == format!("/base{path}")
                && let Some(found) = look(&body)
            {
                return found;
            }
        }
    }

    fn router(&self, name: &str, config: &str) -> Router {
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", self.endpoint.as_str()),
            ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=secret"),
            ("OTEL_METRIC_EXPORT_INTERVAL", "200"),
            ("OTEL_RESOURCE_ATTRIBUTES", "site=here"),
        ];
        Router::launch(name, config, &variables)
    }
}

fn standalone() -> String {
    config("standalone", "R", "")
}

fn config(mode: &str, id: &str, sections: &str) -> String {
    format!(
        "router {{\n mode: {mode}\n id: {id}\n workerThreads: 2\n}}\n\
         listener {{\n host: 127.0.0.1\n port: 0\n name: front\n saslMechanisms: ANONYMOUS\n authenticatePeer: no\n}}\n\
         log {{\n module: DEFAULT\n enable: notice+\n}}\n{sections}"
    )
}

/// The value of an attribute.
fn attribute<'v>(of: &'v Value, name: &str) -> Option<&'v str> {
    let found = of["attributes"].as_array()?.iter().find(|pair| pair["key"] == name)?;
    found["value"]["stringValue"].as_str().or(found["value"]["intValue"].as_str())
}

/// The spans of a request, with the name of the router that tells of them.
fn spans(request: &Value) -> Vec<(String, Value)> {
    let resource = &request["resourceSpans"][0];
    let service = attribute(&resource["resource"], "service.name").unwrap_or_default();
    let spans = resource["scopeSpans"][0]["spans"].as_array().cloned().unwrap_or_default();
    spans.into_iter().map(|span| (service.to_owned(), span)).collect()
}

/// Sends messages, one with each trace context, through a router; what arrives.
fn pass(from: &Router, to: &Router, contexts: &[String]) -> String {
    let receiver =
        start(WAYSTATION, &format!("receive --url {} news --count {} --format json", to.bus, contexts.len()), "");
    for context in contexts {
        let sent = run(WAYSTATION, &format!("send --url {} news hello -p traceparent={context} -t 60", from.bus));
        assert_eq!(sent.status, 0, "{}", sent.err);
    }
    receiver.finish().out
}

#[test]
fn metrics_are_sent_from_time_to_time() {
    let collector = Collector::start();
    let router = collector.router("otel-metrics", &standalone());
    run(WAYSTATION, &format!("stat --url {}", router.bus));
    let (service, site) = collector.wait_for("/v1/metrics", |request| {
        let resource = &request["resourceMetrics"][0];
        let metrics = resource["scopeMetrics"][0]["metrics"].as_array()?;
        let accepted = metrics.iter().find(|metric| metric["name"] == "waystation_connections_accepted_total")?;
        let point = &accepted["sum"]["dataPoints"][0];
        let described = |name: &str| Some(attribute(&resource["resource"], name)?.to_owned());
        // The connection of `stat`, sooner or later.
        (point["asDouble"].as_f64()? >= 1.0).then_some(())?;
        described("service.name").zip(described("site"))
    });
    assert_eq!((service.as_str(), site.as_str()), ("R", "here"));
}

#[test]
fn a_traced_message_has_a_span_at_each_hop_and_keeps_its_context() {
    let collector = Collector::start();
    let port = ports::free_port();
    let interior = format!(
        "listener {{\n host: 127.0.0.1\n port: {port}\n role: edge\n saslMechanisms: ANONYMOUS\n authenticatePeer: no\n}}\n"
    );
    let hub = collector.router("otel-hub", &config("interior", "hub", &interior));
    let connector = format!("connector {{\n host: 127.0.0.1\n port: {port}\n role: edge\n name: up\n}}\n");
    let edge = collector.router("otel-edge", &config("edge", "edge", &connector));

    let context = format!("00-{TRACE}-{PARENT}-01");
    let received = pass(&edge, &hub, std::slice::from_ref(&context));

    assert!(received.contains(&format!("\"traceparent\": \"{context}\"")), "{received}");
    let mut told = Vec::new();
    while told.len() < 2 {
        told.extend(collector.wait_for("/v1/traces", |request| Some(spans(request))));
    }
    told.sort_by(|one, other| one.0.cmp(&other.0));
    let services: Vec<&str> = told.iter().map(|(service, _)| service.as_str()).collect();
    assert_eq!(services, ["edge", "hub"]);
    for (_, span) in &told {
        assert_eq!((&span["traceId"], &span["parentSpanId"]), (&TRACE.into(), &PARENT.into()));
        assert_eq!(attribute(span, "messaging.destination.name"), Some("news"), "{span}");
        assert_eq!(attribute(span, "waystation.sent"), Some("1"));
        let time = |name: &str| span[name].as_str().and_then(|text| text.parse::<u64>().ok()).expect("a time");
        assert!(time("startTimeUnixNano") <= time("endTimeUnixNano"));
    }
    assert_ne!(told[0].1["spanId"], told[1].1["spanId"]);
}

#[test]
fn a_message_whose_trace_is_not_sampled_has_no_span() {
    let collector = Collector::start();
    let router = collector.router("otel-unsampled", &standalone());
    let other = "11111111111111112222222222222222";
    let contexts = [format!("00-{other}-{PARENT}-00"), "nonsense".to_owned(), format!("00-{TRACE}-{PARENT}-01")];
    pass(&router, &router, &contexts);
    let told = collector.wait_for("/v1/traces", |request| Some(spans(request)));
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].1["traceId"], TRACE);
}

#[test]
fn what_is_under_way_is_told_of_when_the_router_stops() {
    let collector = Collector::start();
    let router = collector.router("otel-stop", &standalone());
    pass(&router, &router, &[format!("00-{TRACE}-{PARENT}-01")]);
    router.terminate();
    assert_eq!(collector.wait_for("/v1/traces", |request| Some(spans(request))).len(), 1);
}

#[test]
fn a_collector_that_is_not_there_is_in_nobodys_way() {
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"), ("OTEL_METRIC_EXPORT_INTERVAL", "100")];
    let router = Router::launch("otel-nobody", &standalone(), &variables);
    let received = pass(&router, &router, &[format!("00-{TRACE}-{PARENT}-01")]);
    assert!(received.contains("hello"), "{received}");
    let complaints = || run(WAYSTATION, &format!("stat log --url {}", router.bus)).out.matches("takes nothing").count();
    while complaints() == 0 {}
    pass(&router, &router, &[format!("00-{TRACE}-{PARENT}-01")]);
    assert_eq!(complaints(), 1, "it is complained of once");
}
