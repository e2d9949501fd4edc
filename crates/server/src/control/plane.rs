//! The control plane's loop: takes up one thing after the other.

use crate::control::errands::For;
use crate::control::inbox::{Inbox, Turn};
use crate::control::listeners::RequiredListenerFailed;
use crate::control::lookup::{Asker, LookedUp};
use crate::control::network::Network;
use crate::control::report::Question;
use crate::control::uplink::EdgeUplink;
use crate::entities::Entities;
use crate::process::notify;
use crate::process::signals::{Asked, Signals, StopSignal};
use crate::shard::{ShardEvent, Shards, SubscriberMessage, Verdict};
use crate::telemetry::Telemetry;
use amqp::message::Message;
use management::{Agent, RequestContext};
use std::time::Duration;
use tokio::sync::mpsc;

/// The core's timers need no finer time than this.
const CORE_TICK: Duration = Duration::from_secs(1);
/// So many events are taken before what is due is looked at. Each of them is little work.
const EVENTS: usize = 1024;

/// How long the core may be busy before it counts as stuck.
const CORE_PATIENCE: Duration = Duration::from_secs(1);

/// Opens log files anew: they were moved away.
fn reopen_logs() {
    for failed in logging::reopen() {
        logging::log!(AGENT, Error, "{failed}: the log goes on where it was");
    }
}

/// The control plane of a running router.
pub(crate) struct Plane {
    pub(crate) shards: Shards,
    pub(crate) agent: Agent,
    pub(crate) entities: Entities,
    /// Held until the end.
    pub(crate) _telemetry: Option<Telemetry>,
    pub(crate) events: mpsc::UnboundedReceiver<ShardEvent>,
    pub(crate) lookups: mpsc::UnboundedReceiver<LookedUp>,
    /// Messages for the router itself that wait for their turn.
    pub(crate) inbox: Inbox,
    /// What other threads want to know.
    pub(crate) questions: mpsc::Receiver<Question>,
    /// When the core's timers are looked at next, in the shards' time.
    pub(crate) next_tick: Duration,
}

/// Why the loop ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// A signal asked for it.
    Signal(StopSignal),
    /// The router must not run without this listener.
    ListenerFailed(RequiredListenerFailed),
    /// The shards are gone, which they must never be by themselves.
    ShardsGone,
}

impl Plane {
    /// Runs until something ends it. Calls `serving` with what is listened on, once all listeners
    /// of the configuration do.
    pub(crate) async fn serve(&mut self, signals: &mut Signals, serving: impl FnOnce(&[String])) -> End {
        let mut serving = Some(serving);
        let watched = notify::watchdog_interval();
        // Without a watchdog there is nobody to reassure.
        let mut watchdog = tokio::time::interval(watched.unwrap_or(Duration::from_secs(24 * 3600)));
        loop {
            if self.entities.listeners.required_ones_listen()
                && let Some(serving) = serving.take()
            {
                serving(&self.entities.listeners.listening_on());
                notify::ready();
            }
            tokio::select! {
                asked = signals.next() => match asked {
                    Asked::Stop(signal) => return End::Signal(signal),
                    Asked::Reload => self.reload(),
                    Asked::ReopenLogs => reopen_logs(),
                },
                _ = watchdog.tick() => self.reassure(),
                stepped = self.step() => if let Err(end) = stepped {
                    return end;
                },
            }
        }
    }

    /// Reads the configuration again, and opens log files anew.
    fn reload(&mut self) {
        notify::reloading();
        reopen_logs();
        let report = self.entities.read_again();
        // What came of it is in the log.
        let is_over = report.map_or(true, |report| {
            self.entities.finish(report, RequestContext::default(), For::ServiceManager).is_some()
        });
        if is_over {
            notify::ready();
        }
    }

    /// Tells the service manager that the router is alive, if its core is: the shards cannot work without it.
    fn reassure(&self) {
        if self.shards.answers_within(CORE_PATIENCE) {
            notify::alive();
        }
    }

    /// Waits for the next thing to do and does it. Nothing is lost if the wait is given up.
    ///
    /// # Errors
    /// If the router must end.
    pub(crate) async fn step(&mut self) -> Result<(), End> {
        let idle_time = self.due().saturating_sub(self.shards.now());
        let waiting = !self.inbox.is_empty();
        let idle = async move {
            match waiting {
                // Others on this thread have their turn too.
                true => tokio::task::yield_now().await,
                false => tokio::time::sleep(idle_time).await,
            }
        };
        let outcome = tokio::select! {
            event = self.events.recv() => self.take_event(event.ok_or(End::ShardsGone)?),
            Some(result) = self.lookups.recv() => self.take_lookup(result),
            Some(question) = self.questions.recv() => {
                question.answer(&self.entities);
                Ok(())
            }
            () = idle => Ok(()),
        };
        outcome.and_then(|()| self.take_turn()).map_err(End::ListenerFailed)
    }

    /// First whatever has happened, greetings of neighbours among it; then what is due; then some of what may wait. However
    /// much there is of one, the others have their turn.
    fn take_turn(&mut self) -> Result<(), RequiredListenerFailed> {
        for _ in 0..EVENTS {
            let Ok(event) = self.events.try_recv() else { break };
            self.take_event(event)?;
        }
        if self.due() <= self.shards.now() {
            self.take_timeout();
        }
        self.take_messages();
        Ok(())
    }

    fn take_messages(&mut self) {
        let mut turn = Turn::default();
        while let Some(message) = self.inbox.next(&mut turn) {
            let Entities { network, edges, uplink, .. } = &mut self.entities;
            let taken = network.as_mut().is_some_and(|network| network.receive(&message))
                || edges.receive(&message)
                || uplink.as_mut().is_some_and(|uplink| uplink.receive(&message));
            if !taken {
                self.answer(message);
                turn.end();
            }
        }
    }

    /// When the next thing is due by time.
    fn due(&self) -> Duration {
        let network = self.entities.network.as_ref().and_then(Network::due);
        let edges = self.entities.edges.due();
        let uplink = self.entities.uplink.as_ref().and_then(EdgeUplink::due);
        let connectors = self.entities.connectors.next_due();
        let listeners = self.entities.listeners.next_due();
        let errands = self.entities.errands.due();
        [network, edges, uplink, connectors, listeners, errands]
            .into_iter()
            .flatten()
            .fold(self.next_tick, Duration::min)
    }

    fn take_timeout(&mut self) {
        self.entities.connectors.begin_due();
        self.entities.listeners.begin_due();
        self.entities.errands.handle_timeout();
        let now = self.shards.now();
        if let Some(network) = &mut self.entities.network
            && network.due().is_some_and(|due| due <= now)
        {
            network.handle_timeout();
        }
        if self.entities.edges.due().is_some_and(|due| due <= now) {
            self.entities.edges.handle_timeout();
        }
        if let Some(uplink) = &mut self.entities.uplink
            && uplink.due().is_some_and(|due| due <= now)
        {
            uplink.handle_timeout();
        }
        if self.next_tick <= now {
            self.next_tick = now + CORE_TICK;
            self.shards.with_core(|core, host, now| {
                if core.next_timeout().is_some_and(|due| due <= now) {
                    core.handle_timeout(now, host);
                }
            });
        }
    }

    fn take_lookup(&mut self, LookedUp { asker, found }: LookedUp) -> Result<(), RequiredListenerFailed> {
        match asker {
            Asker::Listener(listener) => self.entities.listeners.looked_up(listener, found),
            Asker::Connector(connector) => {
                self.entities.connectors.looked_up(connector, found);
                Ok(())
            }
            Asker::RemoteHost(asked) => {
                self.entities.policies.looked_up(asked, found);
                Ok(())
            }
        }
    }

    fn take_event(&mut self, event: ShardEvent) -> Result<(), RequiredListenerFailed> {
        let connectors = &mut self.entities.connectors;
        match event {
            ShardEvent::ConnectorOpened { connector, connection_id, open, message } => {
                connectors.opened(connector, connection_id, open.properties.as_ref(), message);
            }
            ShardEvent::ConnectorRedirected { connector, connection_id, info } => {
                connectors.redirected(connector, connection_id, &info);
            }
            ShardEvent::ConnectorFailed { connector, connection_id, message }
            | ShardEvent::ConnectorLost { connector, connection_id, message } => {
                connectors.failed(connector, connection_id, message);
            }
            ShardEvent::ListenerFailed { listener, message } => {
                return self.entities.listeners.failed(listener, &message);
            }
            ShardEvent::Network(update) => {
                if let Some(uplink) = &mut self.entities.uplink {
                    uplink.network_update(&update);
                }
                if let Some(network) = &mut self.entities.network {
                    network.update(update);
                }
            }
            ShardEvent::Edge(update) => {
                if let Some(uplink) = &mut self.entities.uplink {
                    uplink.update(update.clone());
                }
                self.entities.edges.update(update);
            }
            ShardEvent::LookUp(look_up) => match &mut self.entities.uplink {
                Some(uplink) => uplink.look_up(look_up),
                None => self.shards.looked_up(look_up.link, look_up.token, Verdict::Local),
            },
            ShardEvent::Message(message) => match &mut self.entities.network {
                Some(network) if network.is_greeting(&message) => _ = network.receive(&message),
                _ => self.inbox.push(message),
            },
        }
        Ok(())
    }

    /// Answers a management request.
    fn answer(&mut self, request: SubscriberMessage) {
        let Ok(message) = Message::decode(&request.message) else {
            // The core's validation lets no such message through; whoever sent it cannot be told.
            logging::log!(AGENT, Error, "[C{}] A management request is not a message", request.from.conn_id);
            return;
        };
        let context = RequestContext { connection_id: Some(request.from.conn_id), ..RequestContext::default() };
        let errands = &mut self.entities.errands;
        if errands.takes(&message, &context) {
            errands.run(message, context, request);
            return;
        }
        let Some((to, reply)) = self.agent.handle(&message, &context, &mut self.entities) else { return };
        reply_to(&self.shards, &to, &reply);
    }
}

/// Sends a reply of the management agent.
pub(crate) fn reply_to(shards: &Shards, to: &str, reply: &Message) {
    let mut bytes = Vec::new();
    reply.encode(&mut bytes);
    let content = Shards::content(&bytes);
    if !shards.with_core(|core, host, now| core.send_local(now, host, to, content)) {
        logging::log!(AGENT, Debug, "Nobody takes the reply to {to}");
    }
}
