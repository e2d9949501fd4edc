//! Requests about queues that the disk has a part in. They are answered by threads of their own, so that the control plane
//! goes on whatever the disk does; who is not answered in time is told what is the matter.
//!
//! Those of one connection are done in their order. What only looks at what is in memory (QUERY; READ, if nothing is being
//! done for that connection) is answered by the control plane at once.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use amqp::message::Message;
use management::{Agent, Failure, Later, RequestContext};
use parking_lot::Mutex;

use super::plane::reply_to;
use crate::entities::Kept;
use crate::shard::{Shards, SubscriberMessage};
use crate::store::StoreHandle;

/// How long a request may take before its sender is told what is the matter.
const PATIENCE: Duration = Duration::from_secs(10);
/// So many requests are being done at once. Connections share them when there are more.
const LANES: usize = 16;

/// Requests on their way.
pub(crate) struct Errands {
    shards: Shards,
    lanes: Arc<[Mutex<Lane>; LANES]>,
    /// How long a request may take.
    pub(crate) patience: Duration,
    /// All that may have to be told that it takes long, the oldest first.
    late: VecDeque<Arc<Errand>>,
}

/// Requests that are done one after the other. A thread runs while there are any.
#[derive(Default)]
struct Lane {
    waiting: VecDeque<Arc<Errand>>,
    runs: bool,
}

/// One request.
struct Errand {
    store: StoreHandle,
    context: RequestContext,
    /// Where the answer goes.
    later: Later,
    /// When its sender is told, in the shards' time.
    due: Duration,
    state: Mutex<State>,
}

enum State {
    /// Nothing has been done. The message counts as waiting as long as it is there.
    Waiting(Box<Message>, SubscriberMessage),
    Begun,
    Answered,
}

impl Errands {
    pub(crate) fn new(shards: &Shards) -> Self {
        Self { shards: shards.clone(), lanes: Arc::default(), patience: PATIENCE, late: VecDeque::new() }
    }

    /// Whether a request is to be done here.
    pub(crate) fn takes(&self, request: &Message, context: &RequestContext) -> bool {
        match management::about(request) {
            Some((entity_type, operation)) if Kept::has(entity_type) => match operation.as_str() {
                "QUERY" => false,
                "READ" => self.lanes[lane_of(context)].lock().runs,
                _ => true,
            },
            _ => false,
        }
    }

    /// Has a request done.
    pub(crate) fn run(
        &mut self,
        store: &StoreHandle,
        message: Message,
        context: RequestContext,
        counted: SubscriberMessage,
    ) {
        let Some(later) = Later::of(&message) else { return };
        let lane = lane_of(&context);
        let errand = Arc::new(Errand {
            store: store.clone(),
            context,
            later,
            due: self.shards.now() + self.patience,
            state: Mutex::new(State::Waiting(Box::new(message), counted)),
        });
        self.late.push_back(Arc::clone(&errand));
        let mut of_lane = self.lanes[lane].lock();
        of_lane.waiting.push_back(errand);
        if of_lane.runs {
            return;
        }
        let (lanes, shards) = (Arc::clone(&self.lanes), self.shards.clone());
        let work = move || {
            while let Some(errand) = next(&lanes[lane]) {
                errand.run(&shards);
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
            errand.tell_late(&self.shards);
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
    fn run(&self, shards: &Shards) {
        let before = std::mem::replace(&mut *self.state.lock(), State::Begun);
        let State::Waiting(message, counted) = before else {
            *self.state.lock() = before;
            return;
        };
        let answer = Agent::new().handle(&message, &self.context, &mut Kept(self.store.clone()));
        drop(counted);
        let before = std::mem::replace(&mut *self.state.lock(), State::Answered);
        match (answer, before) {
            (Some((to, reply)), State::Begun) => reply_to(shards, &to, &reply),
            // Its sender was told that it takes long.
            _ => logging::log!(AGENT, Notice, "A request about the store that took long is done"),
        }
    }

    fn tell_late(&self, shards: &Shards) {
        let before = std::mem::replace(&mut *self.state.lock(), State::Answered);
        let outlook = match before {
            State::Answered => return,
            State::Waiting(..) => "Nothing was done",
            State::Begun => "It goes on, and may still be done",
        };
        let text = format!("{}. {outlook}: look again before you repeat it", self.store.why_late());
        logging::log!(AGENT, Error, "A management request is not answered in time: {text}");
        let (to, reply) = self.later.clone().reply(Err(Failure::internal(text)));
        reply_to(shards, &to, &reply);
    }
}
