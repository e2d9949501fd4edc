//! Messages a second: what two readings of a queue's counters differ by.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use amqp::Value;
use clap::Args;
use management::Attributes;

use super::Failure;

/// Which counters make which rates.
pub(super) const RATES: [(&str, &str); 2] = [("messagesIn", "inPerSecond"), ("messagesOut", "outPerSecond")];

#[derive(Debug, Args)]
pub(super) struct RatesArguments {
    /// Watch for so many seconds (1 if not given), and show how many messages came and were taken a second
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "1", require_equals = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(super) rates: Option<u64>,
}

/// What the counters were.
pub(super) struct Reading {
    at: Instant,
    queues: HashMap<String, [i64; 2]>,
}

impl Reading {
    /// Reads, if rates are wanted, and waits until it is time to read again.
    pub(super) fn first(
        arguments: &RatesArguments,
        read: impl FnOnce() -> Result<Vec<Attributes>, Failure>,
    ) -> Result<Option<Self>, Failure> {
        let Some(seconds) = arguments.rates else { return Ok(None) };
        let queues = read()?;
        let reading = Self { at: Instant::now(), queues: queues.iter().map(counters).collect() };
        std::thread::sleep(Duration::from_secs(seconds));
        Ok(Some(reading))
    }

    /// Notes in queues that were read just now what their rates are. One that was not there before has none.
    pub(super) fn rate(&self, queues: &mut [Attributes]) {
        self.rate_over(queues, self.at.elapsed());
    }

    fn rate_over(&self, queues: &mut [Attributes], over: Duration) {
        for queue in queues {
            let (name, now) = counters(queue);
            let Some(before) = self.queues.get(&name) else { continue };
            for (at, (_, rate)) in RATES.into_iter().enumerate() {
                // Less than before: the queue was made anew.
                if let Some(count) = now[at].checked_sub(before[at]).filter(|count| *count >= 0) {
                    let rounded = (count as f64 / over.as_secs_f64() * 10.0).round() / 10.0;
                    queue.set(rate, Value::Double(rounded));
                }
            }
        }
    }
}

fn counters(queue: &Attributes) -> (String, [i64; 2]) {
    let name = queue.text("address").unwrap_or_default().to_owned();
    (name, RATES.map(|(counter, _)| queue.integer(counter).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(address: &str, came: i64, taken: i64) -> Attributes {
        Attributes::new()
            .with("address", address.into())
            .with("messagesIn", came.into())
            .with("messagesOut", taken.into())
    }

    #[test]
    fn rates_are_what_counters_grew_by_in_a_second() {
        let before = [queue("a", 10, 5), queue("anew", 10, 5)];
        let reading = Reading { at: Instant::now(), queues: before.iter().map(counters).collect() };
        let mut now = [queue("a", 60, 6), queue("anew", 1, 5), queue("b", 9, 9)];
        reading.rate_over(&mut now, Duration::from_secs(2));
        let rates = now.map(|queue| RATES.map(|(_, rate)| queue.get(rate).cloned()));
        let rate = |rate: f64| Some(Value::Double(rate));
        assert_eq!(rates, [[rate(25.0), rate(0.5)], [None, rate(0.0)], [None, None]]);
    }
}
