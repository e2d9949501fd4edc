//! All `sslProfile`s: what they say now, and who uses them.
//!
//! A listener or a connector holds on to its profile and asks it for each connection, so that what management changes, or
//! what changes on disk, counts from the next connection on. A profile that is deleted stays for those who use it.

use crate::control::live_profile::LiveProfile;
use config::SslProfileConfig;
use management::{Attributes, Failure};
use parking_lot::Mutex;
use security::tls::Validity;
use std::collections::BTreeMap;
use std::sync::{Arc, Once, Weak};
use std::time::Duration;

/// How often the files are looked at.
const LOOK: Duration = Duration::from_secs(1);

type All = Mutex<BTreeMap<String, Entry>>;

/// The profiles of this router, by name.
#[derive(Clone)]
pub(crate) struct Profiles {
    all: Arc<All>,
    watched: Arc<Once>,
}

struct Entry {
    /// What management shows; `None`: it was deleted, and someone may still use it.
    attributes: Option<Attributes>,
    live: Arc<LiveProfile>,
}

impl Default for Profiles {
    fn default() -> Self {
        Self { all: Arc::default(), watched: Arc::new(Once::new()) }
    }
}

impl Profiles {
    /// Adds a profile, or puts it in the place of another of its name. What cannot be used of it is logged: it counts
    /// only when a connection needs it, as with the old router, and may be mended by then.
    pub(crate) fn add(&self, attributes: Attributes, config: SslProfileConfig) {
        let name = config.name.clone();
        let known = self.all.lock().get(&name).map(|entry| Arc::clone(&entry.live));
        let live = match known {
            Some(live) => {
                live.replace(config);
                live
            }
            None => Arc::new(LiveProfile::new(config)),
        };
        self.all.lock().insert(name, Entry { attributes: Some(attributes), live });
        self.watched.call_once(|| watch(Arc::downgrade(&self.all)));
    }

    /// What the profile with this identity would be with these changes; null takes an attribute away.
    pub(crate) fn changed(&self, identity: &str, changes: &Attributes) -> Result<Attributes, Failure> {
        let rows = self.rows();
        let found = rows.into_iter().find(|row| row.text("identity") == Some(identity));
        let mut changed = found.ok_or_else(Failure::not_found)?;
        for (name, value) in changes.iter() {
            changed.set(name, value.clone());
        }
        Ok(changed)
    }

    /// Deletes the one with this identity. False: there is none.
    pub(crate) fn remove(&self, identity: &str) -> bool {
        let mut all = self.all.lock();
        let found = all.values_mut().find(|entry| {
            entry.attributes.as_ref().is_some_and(|attributes| attributes.text("identity") == Some(identity))
        });
        let Some(entry) = found else { return false };
        entry.attributes = None;
        all.retain(|_, entry| entry.attributes.is_some() || Arc::strong_count(&entry.live) > 1);
        true
    }

    /// What management shows of them, passwords included.
    pub(crate) fn rows(&self) -> Vec<Attributes> {
        self.all.lock().values().filter_map(|entry| entry.attributes.clone()).collect()
    }

    /// Until when the certificates of each are valid, by the profile's name.
    pub(crate) fn validities(&self) -> Vec<(String, Validity)> {
        let all = self.all.lock();
        let of_entry = |(name, entry): (&String, &Entry)| {
            entry.live.validities().into_iter().map(|validity| (name.clone(), validity)).collect::<Vec<_>>()
        };
        all.iter().filter(|(_, entry)| entry.attributes.is_some()).flat_map(of_entry).collect()
    }

    /// The one with this name.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn find(&self, name: &str) -> Result<Arc<LiveProfile>, String> {
        let all = self.all.lock();
        let entry = all.get(name).filter(|entry| entry.attributes.is_some());
        let live = entry.map(|entry| Arc::clone(&entry.live));
        live.ok_or_else(|| format!("There is no sslProfile '{name}': create it first, or correct the name"))
    }
}

/// Looks at the files of all profiles, on a thread of its own, as long as they are there: files may lie on a disk that
/// takes long, and keys may take long to decrypt.
fn watch(all: Weak<All>) {
    let look = move || {
        while let Some(all) = all.upgrade() {
            let live: Vec<_> = all.lock().values().map(|entry| Arc::clone(&entry.live)).collect();
            drop(all);
            live.iter().for_each(|live| live.look());
            drop(live);
            std::thread::sleep(LOOK);
        }
    };
    if let Err(error) = std::thread::Builder::new().name("tls-files".to_owned()).spawn(look) {
        logging::log!(CONN_MGR, Error, "Changed certificates will not be noticed: cannot start a thread: {error}");
    }
}
