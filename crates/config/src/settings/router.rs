//! The `router` section.

use super::read::Reader;
use super::words::{Distribution, Mode};
use management::Attributes;
use management::schema::{Class, Invalid};
use std::time::Duration;

/// The longest router id, in characters: temporary addresses, which contain the id, stay within bounds.
pub const MAX_ROUTER_ID: usize = 127;

/// What the `router` entity says.
#[derive(Clone, Debug, PartialEq)]
pub struct RouterConfig {
    /// The identity of the router in a network and its container-id; `None`: one is to be generated.
    pub id: Option<String>,
    /// How it takes part in a network.
    pub mode: Mode,
    /// Interval between HELLO messages to neighbours.
    pub hello_interval: Duration,
    /// How long a silent neighbour is believed to be there.
    pub hello_max_age: Duration,
    /// Interval between router advertisements in a settled network.
    pub ra_interval: Duration,
    /// The same while the network changes.
    pub ra_interval_flux: Duration,
    /// How long an unconfirmed link state is believed.
    pub remote_ls_max_age: Duration,
    /// Threads that do the connections' work.
    pub worker_threads: usize,
    /// Bytes of memory that messages on their way may take; `None`: a share of what there is.
    pub transit_bytes: Option<u64>,
    /// File that is written at the end of the run.
    pub debug_dump_file: Option<String>,
    /// Directory of the SASL library's configuration.
    pub sasl_config_dir: Option<String>,
    /// The file of users that this router has for itself.
    pub users_file: Option<String>,
    /// Name of the SASL library's configuration, without `.conf`.
    pub sasl_config_name: String,
    /// Whether links may be routed whose terminus outlives the link.
    pub allow_resumable_link_route: bool,
    /// Log times in UTC instead of local time.
    pub timestamps_in_utc: bool,
    /// The form of log times, as for `strftime`.
    pub timestamp_format: Option<String>,
    /// Accepted, without effect, as in the old router.
    pub allow_unsettled_multicast: bool,
    /// How addresses are treated that no `address` entity matches.
    pub default_distribution: Distribution,
    /// Free text for operators.
    pub metadata: Option<String>,
}

impl Default for RouterConfig {
    fn default() -> Self {
        RouterConfig {
            id: None,
            mode: Mode::Standalone,
            hello_interval: Duration::from_secs(1),
            hello_max_age: Duration::from_secs(3),
            ra_interval: Duration::from_secs(30),
            ra_interval_flux: Duration::from_secs(4),
            remote_ls_max_age: Duration::from_secs(60),
            worker_threads: 4,
            transit_bytes: None,
            debug_dump_file: None,
            sasl_config_dir: None,
            users_file: None,
            sasl_config_name: "qdrouterd".to_owned(),
            allow_resumable_link_route: true,
            timestamps_in_utc: false,
            timestamp_format: None,
            allow_unsettled_multicast: false,
            default_distribution: Distribution::Balanced,
            metadata: None,
        }
    }
}

impl RouterConfig {
    /// Reads the settings of a `router` entity.
    ///
    /// # Errors
    /// If the id is too long or holds blanks or control characters, or a number is out of range.
    pub fn from_attributes(attributes: &Attributes) -> Result<Self, Invalid> {
        let read = Reader(attributes);
        let usual = RouterConfig::default();
        let seconds = |name: &str, default: Duration| -> Result<Duration, Invalid> {
            Ok(read.count(name)?.map_or(default, |seconds| Duration::from_secs(u64::from(seconds))))
        };
        let id = read.text("id");
        if let Some(id) = &id {
            check_router_id(id)?;
        }
        let threads = read.number("workerThreads", 1, 1024)?.and_then(|threads| usize::try_from(threads).ok());
        let transit_bytes = read.number("transitBytes", 1, i64::MAX)?.map(i64::unsigned_abs);
        let distribution = read.word("defaultDistribution", Distribution::parse)?;
        Ok(RouterConfig {
            id,
            mode: read.word("mode", Mode::parse)?.unwrap_or(usual.mode),
            hello_interval: seconds("helloIntervalSeconds", usual.hello_interval)?,
            hello_max_age: seconds("helloMaxAgeSeconds", usual.hello_max_age)?,
            ra_interval: seconds("raIntervalSeconds", usual.ra_interval)?,
            ra_interval_flux: seconds("raIntervalFluxSeconds", usual.ra_interval_flux)?,
            remote_ls_max_age: seconds("remoteLsMaxAgeSeconds", usual.remote_ls_max_age)?,
            worker_threads: threads.unwrap_or(usual.worker_threads),
            transit_bytes,
            debug_dump_file: read.text("debugDumpFile"),
            sasl_config_dir: read.text("saslConfigDir"),
            users_file: read.text("usersFile"),
            sasl_config_name: read.text_or("saslConfigName", &usual.sasl_config_name),
            allow_resumable_link_route: read.flag("allowResumableLinkRoute", true),
            timestamps_in_utc: read.flag("timestampsInUTC", false),
            timestamp_format: read.text("timestampFormat"),
            allow_unsettled_multicast: read.flag("allowUnsettledMulticast", false),
            default_distribution: distribution.unwrap_or(usual.default_distribution),
            metadata: read.text("metadata"),
        })
    }
}

/// Checks a router id.
///
/// # Errors
/// If it is longer than [`MAX_ROUTER_ID`] or contains blanks or control characters.
pub fn check_router_id(id: &str) -> Result<(), Invalid> {
    if id.chars().count() > MAX_ROUTER_ID {
        let text = format!("Router ID \"{id}\" exceeds the maximum allowed length ({MAX_ROUTER_ID} characters)");
        return Err(Invalid::attribute("id", Class::Validation, text).hint("choose a shorter id"));
    }
    if let Some(wrong) = id.chars().find(|c| c.is_control() || c.is_whitespace() || is_invisible(*c)) {
        let text = format!("Router id attribute containing character '{wrong}' in id '{id}' is disallowed.");
        let hint = "use letters, digits and punctuation only, no blanks";
        return Err(Invalid::attribute("id", Class::Attribute, text).hint(hint).late());
    }
    Ok(())
}

/// Characters of the Unicode categories Cf, Co, Cn (as far as they are fixed) and Z* that the standard library's
/// `is_control` and `is_whitespace` leave out.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}'
        | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}' | '\u{e000}'..='\u{f8ff}'
        | '\u{fdd0}'..='\u{fdef}' | '\u{fffe}'..='\u{ffff}' | '\u{f0000}'..='\u{10ffff}')
}
