//! A socket that can be made to read nothing, or to be cut off, while a connection runs over it.

use std::io::{Error, ErrorKind, Result};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Open,
    /// Nothing is read.
    Shut,
    /// Nothing is read or written any more.
    Cut,
}

#[derive(Debug, Default)]
struct Control {
    state: State,
    waiting: Vec<Waker>,
}

/// The gates of all connections of a broker.
#[derive(Clone, Debug, Default)]
pub(super) struct Gates(Arc<Mutex<Control>>);

impl Gates {
    pub(super) fn through<S>(&self, socket: S) -> Gated<S> {
        Gated { socket, gates: self.clone() }
    }

    pub(super) fn shut(&self) {
        self.set(State::Shut);
    }

    pub(super) fn open(&self) {
        self.set(State::Open);
    }

    pub(super) fn cut(&self) {
        self.set(State::Cut);
    }

    fn set(&self, state: State) {
        let mut control = self.0.lock().expect("nothing fails while it is held");
        control.state = state;
        control.waiting.drain(..).for_each(Waker::wake);
    }

    /// The state now; whoever waits for another one is woken when it comes.
    fn state(&self, context: &Context<'_>) -> State {
        let mut control = self.0.lock().expect("nothing fails while it is held");
        control.waiting.retain(|waker| !waker.will_wake(context.waker()));
        control.waiting.push(context.waker().clone());
        control.state
    }
}

/// A socket behind the gates.
#[derive(Debug)]
pub(super) struct Gated<S> {
    socket: S,
    gates: Gates,
}

impl<S: AsyncRead + Unpin> AsyncRead for Gated<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        match self.gates.state(context) {
            State::Open => Pin::new(&mut self.socket).poll_read(context, buffer),
            State::Shut => Poll::Pending,
            State::Cut => Poll::Ready(Err(Error::from(ErrorKind::ConnectionReset))),
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Gated<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        if self.gates.state(context) == State::Cut {
            return Poll::Ready(Err(Error::from(ErrorKind::BrokenPipe)));
        }
        Pin::new(&mut self.socket).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}
