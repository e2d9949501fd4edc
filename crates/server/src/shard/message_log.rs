//! Those who want to hear of each message of a connection: the MESSAGE module of the log, with the parts that were asked for,
//! and whoever traces messages.

use std::fmt::Write as _;
use std::sync::Arc;

use amqp::message::{PropertiesView, Scan, Scanner, SectionKind};
use amqp::{Decoder, Value};
use amqp_endpoint::LinkId;
use config::{MESSAGE_COMPONENTS, MessageComponents};
use logging::{Level, Module};

use super::conn::Conn;
use crate::content::before_body;
use crate::telemetry::Hops;

/// The component after those that are properties.
const APPLICATION_PROPERTIES: usize = 13;
/// A text longer than this is not shown.
const TEXT_MAX: usize = 2048;

impl Conn {
    /// Tells those who watch this connection of a message that has come.
    #[inline]
    pub(super) fn message_came(&self, link: LinkId, message: &[u8]) {
        if self.flags.watched {
            self.message_passed(true, link, message);
        }
    }

    /// Tells those who watch this connection of a message that is sent.
    #[inline]
    pub(super) fn message_sent(&self, link: LinkId, message: &[u8]) {
        if self.flags.watched {
            self.message_passed(false, link, message);
        }
    }

    #[cold]
    fn message_passed(&self, came: bool, link: LinkId, message: &[u8]) {
        if !self.settings.message_components.is_none() && messages_are_logged() {
            self.write_message_line(if came { "Received" } else { "Sent" }, link, message);
        }
        if let Some(hops) = &self.hops {
            let (source, target) = self.ends_of(link);
            hops.note(came, self.id, if came { target } else { source }, message);
        }
    }

    fn write_message_line(&self, verb: &str, link: LinkId, message: &[u8]) {
        let text = describe(message, self.settings.message_components);
        let name = self.endpoint.link(link).map(|link| link.name).unwrap_or_default();
        let (source, target) = self.ends_of(link);
        logging::write(
            Module::Message,
            Level::Trace,
            None,
            format_args!("[C{}]: {verb} {text} on link '{name}' ({source} -> {target})", self.id),
        );
    }

    /// The addresses of a link's source and target.
    fn ends_of(&self, link: LinkId) -> (&str, &str) {
        let ends = self.links.get(link.0 as usize).and_then(|link| link.ends.as_deref());
        ends.map_or(("", ""), |(source, target)| (source.as_str(), target.as_str()))
    }

    /// Whether anybody may want to hear of messages; fixed when the connection is made.
    pub(super) fn watch(&mut self, hops: Option<Arc<Hops>>) {
        self.flags.watched = !self.settings.message_components.is_none() || hops.is_some();
        self.hops = hops;
    }

    /// So much of a message that is coming as those who watch want to have when it is sent.
    pub(super) fn watched_part<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        if messages_are_logged() || self.hops.is_some() { before_body(bytes) } else { &[] }
    }
}

/// Whether lines about messages go anywhere.
fn messages_are_logged() -> bool {
    logging::enabled(Module::Message, Level::Trace)
}

/// The parts of a message that were asked for: `Message{message-id=…, …}`.
fn describe(message: &[u8], components: MessageComponents) -> String {
    let mut parts = Vec::new();
    let mut scanner = Scanner::new(message, false);
    while let Ok(Scan::Section(section)) = scanner.next() {
        match section.kind {
            SectionKind::Properties => {
                if let Ok(view) = PropertiesView::decode(section.value) {
                    describe_properties(&view, components, &mut parts);
                }
            }
            SectionKind::ApplicationProperties if components.contains(APPLICATION_PROPERTIES) => {
                parts.extend(raw(Some(section.value)).map(|text| (APPLICATION_PROPERTIES, text)));
            }
            _ => {}
        }
    }
    let mut line = String::from("Message{");
    for (index, (component, text)) in parts.iter().enumerate() {
        let separator = if index == 0 { "" } else { ", " };
        let _ = write!(line, "{separator}{}={text}", MESSAGE_COMPONENTS[*component]);
    }
    line.push('}');
    if line.len() > TEXT_MAX { "oversize message".to_owned() } else { line }
}

fn describe_properties(view: &PropertiesView<'_>, components: MessageComponents, parts: &mut Vec<(usize, String)>) {
    let string = |text: Option<&str>| text.map(|text| printed(&Value::String(text.to_owned())));
    let symbol = |text: Option<&str>| text.map(|text| printed(&Value::Symbol(text.into())));
    let texts = [
        raw(view.message_id),
        view.user_id.map(|id| printed(&Value::Binary(id.to_vec()))),
        string(view.to),
        string(view.subject),
        string(view.reply_to),
        raw(view.correlation_id),
        symbol(view.content_type),
        symbol(view.content_encoding),
        view.absolute_expiry_time.map(time),
        view.creation_time.map(time),
        string(view.group_id),
        view.group_sequence.map(|sequence| sequence.to_string()),
        string(view.reply_to_group_id),
    ];
    let wanted = texts.into_iter().enumerate().filter(|(component, _)| components.contains(*component));
    parts.extend(wanted.filter_map(|(component, text)| Some((component, text?))));
}

/// An encoded value as text.
fn raw(value: Option<&[u8]>) -> Option<String> {
    Decoder::new(value?).read_value().ok().map(|value| printed(&value))
}

fn printed(value: &Value) -> String {
    let mut text = String::new();
    amqp::trace::value(&mut text, value);
    text
}

/// A time in milliseconds since the epoch, as the old router prints it.
fn time(milliseconds: i64) -> String {
    // Before the epoch there is nothing that a message could mean.
    let milliseconds = u64::try_from(milliseconds).unwrap_or(0);
    let format = format!("%Y-%m-%d %H:%M:%S.{:03} %z", milliseconds % 1000);
    format!("\"{}\"", logging::time_text(&format, milliseconds / 1000, false))
}
