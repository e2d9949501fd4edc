//! What the vhost policies come to, where they come to the same for everybody.

use crate::configuration::Config;
use crate::settings::{AddressList, GroupConfig, PolicyConfig, RemoteHost, VhostConfig};

/// What a policy says that makes no difference between peers, and lets everybody use every address without limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenPolicy {
    /// Connections may be closed through management.
    pub allow_admin_status_update: bool,
    /// Messages may carry another user's id than that of the connection.
    pub allow_user_id_proxy: bool,
}

impl Config {
    /// What holds for all peers if vhost policies are in force but there is just one vhost, the default, with one group,
    /// which is for everybody from everywhere and restricts nothing but what [`OpenPolicy`] tells. `None` if the policies
    /// are not in force, or say more.
    pub fn open_policy(&self) -> Option<OpenPolicy> {
        let (_, policy) = self.policies().next()?;
        let mut vhosts = self.vhosts();
        let (Some((_, vhost)), None) = (vhosts.next(), vhosts.next()) else { return None };
        let [group] = vhost.groups.as_slice() else { return None };
        // A connector's vhost must have a group of its own.
        if self.connectors().any(|(_, connector)| connector.connection.policy_vhost.is_some()) {
            return None;
        }
        let open = policy.enable_vhost_policy && is_for_everybody(policy, vhost) && is_unrestricted(group);
        open.then_some(OpenPolicy {
            allow_admin_status_update: group.allow_admin_status_update,
            allow_user_id_proxy: group.allow_user_id_proxy,
        })
    }
}

fn is_for_everybody(policy: &PolicyConfig, vhost: &VhostConfig) -> bool {
    let limits = [vhost.max_connections, vhost.max_connections_per_user, vhost.max_connections_per_host];
    vhost.hostname == policy.default_vhost
        && vhost.allow_unknown_user
        && vhost.aliases.is_empty()
        && vhost.max_message_size.is_none()
        && limits.iter().all(|limit| *limit == u32::from(u16::MAX))
}

fn is_unrestricted(group: &GroupConfig) -> bool {
    let everywhere = AddressList::Addresses(vec!["*".to_owned()]);
    let limits = [
        group.max_connections_per_user,
        group.max_connections_per_host,
        group.max_frame_size,
        group.max_sessions,
        group.max_senders,
        group.max_receivers,
    ];
    let sizes = [group.max_message_size, group.max_session_window];
    group.name == "$default"
        && group.users.is_empty()
        && group.remote_hosts == [RemoteHost::Any]
        && limits.iter().all(Option::is_none)
        && sizes.iter().all(Option::is_none)
        && group.allow_dynamic_source
        && group.allow_anonymous_sender
        && group.allow_waypoint_links
        && group.allow_dynamic_link_routes
        && group.allow_fallback_links
        && group.sources == everywhere
        && group.targets == everywhere
}
