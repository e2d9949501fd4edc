//! The console within the program, served where no `httpRootDir` is given.

use hyper::header::HeaderMap;

use super::files::not_found;
use super::reply::Reply;

/// A file of the console.
pub(super) fn answer(_path: &str, _headers: &HeaderMap) -> Reply {
    not_found()
}
