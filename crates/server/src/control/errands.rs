//! Requests about queues and their store that the disk has a part in. They are answered by threads of their own, so that the control plane
//! goes on whatever the disk does; who is not answered in time is told what is the matter.
//!
//! Those of one connection are done in their order; what the configuration, read again, says of queues is done among them. What only looks at what is in memory (QUERY; READ, if nothing is being
//! done for that connection) is answered by the control plane at once.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use amqp::Value;
use amqp::message::Message;
use management::{Agent, Failure, Later, RequestContext};
use parking_lot::{Condvar, Mutex};

use super::plane::reply_to;
use crate::entities::{Kept, Opener, Report, StoreSlot};
use crate::process::notify;
use crate::shard::{Shards, SubscriberMessage};

/// How long a request may take before its sender is told what is the matter.
const PATIENCE: Duration = Duration::from_secs(10);
/// So many requests are being done at once. Connections share them when there are more.
const LANES: usize = 16;

/// Requests on their way.
pub(crate) struct Errands {
    shards: Shards,
    store: StoreSlot,
    lanes: Arc<[Mutex<Lane>; LANES]>,
    /// How long a request may take.
    pub(crate) patience: Duration,
    /// All that may have to be told that it takes long, the oldest first.
    late: VecDeque<Arc<Errand>>,
    reloads: Arc<Reloads>,
    /// Reloads so far.
    turns: u64,
}

/// Requests that are done one after the other. A thread runs while there are any.
#[derive(Default)]
struct Lane {
    waiting: VecDeque<Arc<Errand>>,
    runs: bool,
}

/// One of them.
struct Errand {
    /// When whoever waits is told that it takes long, in the shards' time.
    due: Duration,
    state: Mutex<State>,
}

/// How far an errand is.
struct State {
    /// What is to be done; `None`: it is begun, or was given up.
    work: Option<Work>,
    /// Who waits for it; `None`: nobody any more.
    whom: Option<For>,
}

/// What is to be done.
enum Work {
    /// To answer a request. The message counts as waiting as long as it is there.
    Request(Box<Message>, RequestContext, SubscriberMessage),
    /// To make the rest of a reload, when those before it are over.
    Reload(Report, u64),
}

/// Who hears what came of it.
pub(crate) enum For {
    /// Who sent a request.
    Requester(Later),
    /// The service manager, which hears that it is done.
    ServiceManager,
}

/// Reloads are made one after the other, whoever asked for them.
#[derive(Default)]
struct Reloads {
    over: Mutex<u64>,
    changed: Condvar,
}

impl Reloads {
    fn wait_for(&self, turn: u64) {
        let mut over = self.over.lock();
        while *over < turn {
            self.changed.wait(&mut over);
        }
    }

    fn end(&self) {
        *self.over.lock() += 1;
        self.changed.notify_all();
    }
}

impl Errands {
    pub(crate) fn new(shards: &Shards, store: StoreSlot) -> Self {
        Self {
            shards: shards.clone(),
            store,
            lanes: Arc::default(),
            patience: PATIENCE,
            late: VecDeque::new(),
            reloads: Arc::default(),
            turns: 0,
        }
    }

    /// Whether a request is to be done here.
    pub(crate) fn takes(&self, request: &Message, context: &RequestContext) -> bool {
        let runs = || self.lanes[lane_of(context)].lock().runs;
        match management::about(request) {
            Some((entity_type, operation)) if Kept::has(entity_type) => match operation.as_str() {
                "QUERY" => false,
                "READ" => runs(),
                // One that comes behind another that opens the store waits for that.
                _ => self.store.get().is_some() || runs(),
            },
            Some((entity_type, operation)) => {
                entity_type.short == "store" && operation == "CREATE" && self.store.is_empty()
            }
            _ => false,
        }
    }

    /// Has a request done.
    pub(crate) fn run(&mut self, message: Message, context: RequestContext, counted: SubscriberMessage) {
        let Some(later) = Later::of(&message) else { return };
        let lane = lane_of(&context);
        self.begin(lane, Work::Request(Box::new(message), context, counted), For::Requester(later));
    }

    /// Has the rest of a reload made, among the requests of whoever asked for it and after all reloads before. However long
    /// the disk takes, nothing is left out.
    pub(crate) fn reload(&mut self, report: Report, context: RequestContext, whom: For) {
        let turn = self.turns;
        self.turns += 1;
        self.begin(lane_of(&context), Work::Reload(report, turn), whom);
    }

    fn begin(&mut self, lane: usize, work: Work, whom: For) {
        let errand = Arc::new(Errand {
            due: self.shards.now() + self.patience,
            state: Mutex::new(State { work: Some(work), whom: Some(whom) }),
        });
        self.late.push_back(Arc::clone(&errand));
        let mut of_lane = self.lanes[lane].lock();
        of_lane.waiting.push_back(errand);
        if of_lane.runs {
            return;
        }
        let (lanes, reloads) = (Arc::clone(&self.lanes), Arc::clone(&self.reloads));
        let (shards, store) = (self.shards.clone(), self.store.clone());
        let work = move || {
            while let Some(errand) = next(&lanes[lane]) {
                errand.run(&shards, &store, &reloads);
            }
        };
        // Without a thread they wait for the next request, which tries again.
        of_lane.runs = std::thread::Builder::new().name("management".to_owned()).spawn(work).is_ok();
    }

    /// When somebody is to be told that it takes long, in the shards' time.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.late.front().map(|errand| errand.due)
    }

    /// Tells them.
    pub(crate) fn handle_timeout(&mut self) {
        let now = self.shards.now();
        while let Some(errand) = self.late.pop_front_if(|errand| errand.due <= now) {
            errand.tell_late(&self.shards, &self.store);
        }
    }
}

fn lane_of(context: &RequestContext) -> usize {
    usize::try_from(context.connection_id.unwrap_or(0) % LANES as u64).unwrap_or(0)
}

/// The next request of a lane; none: its thread ends.
fn next(lane: &Mutex<Lane>) -> Option<Arc<Errand>> {
    let mut lane = lane.lock();
    let next = lane.waiting.pop_front();
    lane.runs = next.is_some();
    next
}

impl Errand {
    fn run(&self, shards: &Shards, store: &StoreSlot, reloads: &Reloads) {
        let work = self.state.lock().work.take();
        match work {
            None => {}
            Some(Work::Request(message, context, counted)) => {
                let answer = match store.get() {
                    Some(store) => Agent::new().handle(&message, &context, &mut Kept(store)),
                    None => {
                        let mut opener = Opener { shards: shards.clone(), slot: store.clone() };
                        Agent::new().handle(&message, &context, &mut opener)
                    }
                };
                drop(counted);
                let whom = self.state.lock().whom.take();
                match (answer, whom) {
                    (Some((to, reply)), Some(_)) => reply_to(shards, &to, &reply),
                    // Its sender was told that it takes long.
                    _ => logging::log!(AGENT, Notice, "A request about the store that took long is done"),
                }
            }
            Some(Work::Reload(report, turn)) => {
                reloads.wait_for(turn);
                let told = report.make(shards, store);
                reloads.end();
                let whom = self.state.lock().whom.take();
                if let Some(whom) = whom {
                    let told = told.into_iter().map(Value::String).collect();
                    whom.hears(shards, Ok(Value::List(told)));
                }
            }
        }
    }

    fn tell_late(&self, shards: &Shards, store: &StoreSlot) {
        let mut state = self.state.lock();
        let Some(whom) = state.whom.take() else { return };
        let given_up = state.work.take_if(|work| matches!(work, Work::Request(..)));
        drop(state);
        let outlook = if given_up.is_some() { "Nothing was done" } else { "It goes on, and may still be done" };
        let why = store.get().map_or_else(
            || "The store is still being opened: all that is in its log is read".to_owned(),
            |store| store.why_late(),
        );
        let text = format!("{why}. {outlook}: look again before you repeat it");
        logging::log!(AGENT, Error, "A management request is not answered in time: {text}");
        whom.hears(shards, Err(Failure::internal(text)));
    }
}

impl For {
    fn hears(self, shards: &Shards, answer: Result<Value, Failure>) {
        match self {
            Self::Requester(later) => {
                let (to, reply) = later.reply(answer);
                reply_to(shards, &to, &reply);
            }
            // What came of it is in the log.
            Self::ServiceManager => notify::ready(),
        }
    }
}
