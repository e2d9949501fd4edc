//! A list of steps that all run, even after one failed, and a table of how they went.

use anyhow::{Result, bail};
use std::time::{Duration, Instant};

/// Steps done so far.
#[derive(Default)]
pub(crate) struct Steps {
    done: Vec<Step>,
}

struct Step {
    name: &'static str,
    took: Duration,
    outcome: Result<()>,
}

impl Steps {
    /// Runs one step. A failure is shown at once and remembered; the next steps still run.
    pub(crate) fn step(&mut self, name: &'static str, act: impl FnOnce() -> Result<()>) {
        println!("\n=== {name}");
        let start = Instant::now();
        let outcome = act();
        if let Err(error) = &outcome {
            println!("=== {name}: {error:#}");
        }
        self.done.push(Step { name, took: start.elapsed(), outcome });
    }

    /// Prints the table; fails if any step failed.
    pub(crate) fn finish(self) -> Result<()> {
        println!("\n=== Summary");
        for step in &self.done {
            let word = if step.outcome.is_ok() { "ok" } else { "FAILED" };
            println!("{:<48} {:>6.1} s  {word}", step.name, step.took.as_secs_f32());
        }
        let failed: Vec<&str> = self.done.iter().filter(|step| step.outcome.is_err()).map(|step| step.name).collect();
        if !failed.is_empty() {
            bail!("{} of {} steps failed: {}", failed.len(), self.done.len(), failed.join(", "));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_after_a_failure_still_run_and_the_failure_is_reported() {
        let mut steps = Steps::default();
        let mut later_ran = false;
        steps.step("first", || bail!("broken"));
        steps.step("second", || {
            later_ran = true;
            Ok(())
        });
        assert!(later_ran);
        assert_eq!(steps.finish().unwrap_err().to_string(), "1 of 2 steps failed: first");
    }
}
