//! AMQP in the binary messages of a WebSocket (RFC 6455; AMQP WebSocket Binding, section 2.4): a layer over the transport
//! beneath. The handshake is over when it begins: see [`crate::http`].
//!
//! What the messages are and where they end means nothing to AMQP, so bytes pass as they come: nothing is gathered, and a
//! frame may be as long as its peer likes without costing memory.

mod decoder;
#[cfg(test)]
mod tests;

use std::io;

use mio::net::TcpStream;
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{CloseCode, Control, Data, OpCode};

use super::arrival::Unencrypted;
use super::tls_layer::TlsLayer;
use super::transport::Transport;
use decoder::{Decoder, Ended};

/// How often the transport beneath is read for one read of ours when nothing but control frames comes.
const READS: usize = 8;

/// A WebSocket, of which this is the server.
pub(super) struct WebSocket {
    beneath: Transport,
    /// Bytes that came along with the handshake.
    early: Vec<u8>,
    decoder: Decoder,
    /// How the client has ended, if it has.
    ended: Option<Ended>,
    /// Own bytes that go out before anything else: control frames, and the header of the frame begun.
    own: Vec<u8>,
    /// Bytes of payload that the frame begun still has to have.
    owed: usize,
    /// A closing frame to be sent once the frame begun is whole.
    farewell: Option<(CloseCode, &'static str)>,
    /// A closing frame has been sent, or is on its way.
    closing: bool,
    /// There may be more to read without an event.
    more: bool,
}

impl WebSocket {
    /// Over a socket on which the handshake is done.
    pub(super) fn new(Unencrypted { stream, tls, early }: Unencrypted) -> Self {
        let stream = TcpStream::from_std(stream);
        let beneath = match tls {
            None => Transport::Plain(stream),
            Some((session, outgoing)) => Transport::Tls(Box::new(TlsLayer::resume(stream, session, outgoing))),
        };
        Self {
            beneath,
            early,
            decoder: Decoder::default(),
            ended: None,
            own: Vec::new(),
            owed: 0,
            farewell: None,
            closing: false,
            more: false,
        }
    }

    pub(super) fn beneath(&self) -> &Transport {
        &self.beneath
    }

    pub(super) fn beneath_mut(&mut self) -> &mut Transport {
        &mut self.beneath
    }

    /// Reads payload. Without any it would block, and there may be more all the same: see [`WebSocket::has_more`].
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.more = false;
        for _ in 0..READS {
            match self.ended {
                None => {}
                Some(Ended::Closed(_)) => return Ok(0),
                Some(Ended::Violation(_, what)) => return Err(io::Error::new(io::ErrorKind::InvalidData, what)),
            }
            let count = match self.take_in(buffer) {
                Ok(0) => return Ok(0),
                Ok(count) => count,
                Err(error) => {
                    self.more = self.beneath.has_more();
                    return Err(error);
                }
            };
            let (payload, ended) = self.decoder.decode(buffer.get_mut(..count).unwrap_or_default());
            if let Some(ended) = ended {
                self.end(ended);
            }
            if payload > 0 {
                self.more =
                    count == buffer.len() || ended.is_some() || !self.early.is_empty() || self.beneath.has_more();
                return Ok(payload);
            }
        }
        self.more = true;
        Err(io::ErrorKind::WouldBlock.into())
    }

    /// Bytes as they come.
    fn take_in(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.early.is_empty() {
            return self.beneath.read(buffer);
        }
        let count = self.early.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.early[..count]);
        self.early.drain(..count);
        Ok(count)
    }

    /// The client's frames have ended: it is told so in return, or what it did wrong.
    fn end(&mut self, ended: Ended) {
        self.ended = Some(ended);
        match ended {
            Ended::Closed(code) => self.say_farewell(code, ""),
            Ended::Violation(code, what) => self.say_farewell(code, what),
        }
        // Whether there is room or not: nobody may be left to try again.
        let _ = self.flush();
    }

    fn say_farewell(&mut self, code: CloseCode, reason: &'static str) {
        if !std::mem::replace(&mut self.closing, true) {
            self.farewell = Some((code, reason));
        }
    }

    /// Whether [`WebSocket::read`] may find more without an event.
    pub(super) fn has_more(&self) -> bool {
        self.more
    }

    /// Whether something waits to be written other than what AMQP has to say.
    pub(super) fn wants_write(&self) -> bool {
        let may_speak = self.owed == 0;
        !self.own.is_empty()
            || may_speak && (self.farewell.is_some() || !self.decoder.pings.is_empty() && !self.closing)
            || self.beneath.wants_write()
    }

    /// Writes what waits of that.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.prepare_control();
        while !self.own.is_empty() {
            let count = self.beneath.write(&self.own)?;
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            self.own.drain(..count);
            self.prepare_control();
        }
        self.beneath.flush()
    }

    /// Puts control frames in front of the next data frame; not into one.
    fn prepare_control(&mut self) {
        if self.owed > 0 || !self.own.is_empty() {
            return;
        }
        if !self.closing || self.farewell.is_some() {
            while let Some(ping) = self.decoder.pings.pop_front() {
                self.put_frame(OpCode::Control(Control::Pong), &ping);
            }
        }
        if let Some((code, reason)) = self.farewell.take() {
            let mut payload = Vec::new();
            if code != CloseCode::Status {
                payload.extend(u16::from(code).to_be_bytes());
                payload.extend(reason.as_bytes());
            }
            self.put_frame(OpCode::Control(Control::Close), &payload);
        }
    }

    fn put_frame(&mut self, opcode: OpCode, payload: &[u8]) {
        self.put_header(opcode, payload.len());
        self.own.extend_from_slice(payload);
    }

    fn put_header(&mut self, opcode: OpCode, size: usize) {
        let header = FrameHeader { opcode, ..FrameHeader::default() };
        // A vector takes all bytes.
        let _ = header.format(size as u64, &mut self.own);
    }

    /// Writes payload, as much as there is room for. What comes next goes on with it.
    pub(super) fn write(&mut self, payload: &[u8]) -> io::Result<usize> {
        if self.owed == 0 {
            self.prepare_control();
            if self.closing {
                self.flush()?;
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            self.put_header(OpCode::Data(Data::Binary), payload.len());
            self.owed = payload.len();
        }
        let payload = payload.get(..self.owed).unwrap_or(payload);
        loop {
            let count = self.beneath.write_both(&self.own, payload)?;
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            let own = count.min(self.own.len());
            self.own.drain(..own);
            let sent = count - own;
            self.owed -= sent;
            if sent > 0 {
                return Ok(sent);
            }
        }
    }

    /// Closes it: says so, and waits for the client to say it too. True: there is nothing more to wait for.
    pub(super) fn close(&mut self) -> bool {
        if self.owed > 0 {
            // In the middle of a frame there is no way to say anything.
            return self.beneath.close();
        }
        self.say_farewell(CloseCode::Normal, "");
        match self.flush() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => false,
            Err(_) => true,
            Ok(()) => self.ended.is_some() && self.beneath.close(),
        }
    }

    /// Why it cannot go on.
    pub(super) fn fault(&self) -> Option<String> {
        match self.ended {
            Some(Ended::Violation(_, what)) => {
                Some(format!("amqp:connection:framing-error WebSocket: the client has sent {what}"))
            }
            Some(Ended::Closed(_)) | None => self.beneath.fault(),
        }
    }
}
