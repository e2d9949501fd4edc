//! The beginning of a turn: sockets that have bytes for us are read, each once, without the core.

use std::io;
use std::sync::Arc;

use super::buffers::{BUFFER, Buffers};
use super::conn::Conn;
use super::host::{ShardHost, mark_dirty};

/// A partial frame up to this size is copied in front of what is read next. A longer one stays where it is, and the
/// buffer grows by what is read.
const COPY_MAX: usize = 16 * 1024;

/// Bytes of a connection for its endpoint.
pub(super) struct Piece {
    pub(super) slot: u32,
    pub(super) buffer: Arc<Vec<u8>>,
    pub(super) filled: usize,
}

impl ShardHost {
    /// Reads the connections whose turn it is.
    pub(super) fn read_ready(&mut self, buffers: &mut Buffers, pieces: &mut Vec<Piece>) {
        let mut slots = std::mem::take(&mut self.reading);
        let speaking = self.due.take(&mut slots);
        for (index, slot) in slots.drain(..).enumerate() {
            if index < speaking && self.conns.get(slot as usize).is_some_and(|conn| conn.flags.preparing) {
                // It has come to the place of one that is gone.
                self.due.add(slot, true);
            } else {
                self.read_slot(slot, buffers, pieces);
            }
        }
        self.reading = slots;
    }

    fn read_slot(&mut self, slot: u32, buffers: &mut Buffers, pieces: &mut Vec<Piece>) {
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        conn.flags.queued = false;
        if !conn.flags.readable || !conn.may_read() || self.rests(slot) {
            return;
        }
        let Some(conn) = self.conns.get_mut(slot as usize) else { return };
        pieces.extend(conn.read(slot, buffers));
        if conn.flags.attention {
            self.attention.push(slot);
        }
        if conn.transport.wants_write() {
            mark_dirty(&mut self.dirty, conn);
        }
        if conn.flags.preparing && conn.transport.is_ready() {
            conn.prepared(&self.shared);
            mark_dirty(&mut self.dirty, conn);
        }
        if conn.may_read() {
            self.queue_read(slot);
        }
    }

    /// What an endpoint has not used is kept for the next time.
    pub(super) fn keep_rest(&mut self, piece: Piece, used: usize, buffers: &mut Buffers) {
        let Piece { slot, buffer, filled } = piece;
        if let Some(conn) = self.conns.get_mut(slot as usize)
            && used < filled
        {
            if used == 0 && filled > COPY_MAX && buffer.len() != BUFFER {
                conn.leftover = Arc::unwrap_or_clone(buffer);
                conn.leftover.truncate(filled);
                return;
            }
            conn.leftover = buffer.get(used..filled).unwrap_or_default().to_vec();
        }
        buffers.give(buffer);
    }
}

impl Conn {
    /// Reads once. `None` if there was nothing.
    fn read(&mut self, slot: u32, buffers: &mut Buffers) -> Option<Piece> {
        let mut leftover = std::mem::take(&mut self.leftover);
        let kept = leftover.len();
        let mut buffer = if kept <= COPY_MAX {
            let mut buffer = buffers.take();
            Arc::make_mut(&mut buffer).get_mut(..kept)?.copy_from_slice(&leftover);
            buffer
        } else {
            leftover.resize(kept + BUFFER, 0);
            Arc::new(leftover)
        };
        // The buffer is nobody else's, so this does not copy it.
        let free = Arc::make_mut(&mut buffer).get_mut(kept..)?;
        let room = free.len();
        let count = match self.transport.read(free) {
            Ok(count) => count,
            Err(error) => {
                if error.kind() != io::ErrorKind::WouldBlock {
                    self.lose();
                }
                // A layer that has only got a part of something would block, too, and then the end of the stream, which has
                // been told of already, is still to be read. A socket that has ended never blocks.
                self.flags.readable = !self.flags.broken && (self.flags.half_closed || self.transport.has_more());
                self.leftover = buffer.get(..kept).unwrap_or_default().to_vec();
                buffers.give(buffer);
                return None;
            }
        };
        if count == 0 {
            self.flags.readable = false;
            self.lose();
        }
        // A read that does not fill the buffer has taken all there was; the next bytes are a new event. Only the end of
        // the stream may have come along with these, or a layer has more.
        if count < room && !self.flags.half_closed && !self.transport.has_more() {
            self.flags.readable = false;
        }
        if count == 0 {
            self.leftover = buffer.get(..kept).unwrap_or_default().to_vec();
            buffers.give(buffer);
            return None;
        }
        Some(Piece { slot, buffer, filled: kept + count })
    }
}
