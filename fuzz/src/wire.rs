//! Two ends of a connection in memory: what one writes the other reads, in pieces of any size.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::rc::Rc;

/// One direction.
#[derive(Clone, Default)]
pub struct Pipe(Rc<RefCell<VecDeque<u8>>>);

impl Pipe {
    /// Adds bytes.
    pub fn push(&self, bytes: &[u8]) {
        self.0.borrow_mut().extend(bytes);
    }

    /// Takes all bytes.
    pub fn take(&self) -> Vec<u8> {
        self.0.borrow_mut().drain(..).collect()
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One end. It never waits.
pub struct Wire {
    /// What is read.
    pub reads: Pipe,
    /// What is written.
    pub writes: Pipe,
    /// Bytes given at a time, at most.
    pub at_a_time: usize,
    /// Nothing comes any more once all is read.
    pub ended: Rc<RefCell<bool>>,
}

impl Wire {
    /// An end that nobody is at the other end of.
    pub fn new(at_a_time: usize) -> Self {
        Self { reads: Pipe::default(), writes: Pipe::default(), at_a_time, ended: Rc::default() }
    }
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut pipe = self.reads.0.borrow_mut();
        let count = pipe.len().min(buffer.len()).min(self.at_a_time);
        if count == 0 {
            return if *self.ended.borrow() { Ok(0) } else { Err(ErrorKind::WouldBlock.into()) };
        }
        for (place, byte) in buffer.iter_mut().zip(pipe.drain(..count)) {
            *place = byte;
        }
        Ok(count)
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writes.push(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
