//! How many files and sockets the process may have open.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Asks for as many open files as the administrator allows. What a shell sets is meant for programs with a handful; each
/// connection takes one.
pub(crate) fn raise_open_files() {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return };
    if soft < hard && setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_err() {
        logging::log!(SERVER, Warning, "No more than {soft} connections and files can be open at a time");
    }
}
