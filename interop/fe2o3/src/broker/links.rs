//! Links of the broker: what comes is kept, what is kept goes out.

use super::{Answer, Order, Shared};
use fe2o3_amqp::acceptor::{LinkAcceptor, LinkEndpoint, ListenerSessionHandle};
use fe2o3_amqp::link::receiver::CreditMode;
use fe2o3_amqp::types::definitions::Error;
use fe2o3_amqp::types::messaging::{Body, DistributionMode, Outcome, Source, Target, TargetArchetype};
use fe2o3_amqp::types::performatives::Attach;
use fe2o3_amqp::types::primitives::Value;
use fe2o3_amqp::{Delivery, Receiver, Sender};
use std::sync::Arc;
use tokio::sync::broadcast;

/// Credit of those who send to the broker.
const CREDIT: u32 = 100;

/// Attaches a link and gives it a task of its own.
pub(super) async fn attach<S, T>(
    acceptor: &LinkAcceptor<S, T>,
    attach: Attach,
    session: &mut ListenerSessionHandle,
    shared: &Arc<Shared>,
) where
    S: Fn(Source) -> Option<Source>,
    T: Fn(Target) -> Option<Target>,
{
    let target = match attach.target.as_deref() {
        Some(TargetArchetype::Target(target)) => target.address.clone(),
        _ => None,
    };
    // A link that cannot be accepted has been answered by the acceptor.
    let Ok(endpoint) = acceptor.accept_incoming_attach(attach, session).await else { return };
    let address = match &endpoint {
        LinkEndpoint::Sender(sender) => sender.source().as_ref().and_then(|source| source.address.clone()),
        LinkEndpoint::Receiver(_) => target,
    }
    .unwrap_or_default();
    let refused = shared.script().refused.get(&address).cloned();
    let orders = shared.orders.subscribe();
    let shared = Arc::clone(shared);
    match endpoint {
        LinkEndpoint::Sender(sender) => {
            tokio::spawn(async move {
                match refused {
                    Some(error) => drop(sender.close_with_error(error).await),
                    None => send(sender, &address, &shared, orders).await,
                }
            });
        }
        LinkEndpoint::Receiver(receiver) => {
            tokio::spawn(async move {
                match refused {
                    Some(error) => drop(receiver.close_with_error(error).await),
                    None => receive(receiver, &address, &shared, orders).await,
                }
            });
        }
    }
}

/// The error with which the links of an address are to be closed, once they are.
async fn closed(orders: &mut broadcast::Receiver<Order>, address: &str) -> Error {
    loop {
        match orders.recv().await {
            Ok(Order::CloseLinks(of, error)) if of == address => return error,
            Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}

async fn receive(mut receiver: Receiver, address: &str, shared: &Shared, mut orders: broadcast::Receiver<Order>) {
    if shared.script().without_credit.contains(address) {
        receiver.set_credit_mode(CreditMode::Manual);
        let _ = receiver.set_credit(0).await;
    } else {
        receiver.set_credit_mode(CreditMode::Auto(CREDIT));
    }
    loop {
        let delivery: Delivery<Body<Value>> = tokio::select! {
            delivery = receiver.recv() => match delivery {
                Ok(delivery) => delivery,
                Err(_) => return drop(receiver.close().await),
            },
            error = closed(&mut orders, address) => return drop(receiver.close_with_error(error).await),
        };
        let answer = shared.script().answers.get(address).cloned().unwrap_or_default();
        // A disposition that fails is one of a link that is gone, which the next turn finds.
        let _ = match answer {
            Answer::Accept => {
                let accepted = receiver.accept(&delivery).await;
                shared.keep(address, delivery.into_message());
                accepted
            }
            Answer::Release => receiver.release(&delivery).await,
            Answer::Reject(error) => receiver.reject(&delivery, error).await,
            Answer::Modify(modified) => receiver.modify(&delivery, modified).await,
        };
    }
}

async fn send(mut sender: Sender, address: &str, shared: &Shared, mut orders: broadcast::Receiver<Order>) {
    let browses =
        sender.source().as_ref().is_some_and(|source| source.distribution_mode == Some(DistributionMode::Copy));
    let mut seen = 0;
    loop {
        let filled = shared.filled.notified();
        let next = if browses {
            let next = shared.queues().get(address).and_then(|queue| queue.get(seen).cloned());
            seen += usize::from(next.is_some());
            next
        } else {
            shared.queues().get_mut(address).and_then(|queue| queue.pop_front())
        };
        let Some(message) = next else {
            tokio::select! {
                () = filled => continue,
                _ = sender.on_detach() => return drop(sender.close().await),
                error = closed(&mut orders, address) => return drop(sender.close_with_error(error).await),
            }
        };
        tokio::select! {
            outcome = sender.send(message.clone()) => match outcome {
                Ok(Outcome::Accepted(_) | Outcome::Rejected(_)) => {}
                Ok(_) if !browses => shared.put_back(address, message),
                Ok(_) => {}
                Err(_) => {
                    if !browses {
                        shared.put_back(address, message);
                    }
                    return drop(sender.close().await);
                }
            },
            error = closed(&mut orders, address) => {
                shared.put_back(address, message);
                return drop(sender.close_with_error(error).await);
            }
        }
    }
}
