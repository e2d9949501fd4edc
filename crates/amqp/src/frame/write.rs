//! Writing whole frames.

use super::FrameKind;
use crate::codec::{CompactFrame, ROOM};
use crate::performative::{Disposition, Flow, Transfer};
use crate::sasl::SaslFrame;
use crate::{Performative, descriptor};

/// The data offset that says that the body follows the header directly, in words of four bytes.
const NO_EXTENDED_HEADER: u8 = 2;

/// Appends a frame; `body` appends what follows its header. The frame's size is filled in afterwards.
#[inline]
pub fn write_frame(out: &mut Vec<u8>, kind: FrameKind, channel: u16, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    let kind = match kind {
        FrameKind::Amqp => 0,
        FrameKind::Sasl => 1,
    };
    let [high, low] = channel.to_be_bytes();
    out.extend_from_slice(&[0, 0, 0, 0, NO_EXTENDED_HEADER, kind, high, low]);
    body(out);
    let size = crate::codec::length(out.len() - start);
    if let Some(place) = out.get_mut(start..).and_then(<[u8]>::first_chunk_mut) {
        *place = size.to_be_bytes();
    }
}

/// Appends an AMQP frame with any performative and no payload.
pub fn write_performative(out: &mut Vec<u8>, channel: u16, performative: &Performative<'_>) {
    write_frame(out, FrameKind::Amqp, channel, |out| performative.encode(out));
}

/// Appends a SASL frame.
pub fn write_sasl(out: &mut Vec<u8>, frame: &SaslFrame) {
    write_frame(out, FrameKind::Sasl, 0, |out| frame.encode(out));
}

/// Appends a transfer frame with the payload given in parts. Beyond growing `out`, at most once for a usual transfer, it
/// allocates nothing.
#[inline]
pub fn write_transfer(out: &mut Vec<u8>, channel: u16, transfer: &Transfer<'_>, parts: &[&[u8]]) {
    let mut room = [0; ROOM];
    let mut frame = CompactFrame::new(&mut room, channel, descriptor::TRANSFER as u8);
    transfer.write(&mut frame);
    if !frame.write(out, parts) {
        write_any(out, channel, |out| transfer.encode(out), parts);
    }
}

/// Appends a disposition frame.
#[inline]
pub fn write_disposition(out: &mut Vec<u8>, channel: u16, disposition: &Disposition) {
    let mut room = [0; ROOM];
    let mut frame = CompactFrame::new(&mut room, channel, descriptor::DISPOSITION as u8);
    disposition.write(&mut frame);
    if !frame.write(out, &[]) {
        write_any(out, channel, |out| disposition.encode(out), &[]);
    }
}

/// Appends a flow frame.
#[inline]
pub fn write_flow(out: &mut Vec<u8>, channel: u16, flow: &Flow) {
    let mut room = [0; ROOM];
    let mut frame = CompactFrame::new(&mut room, channel, descriptor::FLOW as u8);
    flow.write(&mut frame);
    if !frame.write(out, &[]) {
        write_any(out, channel, |out| flow.encode(out), &[]);
    }
}

/// Appends a frame whose performative is not of the compact kind.
#[cold]
fn write_any(out: &mut Vec<u8>, channel: u16, performative: impl FnOnce(&mut Vec<u8>), parts: &[&[u8]]) {
    write_frame(out, FrameKind::Amqp, channel, |out| {
        performative(out);
        for part in parts {
            out.extend_from_slice(part);
        }
    });
}

/// Appends an empty frame, which only tells that this end is alive (section 2.4.5).
pub fn write_empty(out: &mut Vec<u8>) {
    write_frame(out, FrameKind::Amqp, 0, |_| {});
}
