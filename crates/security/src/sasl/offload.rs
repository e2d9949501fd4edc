//! Mechanisms whose steps may block, taken to threads where they may.

use std::sync::Arc;

use amqp::Symbol;
use amqp::sasl::SaslCode;
use amqp_endpoint::{ClientStep, Readiness, SaslClient, SaslServer, SaslStep, SecurityLayer};
use parking_lot::Mutex;

use super::Mechanisms;
use super::workers::{Busy, Workers};

/// Called when there is something new to be asked of a mechanism, from any thread.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// Something that is either here, or away with what it is to do.
struct Away<M, R> {
    workers: Workers,
    wake: Wake,
    place: Place<M, R>,
}

enum Place<M, R> {
    Here(M),
    Away(Arc<Mutex<Option<(M, R)>>>),
    /// It could not be sent away, and is gone.
    Lost,
}

impl<M: Send + 'static, R: Send + 'static> Away<M, R> {
    fn new(here: M, workers: Workers, wake: Wake) -> Self {
        Self { workers, wake, place: Place::Here(here) }
    }

    /// Sends it to do something.
    fn send(&mut self, work: impl FnOnce(&mut M) -> R + Send + 'static) -> Result<(), Busy> {
        let Place::Here(mut it) = std::mem::replace(&mut self.place, Place::Lost) else { return Err(Busy) };
        let letter = Arc::new(Mutex::new(None));
        let (back, wake) = (Arc::clone(&letter), Arc::clone(&self.wake));
        self.workers.submit(move || {
            let result = work(&mut it);
            *back.lock() = Some((it, result));
            wake();
        })?;
        self.place = Place::Away(letter);
        Ok(())
    }

    /// What came of it, once.
    fn result(&mut self) -> Option<R> {
        let Place::Away(letter) = &self.place else { return None };
        let (it, result) = letter.lock().take()?;
        self.place = Place::Here(it);
        Some(result)
    }

    fn here(&mut self) -> Option<&mut M> {
        match &mut self.place {
            Place::Here(it) => Some(it),
            Place::Away(_) | Place::Lost => None,
        }
    }
}

/// What a server's mechanisms have found out.
enum Found {
    Prepared(Readiness, Vec<Symbol>),
    Step(SaslStep),
}

/// A server's mechanisms, whose steps are done by [`Workers`].
pub struct OffloadedServer {
    away: Away<Box<dyn Mechanisms>, Found>,
    offered: Option<Vec<Symbol>>,
    busy: bool,
}

impl OffloadedServer {
    /// Has the steps of `mechanisms` done by `workers`; `wake` is called after each.
    pub fn new(mechanisms: Box<dyn Mechanisms>, workers: Workers, wake: Wake) -> Self {
        Self { away: Away::new(mechanisms, workers, wake), offered: None, busy: false }
    }

    fn step(&mut self, work: impl FnOnce(&mut Box<dyn Mechanisms>) -> SaslStep + Send + 'static) -> SaslStep {
        match self.away.send(move |mechanisms| Found::Step(work(mechanisms))) {
            Ok(()) => SaslStep::Pending,
            Err(Busy) => {
                self.busy = true;
                SaslStep::Failed(SaslCode::SysTemp)
            }
        }
    }
}

impl SaslServer for OffloadedServer {
    fn prepare(&mut self) -> Readiness {
        if self.offered.is_some() {
            return Readiness::Ready;
        }
        match self.away.result() {
            Some(Found::Prepared(readiness, offered)) => {
                self.offered = Some(offered);
                return readiness;
            }
            Some(Found::Step(_)) => return Readiness::Failed(SaslCode::Sys),
            None => {}
        }
        if self.away.here().is_none() {
            return Readiness::Pending;
        }
        let asked = self.away.send(|mechanisms| {
            let readiness = mechanisms.prepare();
            Found::Prepared(readiness, mechanisms.mechanisms())
        });
        if asked.is_err() {
            self.busy = true;
            return Readiness::Failed(SaslCode::SysTemp);
        }
        Readiness::Pending
    }

    fn mechanisms(&self) -> Vec<Symbol> {
        self.offered.clone().unwrap_or_default()
    }

    fn init(&mut self, mechanism: &str, initial_response: Option<&[u8]>, hostname: Option<&str>) -> SaslStep {
        let (mechanism, hostname) = (mechanism.to_owned(), hostname.map(str::to_owned));
        let response = initial_response.map(<[u8]>::to_vec);
        self.step(move |mechanisms| mechanisms.init(&mechanism, response.as_deref(), hostname.as_deref()))
    }

    fn response(&mut self, response: &[u8]) -> SaslStep {
        let response = response.to_vec();
        self.step(move |mechanisms| mechanisms.response(&response))
    }

    fn resume(&mut self) -> SaslStep {
        match self.away.result() {
            Some(Found::Step(step)) => step,
            Some(Found::Prepared(..)) => SaslStep::Failed(SaslCode::Sys),
            None => SaslStep::Pending,
        }
    }

    fn security_layer(&mut self) -> Option<Box<dyn SecurityLayer>> {
        self.away.here()?.security_layer()
    }
}

impl Mechanisms for OffloadedServer {
    fn reason(&self) -> Option<String> {
        match &self.away.place {
            _ if self.busy => Some(Busy.to_string()),
            Place::Here(mechanisms) => mechanisms.reason(),
            Place::Away(_) | Place::Lost => None,
        }
    }
}

/// A client's mechanisms, whose steps are done by [`Workers`].
pub struct OffloadedClient(Away<Box<dyn SaslClient>, ClientStep>);

impl OffloadedClient {
    /// Has the steps of `mechanisms` done by `workers`; `wake` is called after each.
    pub fn new(mechanisms: Box<dyn SaslClient>, workers: Workers, wake: Wake) -> Self {
        Self(Away::new(mechanisms, workers, wake))
    }

    fn step(&mut self, work: impl FnOnce(&mut Box<dyn SaslClient>) -> ClientStep + Send + 'static) -> ClientStep {
        match self.0.send(work) {
            Ok(()) => ClientStep::Pending,
            Err(busy) => ClientStep::Failed(busy.to_string()),
        }
    }
}

impl SaslClient for OffloadedClient {
    fn choose(&mut self, offered: &[Symbol]) -> ClientStep {
        let offered = offered.to_vec();
        self.step(move |mechanisms| mechanisms.choose(&offered))
    }

    fn challenge(&mut self, challenge: &[u8]) -> ClientStep {
        let challenge = challenge.to_vec();
        self.step(move |mechanisms| mechanisms.challenge(&challenge))
    }

    fn resume(&mut self) -> ClientStep {
        self.0.result().unwrap_or(ClientStep::Pending)
    }

    fn user(&self) -> Option<String> {
        match &self.0.place {
            Place::Here(mechanisms) => mechanisms.user(),
            Place::Away(_) | Place::Lost => None,
        }
    }

    fn finish(&mut self, additional_data: Option<&[u8]>) -> Result<(), String> {
        let here = self.0.here().ok_or("the server ends the exchange too early")?;
        here.finish(additional_data)
    }

    fn security_layer(&mut self) -> Option<Box<dyn SecurityLayer>> {
        self.0.here()?.security_layer()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ServerMechanisms;
    use std::sync::mpsc;

    /// Offloaded ANONYMOUS, and what tells of each wake-up.
    fn anonymous(workers: &Workers) -> (OffloadedServer, mpsc::Receiver<()>) {
        let (sender, woken) = mpsc::channel();
        let wake: Wake = Arc::new(move || sender.send(()).unwrap_or_default());
        let mechanisms = Box::new(ServerMechanisms::new().anonymous());
        (OffloadedServer::new(mechanisms, workers.clone(), wake), woken)
    }

    #[test]
    fn each_step_is_pending_until_it_is_done_elsewhere() {
        let (mut server, woken) = anonymous(&Workers::new(1, 8));
        assert_eq!(server.prepare(), Readiness::Pending);
        woken.recv().unwrap();
        assert_eq!((server.prepare(), server.mechanisms()), (Readiness::Ready, vec![Symbol::from("ANONYMOUS")]));
        assert_eq!(server.init("ANONYMOUS", None, None), SaslStep::Pending);
        woken.recv().unwrap();
        let done = SaslStep::Done { user: Some("anonymous".to_owned()), additional_data: None };
        assert_eq!((server.resume(), server.resume()), (done, SaslStep::Pending));
    }

    #[test]
    fn with_too_much_to_do_clients_are_told_to_try_again_later() {
        let (mut server, _woken) = anonymous(&Workers::new(1, 0));
        assert_eq!(server.prepare(), Readiness::Failed(SaslCode::SysTemp));
        assert_eq!(server.reason().as_deref(), Some("too many authentications are under way"));
    }
}
