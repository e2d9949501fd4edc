//! The service's side: one connection to it for one client, from the exchange of mechanisms to its open.

use std::sync::Arc;
use std::time::Duration;

use amqp::sasl::SaslCode;
use amqp::{Map, Symbol, Value};
use amqp_endpoint::{ClientStep, Connection, ConnectionConfig, Event, Input, SaslClient, Side};
use tokio::time::{Instant, timeout_at};

use super::identity::Identity;
use super::line::Line;
use super::{Between, FromClient, FromService, Service};
use crate::DISPATCH_VERSION;

/// How long all of it may take. The client's handshake has a limit of its own, which is usually shorter.
const LIMIT: Duration = Duration::from_secs(60);
/// A service that cannot be reached is tried again for so long: less than a client usually waits.
const RESTART: Duration = Duration::from_secs(4);
const RETRY: Duration = Duration::from_millis(200);
/// How long the service may take to answer our close.
const FAREWELL: Duration = Duration::from_secs(1);
/// Asks the service for the addresses that the client may use.
const ADDRESS_AUTHZ: &str = "ADDRESS-AUTHZ";

/// Holds the conversation, to whatever end.
pub(super) async fn hold(service: &Service, between: Arc<Between>) {
    let deadline = Instant::now() + LIMIT;
    let talk = Conversation::begin(service, &between);
    let result = match timeout_at(deadline, talk).await {
        Ok(Ok(mut conversation)) => timeout_at(deadline, conversation.run())
            .await
            .unwrap_or_else(|_| Err((SaslCode::SysTemp, "the authentication service takes too long".to_owned()))),
        Ok(Err(reason)) => Err((SaslCode::SysTemp, reason)),
        Err(_) => Err((SaslCode::SysTemp, "the authentication service cannot be reached in time".to_owned())),
    };
    match result {
        Ok(()) => {}
        Err((code, reason)) => {
            if code != SaslCode::Auth && !between.state.lock().over {
                logging::log!(AUTHSERVICE, Warning, "Downstream disconnected: {reason}");
            }
            between.tell_client(FromService::Failed(code, reason));
        }
    }
}

struct Conversation {
    line: Line,
    engine: Connection,
    between: Arc<Between>,
    start: Instant,
    input: Vec<u8>,
    /// The code with which the service has refused the client.
    refusal: Arc<parking_lot::Mutex<Option<SaslCode>>>,
}

impl Conversation {
    async fn begin(service: &Service, between: &Arc<Between>) -> Result<Self, String> {
        let mut input = Vec::new();
        let patience = Instant::now() + RESTART;
        let line = loop {
            match Line::dial(service, &mut input).await {
                Ok(line) => break line,
                // It may be being started.
                Err(_) if Instant::now() < patience && !between.state.lock().over => tokio::time::sleep(RETRY).await,
                Err(error) => return Err(error),
            }
        };
        logging::log!(
            AUTHSERVICE,
            Debug,
            "Connected to authentication service {}:{}",
            service.config.host,
            service.config.port
        );
        let symbol = |text: &str| Value::Symbol(Symbol::from(text));
        let text = |text: &str| Value::String(text.to_owned());
        let properties =
            Map(vec![(symbol("product"), text("qpid-dispatch-router")), (symbol("version"), text(DISPATCH_VERSION))]);
        let config = ConnectionConfig {
            container_id: service.router_id.clone(),
            hostname: Some(service.config.host.clone()),
            desired_capabilities: vec![Symbol::from(ADDRESS_AUTHZ)],
            properties: Some(properties),
            idle_time_out: None,
            ..ConnectionConfig::default()
        };
        let refusal = Arc::default();
        let client = Passing {
            between: Arc::clone(between),
            realm: service.config.realm.clone(),
            refusal: Arc::clone(&refusal),
        };
        let side = Side::Initiator { sasl: Some(Box::new(client)) };
        Ok(Self {
            line,
            engine: Connection::new(config, side, Duration::ZERO),
            between: Arc::clone(between),
            start: Instant::now(),
            input,
            refusal,
        })
    }

    /// Passes words on until the service has opened the connection, or it cannot go on.
    async fn run(&mut self) -> Result<(), (SaslCode, String)> {
        loop {
            if self.drive()? {
                self.say_farewell().await;
                return Ok(());
            }
            self.engine.flush(self.start.elapsed());
            let output = self.engine.output().to_vec();
            self.engine.consume_output(output.len());
            let failed = |reason| (SaslCode::SysTemp, reason);
            self.line.write(&output).await.map_err(failed)?;
            let told = tokio::select! {
                told = self.between.told.notified() => { let () = told; true }
                read = self.line.read(&mut self.input) => {
                    if read.map_err(failed)? == 0 {
                        self.engine.transport_closed();
                    }
                    false
                }
            };
            if told {
                if self.between.state.lock().over {
                    return Err((SaslCode::SysTemp, "the client has gone".to_owned()));
                }
                self.engine.poke_sasl();
            }
        }
    }

    /// Acts on what has come. True: the client is authenticated.
    fn drive(&mut self) -> Result<bool, (SaslCode, String)> {
        let mut input = Input::new(&self.input);
        let mut through = false;
        let mut failure = None;
        while let Some(event) = self.engine.poll(self.start.elapsed(), &mut input) {
            match event {
                Event::Authenticated { mechanism: None, .. } => {
                    failure = Some((SaslCode::Sys, "the authentication service does not use SASL".to_owned()));
                }
                Event::Opened(open) => {
                    logging::log!(AUTHSERVICE, Debug, "authentication against service complete; closing connection");
                    self.between.tell_client(FromService::Accepted(Identity::read(open.properties.as_ref())));
                    through = true;
                }
                Event::Closed(_) => {
                    logging::log!(AUTHSERVICE, Debug, "authentication service closed connection");
                    failure = Some((SaslCode::SysTemp, "the authentication service closed the connection".to_owned()));
                }
                Event::Failed(error) => {
                    let refusal = self.refusal.lock().take();
                    failure = Some(match refusal {
                        Some(code) => (code, "the authentication service refuses it".to_owned()),
                        None => (SaslCode::SysTemp, error.to_string()),
                    });
                }
                _ => {}
            }
            if through || failure.is_some() {
                break;
            }
        }
        let used = input.consumed();
        self.input.drain(..used);
        failure.map_or(Ok(through), Err)
    }

    /// Closes the connection in an orderly way, without insisting.
    async fn say_farewell(&mut self) {
        self.engine.close(None);
        self.engine.flush(self.start.elapsed());
        let last = self.engine.output().to_vec();
        let (line, input) = (&mut self.line, &mut self.input);
        let farewell = async {
            if line.write(&last).await.is_ok() {
                while line.read(input).await.is_ok_and(|count| count > 0) {
                    input.clear();
                }
            }
        };
        let _ = timeout_at(Instant::now() + FAREWELL, farewell).await;
    }
}

/// The SASL client that says what the real one says.
struct Passing {
    between: Arc<Between>,
    realm: Option<String>,
    refusal: Arc<parking_lot::Mutex<Option<SaslCode>>>,
}

impl SaslClient for Passing {
    fn choose(&mut self, offered: &[Symbol]) -> ClientStep {
        self.between.tell_client(FromService::Mechanisms(offered.to_vec()));
        self.resume()
    }

    fn challenge(&mut self, challenge: &[u8]) -> ClientStep {
        self.between.tell_client(FromService::Challenge(challenge.to_vec()));
        self.resume()
    }

    fn resume(&mut self) -> ClientStep {
        match self.between.state.lock().to_service.take() {
            Some(FromClient::Init(mechanism, response)) => ClientStep::Init(mechanism, response),
            Some(FromClient::Response(response)) => ClientStep::Respond(response),
            None => ClientStep::Pending,
        }
    }

    fn hostname(&self) -> Option<String> {
        self.realm.clone()
    }

    fn refused(&mut self, code: SaslCode) {
        *self.refusal.lock() = Some(code);
    }
}
