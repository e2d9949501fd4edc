//! The console within the program (`console/dist` of the sources), served where no `httpRootDir` is given.

use std::path::Path;

use hyper::StatusCode;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH, REFERRER_POLICY,
};
use rust_embed::{EmbeddedFile, RustEmbed};

use super::files::{INDEX, content_type, not_found};
use super::reply::{Reply, bare, full, reply, set};

/// What the console may do: everything comes from here, except that it speaks to any router over WebSockets. No other page
/// may show it within itself, to have its buttons clicked.
const POLICY: &str = "default-src 'self'; connect-src 'self' ws: wss:; img-src 'self' data:; frame-ancestors 'none'; \
                      base-uri 'none'; form-action 'none'; object-src 'none'";

#[derive(RustEmbed)]
#[folder = "../../console/dist"]
struct Console;

/// A file of the console.
pub(super) fn answer(path: &str, headers: &HeaderMap) -> Reply {
    let name = match path.trim_start_matches('/') {
        "" => INDEX,
        name => name,
    };
    let Some(file) = Console::get(name) else { return not_found() };
    let tag = entity_tag(&file);
    let mut reply = if headers.get(IF_NONE_MATCH) == tag.as_ref() {
        bare(StatusCode::NOT_MODIFIED)
    } else {
        let mut reply = reply(StatusCode::OK, full(file.data.into_owned()));
        set(&mut reply, CONTENT_TYPE, content_type(Path::new(name)));
        reply
    };
    set(&mut reply, CACHE_CONTROL, "no-cache");
    set(&mut reply, CONTENT_SECURITY_POLICY, POLICY);
    set(&mut reply, REFERRER_POLICY, "no-referrer");
    if let Some(tag) = tag {
        reply.headers_mut().insert(ETAG, tag);
    }
    reply
}

/// Changes whenever the file does.
fn entity_tag(file: &EmbeddedFile) -> Option<HeaderValue> {
    let hash = file.metadata.sha256_hash().first_chunk::<8>().map(|start| u64::from_be_bytes(*start))?;
    HeaderValue::from_str(&format!("\"{hash:016x}\"")).ok()
}
