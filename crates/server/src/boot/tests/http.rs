//! Routers that speak HTTP: what they answer, and AMQP over WebSockets.

use super::*;
use crate::shard::tests::client::{Client, Happened, Wire, message};
use crate::shard::tests::router::PATIENCE;
use amqp::DeliveryState;
use amqp_endpoint::ConnectionConfig;
use rustls::{ClientConnection, StreamOwned};
use std::io::{self, Read, Write};
use std::time::Duration;
use tungstenite::client::IntoClientRequest;
use tungstenite::handshake::client::Response;
use tungstenite::http::HeaderValue;
use tungstenite::{Message, WebSocket};

mod https;
mod pages;
mod websockets;

/// A router with an HTTP listener, and its port.
async fn router(listener: &str, sections: &str) -> (Router, u16) {
    let port = free_port();
    let mut router =
        Router::start(&format!("listener {{\n host: 127.0.0.1\n port: {port}\n name: web\n{listener}}}\n{sections}"));
    router.until_listening().await;
    (router, port)
}

/// Sends bytes and reads to the end.
fn exchange(port: u16, bytes: &[u8]) -> String {
    let mut socket = socket(port);
    socket.write_all(bytes).unwrap();
    let mut answer = Vec::new();
    // A reset ends it as well as a close.
    let _ = socket.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn socket(port: u16) -> TcpStream {
    let socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

fn request(method: &str, path: &str) -> Vec<u8> {
    format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").into_bytes()
}

/// A client's end of a WebSocket, read and written as bytes.
struct Binary<S> {
    socket: WebSocket<S>,
    unread: Vec<u8>,
}

impl<S: Read + Write> Read for Binary<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.unread.is_empty() {
            match self.socket.read() {
                Ok(Message::Binary(bytes)) => self.unread.extend(bytes),
                Ok(Message::Close(_)) => return Ok(0),
                Ok(_) => {}
                Err(tungstenite::Error::Io(error)) => return Err(error),
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        let count = self.unread.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.unread[..count]);
        self.unread.drain(..count);
        Ok(count)
    }
}

impl<S: Read + Write> Write for Binary<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Messages that end anywhere.
        let part = bytes.len().min(1000);
        let message = Message::Binary(bytes[..part].to_vec().into());
        self.socket.send(message).map(|()| part).map_err(io::Error::other)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<S: Read + Write + Socket + Send> Wire for Binary<S> {
    fn socket(&self) -> &TcpStream {
        self.socket.get_ref().tcp()
    }
}

/// Something with a socket beneath.
trait Socket {
    fn tcp(&self) -> &TcpStream;
}

impl Socket for TcpStream {
    fn tcp(&self) -> &TcpStream {
        self
    }
}

impl Socket for StreamOwned<ClientConnection, TcpStream> {
    fn tcp(&self) -> &TcpStream {
        self.get_ref()
    }
}

/// A client over a WebSocket whose handshake is done.
fn client_over<S: Read + Write + Socket + Send + 'static>(socket: WebSocket<S>) -> Client {
    let config = ConnectionConfig { container_id: "over-websocket".to_owned(), ..ConnectionConfig::default() };
    Client::over(Box::new(Binary { socket, unread: Vec::new() }), config)
}

impl Router {
    /// Deletes the HTTP listener.
    fn delete_web(&mut self) {
        let rows = self.plane.entities.list(type_of("listener"));
        let web = rows.iter().find(|row| row.text("name") == Some("web")).unwrap();
        self.delete("listener", web.text("identity").unwrap()).unwrap();
    }

    /// The answer to a GET: status line and headers, body.
    async fn get(&mut self, port: u16, path: &str) -> (String, String) {
        let request = request("GET", path);
        let answer = self.meanwhile(move || exchange(port, &request)).await;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        (head.to_owned(), body.to_owned())
    }
}
