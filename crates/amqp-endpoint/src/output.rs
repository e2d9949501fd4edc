//! Bytes for the peer, gathered in one buffer.

use amqp::frame::{self, FRAME_HEADER_SIZE, FrameKind};
use amqp::performative::{Disposition, Flow, Performative, Transfer};
use amqp::sasl::SaslFrame;
use amqp::trace::{self, Direction};

use crate::header::layer_name;
use crate::shorten;

/// An empty buffer with more room than this is freed, so that an idle connection is small.
const KEPT_ROOM: usize = 256;
/// The largest first allocation made on the experience of the last turn, in bytes.
const LARGEST_HINT: usize = 64 * 1024;

/// What became of a part of a payload.
pub(crate) struct Part {
    /// Bytes written.
    pub(crate) taken: usize,
    /// The delivery needs more frames.
    pub(crate) more: bool,
}

/// Bytes of a message, in parts.
#[derive(Clone, Copy)]
pub(crate) struct Payload<'p> {
    pub(crate) parts: &'p [&'p [u8]],
    /// Bytes at the start that were sent before.
    pub(crate) skip: usize,
}

impl Payload<'_> {
    fn len(&self) -> usize {
        self.parts.iter().map(|part| part.len()).sum::<usize>().saturating_sub(self.skip)
    }

    fn copy(&self, mut count: usize, out: &mut Vec<u8>) {
        let mut skip = self.skip;
        for part in self.parts {
            let rest = part.get(skip..).unwrap_or_default();
            skip = skip.saturating_sub(part.len());
            let taken = &rest[..rest.len().min(count)];
            out.extend_from_slice(taken);
            count -= taken.len();
        }
    }
}

/// What waits to be written.
#[derive(Debug, Default)]
pub(crate) struct Output {
    bytes: Vec<u8>,
    /// Bytes at the start that are written already.
    consumed: usize,
    /// How long the buffer was when it was last written, or a little less than it was before if that is more, as large
    /// turns and small ones alternate: what the next turn is likely to need.
    hint: usize,
    /// Bytes of frames other than transfers that are not known to be written.
    owed: usize,
    /// Something was added since [`Output::was_touched`] was last asked.
    touched: bool,
    /// Bytes; the largest frame the peer accepts, once it has said so.
    max_frame_size: Option<u32>,
    /// A frame was too large for the peer, and was not written.
    oversize: bool,
    /// Frames as text, while traced.
    traces: Option<Vec<String>>,
}

impl Output {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[self.consumed..]
    }

    pub(crate) fn consume(&mut self, count: usize) {
        if self.bytes.is_empty() {
            return;
        }
        self.consumed = self.bytes.len().min(self.consumed + count);
        self.owed = self.owed.saturating_sub(count);
        if self.consumed == self.bytes.len() {
            self.hint = self.bytes.len().max(self.hint - self.hint / 16).min(LARGEST_HINT);
            self.owed = 0;
            self.consumed = 0;
            self.bytes.clear();
            if self.bytes.capacity() > KEPT_ROOM {
                self.bytes = Vec::new();
            }
        } else if self.consumed > self.bytes.len() / 2 {
            // What moves is less than what was written since the last move.
            self.bytes.drain(..self.consumed);
            self.consumed = 0;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Bytes of answers that the peer has provoked and does not read.
    pub(crate) fn owed(&self) -> usize {
        self.owed
    }

    /// Whether something was added since this was last asked.
    pub(crate) fn was_touched(&mut self) -> bool {
        std::mem::take(&mut self.touched)
    }

    pub(crate) fn header(&mut self, header: [u8; 8]) {
        let start = self.start();
        self.bytes.extend_from_slice(&header);
        self.owed += self.bytes.len() - start;
        self.tell(|text| trace::event(text, Direction::Outgoing, layer_name(header)));
    }

    pub(crate) fn sasl(&mut self, sasl: &SaslFrame) {
        let start = self.start();
        frame::write_sasl(&mut self.bytes, sasl);
        self.ended(start, FrameKind::Sasl, 0);
    }

    /// A frame without payload. Errors in it are cut to fit the peer's frame size.
    pub(crate) fn performative(&mut self, channel: u16, mut performative: Performative<'_>) {
        loop {
            let start = self.start();
            frame::write_performative(&mut self.bytes, channel, &performative);
            if self.fits(start) {
                return self.ended(start, FrameKind::Amqp, channel);
            }
            if !shorten::performative(&mut performative) {
                self.oversize = true;
                return;
            }
        }
    }

    /// Errors and annotations are cut to fit the peer's frame size.
    #[inline]
    pub(crate) fn disposition(&mut self, channel: u16, disposition: &mut Disposition) {
        loop {
            let start = self.start();
            frame::write_disposition(&mut self.bytes, channel, disposition);
            if self.fits(start) {
                return self.ended(start, FrameKind::Amqp, channel);
            }
            if !disposition.state.as_mut().is_some_and(shorten::state) {
                self.oversize = true;
                return;
            }
        }
    }

    /// Properties that do not fit the peer's frame size are left out.
    #[inline]
    pub(crate) fn flow(&mut self, channel: u16, flow: &mut Flow) {
        let start = self.start();
        frame::write_flow(&mut self.bytes, channel, flow);
        if flow.properties.is_some() && !self.fits(start) {
            flow.properties = None;
            frame::write_flow(&mut self.bytes, channel, flow);
        }
        self.ended(start, FrameKind::Amqp, channel);
    }

    /// An empty frame.
    pub(crate) fn heartbeat(&mut self) {
        let start = self.start();
        frame::write_empty(&mut self.bytes);
        self.ended(start, FrameKind::Amqp, 0);
    }

    /// A transfer frame with all of its payload; false, and nothing written, if that is more than `max` bytes.
    #[inline]
    pub(crate) fn transfer(&mut self, channel: u16, transfer: &Transfer<'_>, parts: &[&[u8]], max: usize) -> bool {
        let start = self.start();
        frame::write_transfer(&mut self.bytes, channel, transfer, parts);
        if self.bytes.len() - start > max {
            self.bytes.truncate(start);
            return false;
        }
        if self.traces.is_some() {
            self.tell_frame(start, FrameKind::Amqp, channel);
        }
        true
    }

    /// A transfer frame with as many bytes of the payload, given in parts, as fit into `max`, after the first `skip`.
    /// It is the last of its delivery if all fit and `more` is false.
    pub(crate) fn partial_transfer(
        &mut self,
        channel: u16,
        mut transfer: Transfer<'_>,
        payload: Payload<'_>,
        more: bool,
        max: usize,
    ) -> Part {
        transfer.more = true;
        let mut start = self.transfer_head(channel, &transfer);
        if self.bytes.len() - start >= max {
            // Not even the head fits: only a delivery state can be that large.
            self.bytes.truncate(start);
            transfer.state = None;
            start = self.transfer_head(channel, &transfer);
        }
        let room = max.saturating_sub(self.bytes.len() - start);
        let left = payload.len();
        if left <= room && !more {
            self.bytes.truncate(start);
            transfer.more = false;
            start = self.transfer_head(channel, &transfer);
        }
        let taken = left.min(room);
        payload.copy(taken, &mut self.bytes);
        let size = (self.bytes.len() - start) as u32;
        self.bytes[start..start + 4].copy_from_slice(&size.to_be_bytes());
        if self.traces.is_some() {
            self.tell_frame(start, FrameKind::Amqp, channel);
        }
        Part { taken, more: transfer.more }
    }

    fn transfer_head(&mut self, channel: u16, transfer: &Transfer<'_>) -> usize {
        let start = self.start();
        frame::write_transfer(&mut self.bytes, channel, transfer, &[]);
        start
    }

    /// Whether the frame that begins at `start` is one the peer accepts; if not, it is taken away.
    #[inline]
    fn fits(&mut self, start: usize) -> bool {
        let fits = self.max_frame_size.is_none_or(|max| self.bytes.len() - start <= max as usize);
        if !fits {
            self.bytes.truncate(start);
        }
        fits
    }

    /// From now on no larger frame is written.
    pub(crate) fn set_max_frame_size(&mut self, max: u32) {
        self.max_frame_size = Some(max);
    }

    /// Whether a frame could not be written because it was too large for the peer.
    #[inline]
    pub(crate) fn take_oversize(&mut self) -> bool {
        std::mem::take(&mut self.oversize)
    }

    /// Remembers that a frame begins here, at the place returned.
    #[inline]
    fn start(&mut self) -> usize {
        self.touched = true;
        if self.bytes.is_empty() && self.bytes.capacity() < self.hint {
            self.bytes.reserve(self.hint + self.hint / 8);
        }
        self.bytes.len()
    }

    #[inline]
    fn ended(&mut self, start: usize, kind: FrameKind, channel: u16) {
        self.owed += self.bytes.len() - start;
        if self.traces.is_some() {
            self.tell_frame(start, kind, channel);
        }
    }

    pub(crate) fn trace(&mut self, on: bool) {
        match on {
            true => drop(self.traces.get_or_insert_default()),
            false => self.traces = None,
        }
    }

    #[inline]
    pub(crate) fn is_traced(&self) -> bool {
        self.traces.is_some()
    }

    pub(crate) fn take_traces(&mut self) -> Vec<String> {
        self.traces.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Keeps what `describe` writes, if traced.
    pub(crate) fn tell(&mut self, describe: impl FnOnce(&mut String)) {
        if let Some(traces) = &mut self.traces {
            let mut text = String::new();
            describe(&mut text);
            traces.push(text);
        }
    }

    #[cold]
    fn tell_frame(&mut self, start: usize, kind: FrameKind, channel: u16) {
        let Self { bytes, traces: Some(traces), .. } = self else { return };
        let body = &bytes[start + FRAME_HEADER_SIZE..];
        let mut text = String::new();
        match kind {
            FrameKind::Amqp => trace::frame(&mut text, Direction::Outgoing, channel, body),
            FrameKind::Sasl => trace::sasl_frame(&mut text, Direction::Outgoing, body),
        }
        traces.push(text);
    }
}
