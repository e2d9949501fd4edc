//! `listener`: where peers can connect.

use crate::control::listeners::Listeners;
use config::ListenerConfig;
use management::{Attributes, Failure};

/// All listeners.
pub(super) fn rows(listeners: &Listeners) -> Vec<Attributes> {
    listeners.iter().map(|listener| listener.attributes.clone()).collect()
}

/// Creates one. Whether it can listen shows in the log, as with the old router: its name may take long to look up.
pub(super) fn create(listeners: &mut Listeners, attributes: Attributes) -> Result<Attributes, Failure> {
    let config = ListenerConfig::from_attributes(&attributes)?;
    listeners.add(attributes.clone(), config, false);
    Ok(attributes)
}
