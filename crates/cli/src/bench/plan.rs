//! What a run is to do, and how links are spread over addresses, connections and threads.

use std::time::Duration;

use crate::client::{ConnectOptions, Url};

use super::stamp;

/// What becomes of the sent messages' settlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Settle {
    /// Each message is settled when its receiver has accepted it.
    Unsettled,
    /// Messages are sent settled: fire and forget.
    Presettled,
}

/// How long messages are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// For this long, after the warm-up.
    Time(Duration),
    /// This many messages, all senders together, those of the warm-up among them.
    Messages(u64),
}

/// What a run is to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Where to connect to.
    pub connect: ConnectOptions,
    /// The address, or what the addresses begin with if there are several.
    pub address: String,
    /// How many addresses.
    pub addresses: usize,
    /// How many sending links.
    pub senders: usize,
    /// How many receiving links.
    pub receivers: usize,
    /// How many links share a connection.
    pub links_per_connection: usize,
    /// How many threads send, and how many receive.
    pub threads: usize,
    /// Bytes of a message's body.
    pub size: usize,
    /// Settlement.
    pub settle: Settle,
    /// Messages say that they are durable: a queue is to keep them whatever happens.
    pub durable: bool,
    /// Credit of each receiver.
    pub credit: u32,
    /// At most so many messages of a sender may be without outcome; `None`: as many as it has credit for.
    pub window: Option<usize>,
    /// Messages a second, all senders together; `None`: as fast as it goes.
    pub rate: Option<f64>,
    /// How long.
    pub length: Length,
    /// What is sent during this time at the beginning is not measured.
    pub warm_up: Duration,
    /// How long to wait at the end for what is on its way.
    pub drain: Duration,
    /// Every receiver of an address gets every message (multicast).
    pub fan_out: bool,
    /// Bytes; the largest frame to receive.
    pub max_frame_size: u32,
    /// The server's processes, to read their use of the processor and memory.
    pub pids: Vec<u32>,
    /// Where receivers connect, if not where senders do.
    pub receive_from: Option<Url>,
    /// How long to wait after the last connection closed before the server's memory is read once more.
    pub cool_down: Duration,
}

impl Plan {
    /// Says what makes no sense.
    ///
    /// # Errors
    /// A sentence that names the option.
    pub fn check(&self) -> Result<(), String> {
        let counts = [
            ("--senders", self.senders),
            ("--receivers", self.receivers),
            ("--addresses", self.addresses),
            ("--links-per-connection", self.links_per_connection),
            ("--threads", self.threads),
        ];
        if let Some((option, _)) = counts.iter().find(|(_, count)| *count == 0) {
            return Err(format!("{option} must be at least 1"));
        }
        if self.addresses > self.senders || self.addresses > self.receivers {
            let (addresses, senders, receivers) = (self.addresses, self.senders, self.receivers);
            return Err(format!(
                "--addresses {addresses}: every address needs a sender and a receiver, and there are {senders} senders and {receivers} receivers; lower it, or raise --senders and --receivers"
            ));
        }
        if self.size < stamp::LENGTH {
            let least = stamp::LENGTH;
            return Err(format!(
                "--size {}: must be at least {least} bytes, so that each message can carry what shows that it was neither lost nor doubled",
                self.size
            ));
        }
        if self.size > MAX_SIZE {
            return Err(format!("--size {}: must be at most {MAX_SIZE} bytes", self.size));
        }
        if self.credit == 0 || self.window == Some(0) {
            return Err("--credit and --window must be at least 1, or no message will ever be sent".to_owned());
        }
        if self.rate.is_some_and(|rate| !(0.01..=1e8).contains(&rate)) {
            return Err("--rate must be between 0.01 and 100000000 messages a second".to_owned());
        }
        Ok(())
    }

    /// The address of a link.
    pub fn address_of(&self, link: usize) -> String {
        if self.addresses == 1 { self.address.clone() } else { format!("{}/{}", self.address, link % self.addresses) }
    }

    /// How many receivers the sender's address has.
    pub fn receivers_of(&self, sender: usize) -> usize {
        let address = sender % self.addresses;
        (self.receivers - address).div_ceil(self.addresses)
    }
}

/// More than 1 GiB at a time is for another tool.
const MAX_SIZE: usize = 1 << 30;

/// Spreads links over connections of so many links each, and these over threads: for each thread its connections, for
/// each of these its links.
pub(super) fn spread(links: usize, links_per_connection: usize, threads: usize) -> Vec<Vec<Vec<usize>>> {
    let connections = links.div_ceil(links_per_connection);
    let mut spread = vec![Vec::new(); threads.min(connections)];
    for connection in 0..connections {
        let first = connection * links_per_connection;
        let thread = connection % spread.len();
        spread[thread].push((first..links.min(first + links_per_connection)).collect());
    }
    spread
}

#[cfg(test)]
pub(super) fn example() -> Plan {
    Plan {
        connect: ConnectOptions::new(crate::client::Url::parse("127.0.0.1").expect("valid")),
        address: "bench".to_owned(),
        addresses: 1,
        senders: 1,
        receivers: 1,
        links_per_connection: 1,
        threads: 1,
        size: 100,
        settle: Settle::Unsettled,
        durable: false,
        credit: 1000,
        window: None,
        rate: None,
        length: Length::Time(Duration::from_secs(1)),
        warm_up: Duration::ZERO,
        drain: Duration::from_secs(1),
        fan_out: false,
        max_frame_size: 65536,
        pids: Vec::new(),
        receive_from: None,
        cool_down: Duration::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_fill_one_connection_after_another() {
        assert_eq!(spread(5, 2, 1), [[vec![0, 1], vec![2, 3], vec![4]]]);
    }

    #[test]
    fn connections_go_round_the_threads() {
        assert_eq!(spread(3, 1, 2), [vec![vec![0], vec![2]], vec![vec![1]]]);
        assert_eq!(spread(1, 10, 8), [[vec![0]]]);
    }

    #[test]
    fn links_go_round_the_addresses() {
        let plan = Plan { addresses: 3, senders: 3, receivers: 4, ..example() };
        assert_eq!([0, 1, 3].map(|link| plan.address_of(link)), ["bench/0", "bench/1", "bench/0"]);
        assert_eq!([0, 1, 2].map(|sender| plan.receivers_of(sender)), [2, 1, 1]);
    }

    #[test]
    fn a_plan_that_makes_no_sense_names_the_option() {
        let refused = |plan: Plan| plan.check().expect_err("makes no sense");
        assert!(refused(Plan { size: 10, ..example() }).starts_with("--size 10"));
        assert!(refused(Plan { senders: 0, ..example() }).starts_with("--senders"));
        assert!(refused(Plan { addresses: 2, ..example() }).starts_with("--addresses 2"));
        assert!(refused(Plan { rate: Some(f64::NAN), ..example() }).starts_with("--rate"));
        assert_eq!(example().check(), Ok(()));
    }
}
