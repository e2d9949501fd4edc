//! The live policy: what is configured of it, and what the shards are given to go by.
//!
//! Every change compiles what changed and hands the shards a new whole; connections that are open keep what they have.

use crate::control::lookup::{Asker, Lookups};
use crate::control::resolve::HostPort;
use crate::shard::Shards;
use config::{PolicyConfig, RemoteHost, Settings, VhostConfig};
use management::{Attributes, Failure};
use security::policy::{Hosts, Policy, Vhost};
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;

/// How many vhosts there may be: management must not be a way to fill memory, and each change goes through all of them.
const MOST: usize = 10_000;

/// The vhosts, and what holds for all connections.
pub(crate) struct Policies {
    shards: Shards,
    lookups: Lookups,
    /// As management shows it.
    pub(crate) attributes: Attributes,
    config: PolicyConfig,
    vhosts: Vec<Kept>,
    /// Addresses of hosts by their names; none for a name that could not be found.
    known: HashMap<String, Vec<IpAddr>>,
    /// Names that are being looked up.
    asked: HashMap<u64, String>,
    last_asked: u64,
}

/// A vhost.
pub(crate) struct Kept {
    /// As management shows it.
    pub(crate) attributes: Attributes,
    /// What it says.
    pub(crate) config: VhostConfig,
    compiled: Arc<Vhost>,
}

impl Policies {
    /// The policy of a configuration, put in force. Host names are looked up here and now: nobody may be let in, or kept
    /// out, because an answer has not come yet.
    pub(crate) fn start(shards: &Shards, lookups: Lookups, config: &config::Config) -> Self {
        let policy = config.policies().next();
        let (attributes, settings) = match policy {
            Some((entity, settings)) => (entity.attributes.clone(), settings.clone()),
            None => (Attributes::new(), PolicyConfig::from_attributes(&Attributes::new()).unwrap_or_default()),
        };
        announce(&settings);
        shards.set_max_connections(settings.max_connections);
        let mut policies = Policies {
            shards: shards.clone(),
            lookups,
            attributes,
            config: settings,
            vhosts: Vec::new(),
            known: HashMap::new(),
            asked: HashMap::new(),
            last_asked: 0,
        };
        for (entity, vhost) in config.vhosts() {
            for name in host_names(vhost) {
                if !policies.known.contains_key(name) {
                    policies.learn(name, look_up(name));
                }
            }
            policies.keep(entity.attributes.clone(), vhost.clone());
        }
        policies.put_in_force();
        policies
    }

    /// All vhosts, in order of creation.
    pub(crate) fn vhosts(&self) -> impl Iterator<Item = &Kept> {
        self.vhosts.iter()
    }

    /// Adds a vhost.
    ///
    /// # Errors
    /// If one of its names is taken, or there are too many.
    pub(crate) fn create(&mut self, attributes: Attributes, vhost: VhostConfig) -> Result<Attributes, Failure> {
        if self.vhosts.len() >= MOST {
            return Err(Failure::internal(format!("There are {MOST} vhosts; delete some first")));
        }
        self.check_names(&vhost, None)?;
        warn(&vhost);
        self.ask_for(&vhost);
        self.keep(attributes.clone(), vhost);
        self.put_in_force();
        Ok(attributes)
    }

    /// What the vhost with this identity would be with these changes.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn changed(&self, identity: &str, changes: &Attributes) -> Result<Attributes, Failure> {
        let found = self.vhosts.iter().find(|kept| kept.has(identity)).ok_or_else(Failure::not_found)?;
        let mut changed = found.attributes.clone();
        for (name, value) in changes.iter() {
            changed.set(name, value.clone());
        }
        Ok(changed)
    }

    /// Puts other settings in the place of those of a vhost.
    ///
    /// # Errors
    /// If there is none, or one of its new names is taken.
    pub(crate) fn replace(
        &mut self,
        identity: &str,
        attributes: Attributes,
        vhost: VhostConfig,
    ) -> Result<Attributes, Failure> {
        let index = self.vhosts.iter().position(|kept| kept.has(identity)).ok_or_else(Failure::not_found)?;
        self.check_names(&vhost, Some(index))?;
        warn(&vhost);
        self.ask_for(&vhost);
        logging::log!(POLICY, Info, "Updated policy rules for vhost {}", vhost.hostname);
        let compiled = self.compile(&vhost);
        self.vhosts[index] = Kept { attributes: attributes.clone(), config: vhost, compiled };
        self.put_in_force();
        Ok(attributes)
    }

    /// Forgets a vhost; connections that are open in it stay. False: there is none.
    pub(crate) fn delete(&mut self, identity: &str) -> bool {
        let Some(index) = self.vhosts.iter().position(|kept| kept.has(identity)) else { return false };
        let vhost = self.vhosts.remove(index);
        self.shards.with_policy(|state| state.admissions.forget(&vhost.config.hostname));
        self.forget_names();
        self.put_in_force();
        true
    }

    /// A host name was looked up.
    pub(crate) fn looked_up(&mut self, asked: u64, found: Result<Vec<SocketAddr>, String>) {
        let Some(name) = self.asked.remove(&asked) else { return };
        self.learn(&name, found);
        let concerned: Vec<usize> = (0..self.vhosts.len())
            .filter(|&index| host_names(&self.vhosts[index].config).any(|host| host == name))
            .collect();
        for index in concerned {
            self.vhosts[index].compiled = self.compile(&self.vhosts[index].config);
        }
        self.put_in_force();
    }

    fn check_names(&self, vhost: &VhostConfig, own: Option<usize>) -> Result<(), Failure> {
        let others = self.vhosts.iter().enumerate().filter(|(index, _)| Some(*index) != own);
        let others = others.map(|(_, kept)| &kept.config);
        Ok(config::check_vhost_names(vhost, others, self.config.enable_vhost_name_patterns)?)
    }

    fn keep(&mut self, attributes: Attributes, config: VhostConfig) {
        logging::log!(POLICY, Info, "Created policy rules for vhost {}", config.hostname);
        let compiled = self.compile(&config);
        self.vhosts.push(Kept { attributes, config, compiled });
    }

    fn compile(&self, vhost: &VhostConfig) -> Arc<Vhost> {
        Arc::new(Vhost::new(vhost, &|name| self.known.get(name).cloned().unwrap_or_default()))
    }

    fn put_in_force(&self) {
        let policy = self.config.enable_vhost_policy.then(|| {
            let compiled = self.vhosts.iter().map(|kept| Arc::clone(&kept.compiled));
            Policy::new(&self.config, compiled.collect())
        });
        self.shards.set_policy(policy);
    }

    /// Has names looked up whose addresses are not known, or could not be found. Must be called on the control plane's
    /// runtime.
    fn ask_for(&mut self, vhost: &VhostConfig) {
        for name in host_names(vhost) {
            let known = self.known.get(name).is_some_and(|addresses| !addresses.is_empty());
            if !known && !self.asked.values().any(|asked| asked == name) {
                self.last_asked += 1;
                self.asked.insert(self.last_asked, name.to_owned());
                self.lookups.start(Asker::RemoteHost(self.last_asked), target(name));
            }
        }
    }

    fn learn(&mut self, name: &str, found: Result<Vec<SocketAddr>, String>) {
        let addresses = found.unwrap_or_else(|reason| {
            logging::log!(
                POLICY,
                Warning,
                "remoteHosts '{name}' cannot be found and lets nobody in: {reason}. Correct the name, or update its vhost to \
                 have it looked up again"
            );
            Vec::new()
        });
        self.known.insert(name.to_owned(), addresses.into_iter().map(|address| address.ip()).collect());
    }

    /// Forgets the addresses of hosts that no vhost names any more.
    fn forget_names(&mut self) {
        let Policies { vhosts, known, .. } = self;
        known.retain(|known, _| vhosts.iter().any(|kept| host_names(&kept.config).any(|name| name == known)));
    }
}

impl Kept {
    fn has(&self, identity: &str) -> bool {
        self.attributes.text("identity") == Some(identity)
    }
}

/// The names of hosts from which users may connect.
fn host_names(vhost: &VhostConfig) -> impl Iterator<Item = &str> {
    vhost.groups.iter().flat_map(|group: &config::GroupConfig| {
        let hosts: &[RemoteHost] = &group.remote_hosts;
        Hosts::names(hosts)
    })
}

fn target(name: &str) -> HostPort {
    HostPort { host: name.to_owned(), port: "0".to_owned(), family: None }
}

/// Looks a name up, and waits for the answer.
fn look_up(name: &str) -> Result<Vec<SocketAddr>, String> {
    match (name, 0).to_socket_addrs() {
        Ok(addresses) => Ok(addresses.collect()),
        Err(error) => Err(crate::control::resolve::system_words(&error)),
    }
}

fn warn(vhost: &VhostConfig) {
    for warning in vhost.warnings() {
        logging::log!(POLICY, Warning, "{warning}");
    }
}

fn announce(policy: &PolicyConfig) {
    logging::log!(
        POLICY,
        Info,
        "Policy configured maxConnections: {}, policyDir: '{}',access rules enabled: '{}', use hostname patterns: '{}'",
        policy.max_connections,
        policy.policy_dir.as_deref().unwrap_or_default(),
        policy.enable_vhost_policy,
        policy.enable_vhost_name_patterns,
    );
    logging::log!(POLICY, Info, "Policy fallback defaultVhost is defined: '{}'", policy.default_vhost);
}

/// What the attributes of a vhost mean.
///
/// # Errors
/// What is wrong with them.
pub(crate) fn vhost_of(settings: Settings) -> Result<VhostConfig, Failure> {
    match settings {
        Settings::Vhost(vhost) => Ok(*vhost),
        _ => Err(Failure::bad_request("Bad Request")),
    }
}
