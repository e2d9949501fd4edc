//! `vhost`: who may connect, and what they may do.

use crate::control::policies::Policies;
use management::Attributes;

/// All vhosts, in order of creation.
pub(super) fn rows(policies: &Policies) -> Vec<Attributes> {
    policies.vhosts().map(|vhost| vhost.attributes.clone()).collect()
}
