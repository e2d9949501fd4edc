//! `/healthz`: whether the router lives and serves.
//!
//! `/healthz` and `/healthz/live` say 200 as long as the router does its work; who watches over it starts it again when
//! they do not. `/healthz` also wants the listeners of the configuration to listen. `/healthz/ready` wants connections to
//! the network, too: a router that has lost its neighbours is to get no traffic, and starting it again would not help.

use std::time::Duration;

use hyper::StatusCode;

use super::Context;
use super::reply::{Reply, text};

/// How long the router may take to answer before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(3);

/// Answers.
pub(super) async fn answer(context: &Context, path: &str) -> Reply {
    let shards = context.shards.clone();
    let core = tokio::task::spawn_blocking(move || shards.answers_within(PATIENCE));
    let (report, core) = tokio::join!(context.questions.ask(PATIENCE), core);
    let mut wrong = Vec::new();
    if !core.unwrap_or(false) {
        wrong.push("the routing core is stuck: the router has to be started again".to_owned());
    }
    match report {
        None => wrong.push("the control plane is stuck: the router has to be started again".to_owned()),
        Some(_) if path == "/healthz/live" => {}
        Some(report) => {
            wrong.extend(report.not_listening());
            if path == "/healthz/ready" {
                wrong.extend(report.not_connected());
            }
        }
    }
    if wrong.is_empty() {
        return text(StatusCode::OK, "OK\n");
    }
    text(StatusCode::SERVICE_UNAVAILABLE, wrong.join("\n") + "\n")
}
