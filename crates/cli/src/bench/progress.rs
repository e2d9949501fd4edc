//! What is shown on a terminal while a run goes on.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// A line that changes.
pub struct Progress {
    terminal: bool,
    shown: Instant,
    written: bool,
}

const EVERY: Duration = Duration::from_millis(200);
const BAR: usize = 24;

impl Progress {
    /// A line on the standard error output, if that is a terminal.
    pub fn new() -> Self {
        Self { terminal: std::io::stderr().is_terminal(), shown: Instant::now(), written: false }
    }

    /// No line.
    pub fn silent() -> Self {
        Self { terminal: false, shown: Instant::now(), written: false }
    }

    /// Shows how far it got (0 to 1), and a text, unless something was shown a moment ago.
    pub fn show(&mut self, done: f64, text: &str) {
        if self.terminal && (!self.written || self.shown.elapsed() >= EVERY) {
            self.shown = Instant::now();
            self.written = true;
            // A terminal that does not take it is no reason to end a run.
            let _ = write!(std::io::stderr(), "\r\x1b[2K{}", line(done, text));
        }
    }

    /// Takes the line away.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.written) {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "bounded by clamp"
)]
fn line(done: f64, text: &str) -> String {
    let done = if done.is_nan() { 0.0 } else { done.clamp(0.0, 1.0) };
    let full = (done * BAR as f64) as usize;
    format!("[{}{}] {:3.0} %  {text}", "#".repeat(full), "-".repeat(BAR - full), done * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills_up() {
        assert_eq!(line(0.0, "x"), "[------------------------]   0 %  x");
        assert_eq!(line(0.5, "x"), "[############------------]  50 %  x");
        assert_eq!(line(7.0, ""), "[########################] 100 %  ");
        assert_eq!(line(f64::NAN, "").len(), line(0.0, "").len());
    }
}
