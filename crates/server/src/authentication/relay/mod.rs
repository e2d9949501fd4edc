//! Authentication by another service (`authServicePlugin`): what it says of mechanisms is passed on to the client, and
//! what the client says is passed on to it, until it says who the client is.
//!
//! The client's side ([`Relay`]) is asked by a shard; the service's side ([`conversation`]) is a task of the control
//! plane's. Each leaves the other a word in [`Between`].

mod conversation;
mod identity;
mod line;

use std::sync::Arc;

use amqp::Symbol;
use amqp::sasl::SaslCode;
use amqp_endpoint::{Readiness, SaslServer, SaslStep};
use config::AuthServiceConfig;
use parking_lot::Mutex;
use security::Mechanisms;
use tokio::runtime::Handle;
use tokio::sync::{Notify, Semaphore};

use crate::control::live_profile::LiveProfile;
use crate::shard::SaslHandle;
use identity::Identity;

/// A service, and who asks it.
pub(super) struct Service {
    config: Arc<AuthServiceConfig>,
    /// For TLS, if it is wanted.
    profile: Option<Arc<LiveProfile>>,
    /// Our container's name.
    router_id: String,
}

impl Service {
    pub(super) fn new(config: Arc<AuthServiceConfig>, profile: Option<Arc<LiveProfile>>, router_id: &str) -> Self {
        Self { config, profile, router_id: router_id.to_owned() }
    }
}

/// What the two sides leave for each other.
struct Between {
    state: Mutex<State>,
    /// Something was left for the service's side.
    told: Notify,
    handle: SaslHandle,
}

#[derive(Default)]
struct State {
    to_client: Option<FromService>,
    to_service: Option<FromClient>,
    /// The client is gone, or through.
    over: bool,
}

/// What the service says.
enum FromService {
    Mechanisms(Vec<Symbol>),
    Challenge(Vec<u8>),
    Accepted(Identity),
    Failed(SaslCode, String),
}

/// What the client says.
enum FromClient {
    Init(Symbol, Option<Vec<u8>>),
    Response(Vec<u8>),
}

impl Between {
    /// For the client.
    fn tell_client(&self, word: FromService) {
        self.state.lock().to_client = Some(word);
        self.handle.poke();
    }

    /// For the service.
    fn tell_service(&self, word: FromClient) {
        self.state.lock().to_service = Some(word);
        self.told.notify_one();
    }
}

/// The client's side.
pub(super) struct Relay {
    service: Arc<Service>,
    only: Option<Vec<String>>,
    runtime: Handle,
    relays: Arc<Semaphore>,
    between: Arc<Between>,
    begun: bool,
    offered: Option<Vec<Symbol>>,
    reason: Option<String>,
}

impl Relay {
    pub(super) fn new(
        service: Arc<Service>,
        only: Option<Vec<String>>,
        runtime: &Handle,
        relays: Arc<Semaphore>,
        handle: &SaslHandle,
    ) -> Self {
        let between = Arc::new(Between { state: Mutex::default(), told: Notify::new(), handle: handle.clone() });
        Self { service, only, runtime: runtime.clone(), relays, between, begun: false, offered: None, reason: None }
    }

    /// Asks the service what it offers.
    fn begin(&mut self) -> Readiness {
        self.begun = true;
        let Ok(permit) = Arc::clone(&self.relays).try_acquire_owned() else {
            self.reason = Some("too many wait for authentication services already".to_owned());
            return Readiness::Failed(SaslCode::SysTemp);
        };
        let (service, between) = (Arc::clone(&self.service), Arc::clone(&self.between));
        self.runtime.spawn(async move {
            conversation::hold(&service, between).await;
            drop(permit);
        });
        Readiness::Pending
    }

    /// What comes after the client has said something.
    fn next(&mut self) -> SaslStep {
        let word = self.between.state.lock().to_client.take();
        match word {
            None => SaslStep::Pending,
            Some(FromService::Challenge(challenge)) => SaslStep::Challenge(challenge),
            Some(FromService::Accepted(Identity { user, authorised })) => {
                if let Some(authorised) = authorised {
                    self.between.handle.authorise(authorised);
                }
                logging::log!(AUTHSERVICE, Info, "authenticated as {}", user.escape_debug());
                SaslStep::Done { user: Some(user), additional_data: None }
            }
            Some(FromService::Failed(code, reason)) => {
                self.reason = Some(reason);
                SaslStep::Failed(code)
            }
            Some(FromService::Mechanisms(_)) => {
                self.reason = Some("the authentication service begins anew".to_owned());
                SaslStep::Failed(SaslCode::Sys)
            }
        }
    }

    fn offer(&mut self, mechanisms: Vec<Symbol>) -> Readiness {
        let only = self.only.as_ref();
        let wanted =
            |name: &Symbol| only.is_none_or(|only| only.iter().any(|one| one.eq_ignore_ascii_case(name.as_str())));
        let offered: Vec<Symbol> = mechanisms.into_iter().filter(wanted).collect();
        if offered.is_empty() {
            self.reason = Some("saslMechanisms names none of those that the authentication service offers".to_owned());
            return Readiness::Failed(SaslCode::Sys);
        }
        self.offered = Some(offered);
        Readiness::Ready
    }
}

impl SaslServer for Relay {
    fn prepare(&mut self) -> Readiness {
        if !self.begun {
            return self.begin();
        }
        if self.offered.is_some() {
            return Readiness::Ready;
        }
        let word = self.between.state.lock().to_client.take();
        match word {
            None => Readiness::Pending,
            Some(FromService::Mechanisms(mechanisms)) => self.offer(mechanisms),
            Some(FromService::Failed(code, reason)) => {
                self.reason = Some(reason);
                Readiness::Failed(code)
            }
            Some(FromService::Challenge(_) | FromService::Accepted(_)) => Readiness::Failed(SaslCode::Sys),
        }
    }

    fn mechanisms(&self) -> Vec<Symbol> {
        self.offered.clone().unwrap_or_default()
    }

    fn init(&mut self, mechanism: &str, initial_response: Option<&[u8]>, _hostname: Option<&str>) -> SaslStep {
        let response = initial_response.map(<[u8]>::to_vec);
        self.between.tell_service(FromClient::Init(Symbol::from(mechanism), response));
        self.next()
    }

    fn response(&mut self, response: &[u8]) -> SaslStep {
        self.between.tell_service(FromClient::Response(response.to_vec()));
        self.next()
    }

    fn resume(&mut self) -> SaslStep {
        self.next()
    }
}

impl Mechanisms for Relay {
    fn reason(&self) -> Option<String> {
        self.reason.clone()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.between.state.lock().over = true;
        self.between.told.notify_one();
    }
}
