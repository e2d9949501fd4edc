//! What the environment says, in OpenTelemetry's own variables.

use std::time::Duration;

/// How often metrics are sent unless it is set.
const INTERVAL: Duration = Duration::from_secs(60);
/// Where a collector on this machine listens.
const PORT: u16 = 4318;

/// Where to send what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The collector's host, to be looked up.
    pub(super) host: String,
    pub(super) port: u16,
    /// What paths begin with, without a slash at its end.
    pub(super) prefix: String,
    pub(super) headers: Vec<(String, String)>,
    /// What `service.name` is; without it, the router's id.
    pub(super) service: Option<String>,
    pub(super) attributes: Vec<(String, String)>,
    /// Metrics are sent this often.
    pub(super) metrics: Option<Duration>,
    pub(crate) traces: bool,
}

impl Settings {
    /// From variables; `None`: nothing is to be sent.
    ///
    /// # Errors
    /// Which variable cannot be used, and what it should be.
    pub(crate) fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, String> {
        let set = |name: &str| variable(name).filter(|text| !text.is_empty());
        let Some(endpoint) = set("OTEL_EXPORTER_OTLP_ENDPOINT") else { return Ok(None) };
        if set("OTEL_SDK_DISABLED").is_some_and(|text| text.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let (host, port, prefix) = split(&endpoint)?;
        if let Some(other) = set("OTEL_EXPORTER_OTLP_PROTOCOL").filter(|text| text != "http/json") {
            return Err(format!("OTEL_EXPORTER_OTLP_PROTOCOL is {other}, and only http/json is spoken"));
        }
        let wanted = |name| match set(name).as_deref() {
            None | Some("otlp") => Ok(true),
            Some("none") => Ok(false),
            Some(other) => Err(format!("{name} is {other}, and must be otlp or none")),
        };
        let interval = match set("OTEL_METRIC_EXPORT_INTERVAL").map(|text| text.parse()) {
            None => INTERVAL,
            Some(Ok(milliseconds @ 100..)) => Duration::from_millis(milliseconds),
            Some(_) => return Err("OTEL_METRIC_EXPORT_INTERVAL must be milliseconds, at least 100".to_owned()),
        };
        Ok(Some(Self {
            host,
            port,
            prefix,
            headers: pairs(set("OTEL_EXPORTER_OTLP_HEADERS")),
            service: set("OTEL_SERVICE_NAME"),
            attributes: pairs(set("OTEL_RESOURCE_ATTRIBUTES")),
            metrics: wanted("OTEL_METRICS_EXPORTER")?.then_some(interval),
            traces: wanted("OTEL_TRACES_EXPORTER")?,
        }))
    }
}

/// Host, port and path of the collector.
fn split(endpoint: &str) -> Result<(String, u16, String), String> {
    let wrong = |what: &str| format!("OTEL_EXPORTER_OTLP_ENDPOINT is '{endpoint}': {what}");
    let Some(rest) = endpoint.strip_prefix("http://") else {
        return Err(wrong("it must begin with http://; let a collector on this machine speak TLS to others"));
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => {
            (host, port.parse().map_err(|_| wrong("its port is no number from 0 to 65535"))?)
        }
        _ => (authority, PORT),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if host.is_empty() || !rest.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(wrong("it names no host"));
    }
    Ok((host.to_owned(), port, path.trim_end_matches('/').to_owned()))
}

/// `name=value,name=value`, as the specification has it.
fn pairs(text: Option<String>) -> Vec<(String, String)> {
    let text = text.unwrap_or_default();
    let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Option<Settings>, String> {
        Settings::read(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn without_an_endpoint_nothing_is_sent() {
        assert_eq!(read(&[("OTEL_SERVICE_NAME", "x")]), Ok(None));
        let disabled = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"), ("OTEL_SDK_DISABLED", "true")];
        assert_eq!(read(&disabled), Ok(None));
    }

    #[test]
    fn an_endpoint_has_a_host_a_port_and_a_path() {
        for (endpoint, expected) in [
            ("http://c", ("c", 4318, "")),
            ("http://c:80/x/", ("c", 80, "/x")),
            ("http://[::1]:4318", ("::1", 4318, "")),
            ("http://[::1]", ("::1", 4318, "")),
        ] {
            let found = read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)]).unwrap().unwrap();
            assert_eq!((found.host.as_str(), found.port, found.prefix.as_str()), expected);
        }
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        for (name, value) in [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://c"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:x"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
            ("OTEL_TRACES_EXPORTER", "zipkin"),
            ("OTEL_METRIC_EXPORT_INTERVAL", "1"),
        ] {
            let error = read(&[(name, value), ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c")]).unwrap_err();
            assert!(error.contains(name), "{error}");
        }
    }

    #[test]
    fn metrics_and_traces_can_be_left_out() {
        let chosen = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"),
            ("OTEL_METRICS_EXPORTER", "none"),
            ("OTEL_TRACES_EXPORTER", "none"),
        ];
        let found = read(&chosen).unwrap().unwrap();
        assert_eq!((found.metrics, found.traces), (None, false));
    }
}
