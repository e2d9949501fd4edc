//! Threads for what may block: they come when there is work, a bounded number of them, and go when there is none.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

/// How long a thread waits for work before it ends.
const IDLE: Duration = Duration::from_secs(20);

type Job = Box<dyn FnOnce() + Send>;

/// A few threads, and work that waits for them. Cheap to clone.
#[derive(Clone)]
pub struct Workers(Arc<Shared>);

struct Shared {
    most_threads: usize,
    most_waiting: usize,
    state: Mutex<State>,
    work: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    threads: usize,
    idle: usize,
}

/// There is too much work already, or no thread to be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many authentications are under way")]
pub struct Busy;

impl Workers {
    /// Up to `threads` of them, and up to `waiting` pieces of work that wait.
    pub fn new(threads: usize, waiting: usize) -> Self {
        Self(Arc::new(Shared {
            most_threads: threads.max(1),
            most_waiting: waiting,
            state: Mutex::default(),
            work: Condvar::new(),
        }))
    }

    /// Has `job` done soon.
    ///
    /// # Errors
    /// There is too much work already: nothing is done.
    pub fn submit(&self, job: impl FnOnce() + Send + 'static) -> Result<(), Busy> {
        let mut state = self.0.state.lock();
        if state.waiting.len() >= self.0.most_waiting {
            return Err(Busy);
        }
        // Those that are idle have woken for the work that waits already, or will.
        if state.idle <= state.waiting.len() && state.threads < self.0.most_threads {
            let shared = Arc::clone(&self.0);
            let started = thread::Builder::new().name("authenticate".to_owned()).spawn(move || shared.run());
            match started {
                Ok(_) => state.threads += 1,
                Err(_) if state.threads == 0 => return Err(Busy),
                Err(_) => {}
            }
        }
        state.waiting.push_back(Box::new(job));
        drop(state);
        self.0.work.notify_one();
        Ok(())
    }
}

impl Shared {
    fn run(&self) {
        let mut state = self.state.lock();
        loop {
            if let Some(job) = state.waiting.pop_front() {
                drop(state);
                job();
                state = self.state.lock();
                continue;
            }
            state.idle += 1;
            let late = self.work.wait_for(&mut state, IDLE).timed_out();
            state.idle -= 1;
            if late && state.waiting.is_empty() {
                state.threads -= 1;
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn all_work_is_done() {
        let workers = Workers::new(3, 1000);
        let (sender, done) = mpsc::channel();
        for number in 0..500 {
            let sender = sender.clone();
            workers.submit(move || sender.send(number).unwrap()).unwrap();
        }
        drop(sender);
        assert_eq!(done.iter().sum::<u32>(), 499 * 500 / 2);
    }

    #[test]
    fn there_is_a_bound_for_threads_and_for_what_waits() {
        let workers = Workers::new(2, 3);
        let (release, gate) = mpsc::channel::<()>();
        let gate = Arc::new(Mutex::new(gate));
        let (began, begun) = mpsc::channel();
        for _ in 0..2 {
            let (gate, began) = (Arc::clone(&gate), began.clone());
            workers
                .submit(move || {
                    began.send(()).unwrap();
                    let _ = gate.lock().recv();
                })
                .unwrap();
        }
        // Both threads hang now.
        begun.iter().take(2).count();
        for _ in 0..3 {
            workers.submit(|| {}).unwrap();
        }
        assert_eq!(workers.submit(|| {}), Err(Busy));
        drop(release);
    }
}
