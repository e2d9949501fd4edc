//! Connections and sessions of the broker: a task for each.

use super::{Order, Shared, links};
use fe2o3_amqp::acceptor::{
    ConnectionAcceptor, LinkAcceptor, ListenerSessionHandle, SaslAnonymousMechanism, SessionAcceptor,
};
use fe2o3_amqp::transaction::coordinator::ControlLinkAcceptor;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::net::{TcpListener, TcpStream};

/// Takes connections for as long as the task runs.
pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((socket, _)) = listener.accept().await {
        tokio::spawn(serve(socket, Arc::clone(&shared)));
    }
}

/// A connection that fails is over; the peer makes another one.
async fn serve(socket: TcpStream, shared: Arc<Shared>) {
    let acceptor = ConnectionAcceptor::builder()
        .container_id("fe2o3-broker")
        .sasl_acceptor(SaslAnonymousMechanism::new())
        .properties(shared.script().properties.clone())
        .build();
    let mut orders = shared.orders.subscribe();
    let Ok(mut connection) = acceptor.accept(shared.gates.through(socket)).await else { return };
    let sessions = SessionAcceptor::builder().control_link_acceptor(ControlLinkAcceptor::default()).build();
    loop {
        tokio::select! {
            incoming = connection.next_incoming_session() => {
                let Some(incoming) = incoming else { break };
                let Ok(session) = sessions.accept_incoming_session(incoming, &mut connection).await else { break };
                tokio::spawn(serve_session(session, Arc::clone(&shared)));
            }
            Ok(order) = orders.recv() => {
                if let Order::CloseConnections(error) = order {
                    let _ = connection.close_with_error(error).await;
                    return;
                }
            }
        }
    }
    let _ = connection.close().await;
}

async fn serve_session(mut session: ListenerSessionHandle, shared: Arc<Shared>) {
    static NODES: AtomicU32 = AtomicU32::new(0);
    let acceptor = LinkAcceptor::builder()
        .on_dynamic_source(|mut source| {
            source.address = Some(format!("dynamic-{}", NODES.fetch_add(1, Ordering::Relaxed)));
            Some(source)
        })
        .build();
    while let Some(attach) = session.next_incoming_attach().await {
        links::attach(&acceptor, attach, &mut session, &shared).await;
    }
    let _ = session.end().await;
}
