//! What does a message cost? The forwarding path of a router in memory, without sockets or threads: endpoints and
//! routing core as a shard drives them. `cargo xtask callgrind` counts the instructions inside [`router::Router::counted`].
//! Scenarios whose names begin with `served` have the server's own shard, over sockets and with its store: there the
//! instructions inside the shard's turn are counted.
//!
//! It deliberately leaves out what the operating system does, and what the log's own threads do: a change of those shows in
//! `waystation bench`.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "it tells the task that calls it which scenarios there are")]

mod client;
mod host;
mod router;
mod scenario;
mod serve;
mod served;

/// As in the programs that are measured with it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

use scenario::SCENARIOS;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["list"] = arguments[..] {
        SCENARIOS.iter().for_each(|scenario| println!("{}", scenario.name));
        return ExitCode::SUCCESS;
    }
    let [name, messages] = arguments[..] else { return usage() };
    let scenario = SCENARIOS.iter().find(|scenario| scenario.name == name);
    let (Some(scenario), Ok(messages)) = (scenario, messages.parse()) else { return usage() };
    scenario.run(messages);
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    println!("usage: perf list | perf SCENARIO MESSAGES");
    ExitCode::from(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_delivers_all_its_messages() {
        // Each run asserts at its end that as many messages arrived as were sent.
        for scenario in SCENARIOS {
            scenario.run(3_000);
        }
    }
}
