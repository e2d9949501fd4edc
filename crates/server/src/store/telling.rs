//! What the log tells of queues: which come and go, and which messages leave as dead letters.

use queue_core::{Applied, Command, Done, Event};

use super::links::{Place, Side};
use super::node::Node;

impl Node {
    /// Tells of what happened beside commands.
    pub(super) fn tell(&self, side: Side, event: &Event) {
        match event {
            Event::BodyGone { .. } | Event::Full(_) | Event::Room(_) => {}
            Event::QueueMade(queue) => {
                let place = Place { side, queue: *queue };
                let address = self.settings(place).map_or("", |settings| &settings.address);
                match self.is_shadow(place) {
                    true => {
                        logging::log!(ROUTER_CORE, Debug, "Dead letters or expired messages are carried to '{address}'")
                    }
                    false => {
                        logging::log!(
                            ROUTER_CORE,
                            Info,
                            "The queue '{address}' was made for dead letters or expired messages"
                        );
                    }
                }
            }
            // What was carried over has left nothing behind.
            Event::QueueDeleted { queue, .. } if self.is_hidden(Place { side, queue: *queue }) => {}
            Event::QueueDeleted { address, consumers, .. } => {
                let consumers = consumers.len();
                logging::log!(ROUTER_CORE, Info, "The queue '{address}' was deleted; consumers detached: {consumers}");
            }
            Event::DeadLettered { queue, reason } | Event::Dropped { queue, reason } => {
                let settings = self.settings(Place { side, queue: *queue });
                let address = settings.map_or("a queue that was deleted", |settings| &settings.address);
                let fate = if matches!(event, Event::Dropped { .. }) { "was dropped" } else { "went on" };
                logging::log!(ROUTER_CORE, Debug, "A message of '{address}' {fate}: {}", reason.text());
            }
        }
    }
}

/// Tells of what a command has done.
pub(super) fn tell_done(command: &Command, applied: &Applied) {
    match (command, applied) {
        (Command::CreateQueue(settings), Ok(_)) if settings.is_collector() => {}
        (Command::CreateQueue(settings), Ok(Done::Created(_))) if settings.auto_created => {
            let address = &settings.address;
            logging::log!(ROUTER_CORE, Info, "The queue '{address}' was made for dead letters or expired messages");
        }
        (Command::CreateQueue(settings), Ok(Done::Created(_))) => {
            logging::log!(ROUTER_CORE, Info, "The queue '{}' was made", settings.address);
        }
        (Command::CreateTopic(settings), Ok(_)) => {
            logging::log!(ROUTER_CORE, Info, "The topic '{}' was made", settings.address);
        }
        (Command::SetTemplate { settings, is_new }, Ok(_)) => {
            let what = if *is_new { "made" } else { "changed" };
            logging::log!(ROUTER_CORE, Info, "The template of queues '{}' was {what}", settings.address);
        }
        (Command::DeleteTemplate { pattern }, Ok(_)) => {
            logging::log!(ROUTER_CORE, Info, "The template of queues '{pattern}' was deleted");
        }
        _ => {}
    }
}
