//! A cable between two ends of a connection, which can be cut.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Passes on whatever is sent to its port, until it is cut.
pub(crate) struct Cable {
    pub(crate) port: u16,
    cut: Arc<AtomicBool>,
    streams: Arc<Mutex<Vec<TcpStream>>>,
}

impl Cable {
    /// A cable to this port.
    pub(crate) fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("some port is free");
        let own = listener.local_addr().expect("it is bound").port();
        let cable = Self { port: own, cut: Arc::default(), streams: Arc::default() };
        let (cut, streams) = (Arc::clone(&cable.cut), Arc::clone(&cable.streams));
        std::thread::spawn(move || {
            for near in listener.incoming().flatten() {
                if cut.load(Ordering::SeqCst) {
                    return;
                }
                if let Ok(far) = TcpStream::connect(("127.0.0.1", port)) {
                    lay(near, far, &streams);
                }
            }
        });
        cable
    }

    /// Ends all connections through it, and lets none begin.
    pub(crate) fn cut(&self) {
        self.cut.store(true, Ordering::SeqCst);
        // The thread that accepts takes notice, and stops listening.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        for stream in self.streams.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

/// Passes on what is sent on either of two sockets.
fn lay(near: TcpStream, far: TcpStream, streams: &Mutex<Vec<TcpStream>>) {
    let twin = |stream: &TcpStream| stream.try_clone().expect("there are file descriptors left");
    streams.lock().unwrap_or_else(PoisonError::into_inner).extend([twin(&near), twin(&far)]);
    for (mut from, mut to) in [(twin(&near), twin(&far)), (far, near)] {
        std::thread::spawn(move || {
            let mut buffer = [0; 16 * 1024];
            while let Ok(count @ 1..) = from.read(&mut buffer) {
                if to.write_all(&buffer[..count]).is_err() {
                    break;
                }
            }
            let _ = to.shutdown(Shutdown::Both);
        });
    }
}
