//! The first look at a message: is it one, and what do its first sections say that routing needs?

use amqp::message::{
    AnnotationsError, Header, MessageAnnotations, PropertiesView, RouterAnnotations, RoutingProperties, Scan, Scanner,
    Section, SectionKind, write_message_annotations,
};
use amqp::{Decoder, ErrorCondition};

/// How far into a message that is still coming one must see before it can be routed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Depth {
    /// Through the message annotations: the link knows its address.
    Annotations,
    /// Through the properties, for their `user-id` alone: the link knows its address.
    UserId,
    /// Through the properties: `to` names the address.
    #[default]
    Properties,
    /// Through the application properties: they are logged.
    ApplicationProperties,
}

/// Where the parts of a message are that a router may change, in bytes from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    /// As on the transfer.
    pub(crate) message_format: u32,
    /// Size of header and delivery annotations; the message annotations come after them.
    before: u32,
    /// Size of the section of message annotations; 0: there is none.
    annotations: u32,
    /// The section holds router annotations.
    router_part: bool,
    /// Those are to be handed on, unless they are stripped where the message leaves.
    keep: bool,
}

/// What is known of the beginning of a message that is kept in pieces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head {
    /// Where its parts are.
    pub(crate) layout: Layout,
    /// Its section of message annotations.
    pub(crate) annotations: Box<[u8]>,
    /// All that precedes its body, as far as it was there, if somebody wants to log it.
    pub(crate) logged: Box<[u8]>,
}

/// What the first look at a message found.
#[derive(Debug)]
pub(crate) struct Examined<'a> {
    /// Where its parts are.
    pub(crate) layout: Layout,
    /// Priority of the header, or 4; at most 9.
    pub(crate) priority: u8,
    /// `to` of the properties; only looked at from [`Depth::Properties`] on.
    pub(crate) to: Option<&'a str>,
    /// `user-id` of the properties, from [`Depth::UserId`] on; none if it is empty.
    pub(crate) user_id: Option<&'a [u8]>,
    /// Its router annotations; none where those that come in are stripped.
    pub(crate) router: RouterAnnotations<'a>,
    /// Enough of the message is there.
    pub(crate) sufficient: bool,
}

/// What every section begins with.
const DESCRIBED: u8 = 0;

impl Examined<'_> {
    /// A message that is not looked at, because it goes on as it is.
    pub(crate) fn unseen(message_format: u32) -> Self {
        let layout = Layout::plain(message_format);
        Self { layout, priority: 4, to: None, user_id: None, router: RouterAnnotations::default(), sufficient: true }
    }
}

/// What precedes the body of a message, as far as it is there.
pub(crate) fn before_body(bytes: &[u8]) -> &[u8] {
    let mut scanner = Scanner::new(bytes, false);
    let mut end = 0;
    while let Ok(Scan::Section(section)) = scanner.next()
        && !section.kind.is_body()
    {
        end = section.end();
    }
    bytes.get(..end).unwrap_or_default()
}

/// The subject of a message, if its properties are there and have one.
pub(crate) fn subject(bytes: &[u8]) -> Option<&str> {
    let mut scanner = Scanner::new(bytes, false);
    while let Ok(Scan::Section(section)) = scanner.next() {
        match section.kind {
            SectionKind::Properties => return PropertiesView::decode(section.value).ok()?.subject,
            kind if kind > SectionKind::Properties => return None,
            _ => {}
        }
    }
    None
}

/// Why a message is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Its sections cannot be made out.
    Format,
    /// Its router annotations are wrong, in these words.
    Annotations(&'static str),
    /// Its delivery tag is too long to be handed on.
    Tag,
    /// It speaks for another user than the one who sends it.
    UserId,
    /// Its sender may not send to where it goes.
    Target,
    /// It is larger than its sender may send.
    Size,
    /// It does not say where it goes, and its sender has too many of that kind.
    Unfinished,
}

impl Refusal {
    /// What its sender is told; the old router's words.
    pub(crate) fn condition(self) -> ErrorCondition {
        match self {
            Self::Format => ErrorCondition::new("amqp:decode-error", "invalid message format"),
            Self::Annotations(text) => ErrorCondition::new("amqp:invalid-field", text),
            Self::Tag => ErrorCondition::new("amqp:invalid-field", "delivery tag length exceeded"),
            Self::UserId => ErrorCondition::new("amqp:unauthorized-access", "user_id proxy violation"),
            Self::Target => ErrorCondition::new("amqp:unauthorized-access", "policy violation on target"),
            Self::Size => ErrorCondition::new("amqp:link:message-size-exceeded", "Message size exceeded"),
            Self::Unfinished => ErrorCondition::new(
                "amqp:resource-limit-exceeded",
                "too much of messages of which the annotations have not come",
            ),
        }
    }
}

/// How a message is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// As on the transfer.
    pub(crate) message_format: u32,
    /// All bytes are there: then all sections are checked.
    pub(crate) complete: bool,
    /// How far one must see if they are not.
    pub(crate) depth: Depth,
    /// Router annotations that came with the message are used.
    pub(crate) keep: bool,
}

impl Look {
    /// Whether what begins with this byte goes through unread: it is no section at all, but enough of the message has been
    /// seen to pass it on, and the rest is still coming. (The old router streams such messages, too.)
    fn takes_as_body(&self, found: &Examined<'_>, begins: Option<&u8>) -> bool {
        let is_known = self.depth == Depth::Annotations || found.router.to.is_some();
        !self.complete && is_known && begins.is_some_and(|byte| *byte != DESCRIBED)
    }
}

/// Looks at the sections of a message.
///
/// # Errors
/// If a section is not what it should be, or out of place; of a complete message, if it is cut short.
#[inline]
pub(crate) fn examine<'a>(bytes: &'a [u8], look: &Look) -> Result<Examined<'a>, Refusal> {
    let layout = Layout { message_format: look.message_format, keep: look.keep, ..Layout::default() };
    let router = RouterAnnotations::default();
    let mut found = Examined { layout, priority: 4, to: None, user_id: None, router, sufficient: true };
    let mut scanner = Scanner::new(bytes, look.complete);
    let (mut seen, mut end) = (None, 0);
    loop {
        let scan = match scanner.next() {
            Ok(scan) => scan,
            Err(_) if look.takes_as_body(&found, bytes.get(end)) => return Ok(found),
            Err(_) => return Err(Refusal::Format),
        };
        match scan {
            Scan::Section(section) => {
                found.note(&section, look.depth)?;
                (seen, end) = (Some(section.kind), section.end());
            }
            Scan::Incomplete { begun } => {
                found.sufficient = look.depth.is_reached(seen, begun);
                return Ok(found);
            }
            // Not one section: the old router takes that for no message at all.
            Scan::End if bytes.is_empty() => return Err(Refusal::Format),
            Scan::End => return Ok(found),
        }
    }
}

impl Depth {
    /// Whether a message is known deeply enough of which the section `seen` is there and `begun` is on its way.
    fn is_reached(self, seen: Option<SectionKind>, begun: Option<SectionKind>) -> bool {
        let last = match self {
            Self::Annotations => SectionKind::MessageAnnotations,
            Self::UserId | Self::Properties => SectionKind::Properties,
            Self::ApplicationProperties => SectionKind::ApplicationProperties,
        };
        seen.is_some_and(|kind| kind >= last) || begun.is_some_and(|kind| kind > last)
    }
}

impl<'a> Examined<'a> {
    #[inline]
    fn note(&mut self, section: &Section<'a>, depth: Depth) -> Result<(), Refusal> {
        match section.kind {
            SectionKind::Header => {
                self.priority = Header::decode(section.value).map_err(|_| Refusal::Format)?.priority.min(9);
                self.layout.before = end_of(section);
            }
            SectionKind::DeliveryAnnotations => self.layout.before = end_of(section),
            SectionKind::MessageAnnotations => self.note_annotations(section)?,
            SectionKind::Properties if depth >= Depth::UserId => {
                let properties = match depth {
                    Depth::UserId => RoutingProperties::decode_user_id(section.value),
                    _ => RoutingProperties::decode(section.value),
                };
                let properties = properties.map_err(|_| Refusal::Format)?;
                self.to = properties.to;
                self.user_id = properties.user_id.filter(|user| !user.is_empty());
            }
            _ => {}
        }
        Ok(())
    }

    fn note_annotations(&mut self, section: &Section<'a>) -> Result<(), Refusal> {
        let annotations = MessageAnnotations::decode(section.value).map_err(refusal)?;
        self.layout.annotations = end_of(section) - self.layout.before;
        self.layout.router_part = annotations.router_part;
        if self.layout.keep {
            self.router = annotations.router;
        }
        Ok(())
    }
}

fn end_of(section: &Section<'_>) -> u32 {
    // Sections with fixed places are looked at before 4 GiB of a message are there.
    u32::try_from(section.end()).unwrap_or(u32::MAX)
}

fn refusal(error: AnnotationsError) -> Refusal {
    match error {
        AnnotationsError::NotAMap => Refusal::Annotations("Invalid message annotations section - missing map type"),
        AnnotationsError::OddCount => Refusal::Annotations("Invalid MA map count (odd number of fields)"),
        AnnotationsError::To => Refusal::Annotations("to-override not a valid string type"),
        AnnotationsError::Ingress => Refusal::Annotations("ingress router not a string type"),
        AnnotationsError::Trace => Refusal::Annotations("trace annotation is not a list"),
        AnnotationsError::TraceEntry => Refusal::Annotations("trace list contains non-string entries"),
        AnnotationsError::Malformed(_) => Refusal::Format,
    }
}

/// Router annotations that this router puts into an outgoing message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RouterPart<'a> {
    /// `x-opt-qd.phase`; 0: left out.
    pub(crate) phase: u8,
    /// `x-opt-qd.stream`: the router that it goes to need not wait for its end.
    pub(crate) stream: bool,
    /// `x-opt-qd.to`.
    pub(crate) to_override: Option<&'a str>,
    /// Its way begins here: where it came from is left out.
    pub(crate) anew: bool,
    /// This router, as it stands in ingress and trace (`0/<router id>`); `None` on edge routers, which leave no trace.
    pub(crate) this_router: Option<&'a str>,
}

impl Layout {
    /// Of a message that goes out as it is.
    pub(crate) fn plain(message_format: u32) -> Self {
        Self { message_format, ..Self::default() }
    }

    /// Whether the message cannot go out as it came in: `annotate` says whether the connection that it leaves by gets
    /// router annotations.
    #[inline]
    pub(crate) fn needs_edit(&self, annotate: bool) -> bool {
        annotate || self.router_part
    }

    /// The message annotations to put in place of those that came; `section` is the one that came, `router` what this
    /// router adds.
    pub(crate) fn edit(&self, section: &[u8], router: Option<RouterPart<'_>>) -> Vec<u8> {
        let mut value = Decoder::new(section);
        // It was decoded when the message came in: what fails here is only that there is none.
        let came = match value.read_descriptor() {
            Ok(_) => MessageAnnotations::decode(value.rest()).unwrap_or_default(),
            Err(_) => MessageAnnotations::default(),
        };
        let anew = router.is_some_and(|router| router.anew);
        let kept = if self.keep && !anew { came.router } else { RouterAnnotations::default() };
        let goes = router.map_or_else(RouterAnnotations::default, |router| RouterAnnotations {
            phase: router.phase,
            stream: router.stream,
            to: router.to_override,
            ingress: kept.ingress.or(router.this_router),
            trace: kept.trace,
        });
        let mut section = Vec::new();
        write_message_annotations(&mut section, &came.user, &goes, router.and_then(|router| router.this_router));
        section
    }

    /// Where the message annotations begin, or would, and where they end.
    pub(crate) fn annotations_range(&self) -> std::ops::Range<usize> {
        self.before as usize..(self.before + self.annotations) as usize
    }

    /// The section of message annotations; empty if there is none.
    pub(crate) fn annotations<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        bytes.get(self.annotations_range()).unwrap_or_default()
    }

    /// The parts of a message in which `edit` takes the place of the message annotations.
    pub(crate) fn edited<'b>(&self, bytes: &'b [u8], edit: &'b [u8]) -> [&'b [u8]; 3] {
        let annotations = self.annotations_range();
        let before = bytes.get(..annotations.start).unwrap_or_default();
        [before, edit, bytes.get(annotations.end..).unwrap_or_default()]
    }
}

#[cfg(test)]
mod tests;
