//! Files of `httpRootDir`.
//!
//! Only regular files within the folder are served, whatever the path says and wherever symbolic links lead.

use std::fs::Metadata;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::UNIX_EPOCH;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};
use hyper::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH, LOCATION,
};
use hyper::{Response, StatusCode};
use tokio::fs::File;
use tokio::io::{AsyncRead, ReadBuf};

use super::reply::{Reply, bare, reply, set, text};

/// What a folder shows.
pub(super) const INDEX: &str = "index.html";
/// Bytes read from a file at a time.
const CHUNK: usize = 32 * 1024;

/// The file at this path of a request.
pub(super) async fn answer(root: &Path, path: &str, headers: &HeaderMap) -> Reply {
    let Some(relative) = relative_path(path) else { return not_found() };
    match find(root, &relative, path.ends_with('/')).await {
        Ok(Some((file, metadata, name))) => send(file, &metadata, &name, headers),
        Ok(None) => with_slash(path),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            text(StatusCode::FORBIDDEN, "The router may not read this file.\n")
        }
        Err(_) => not_found(),
    }
}

pub(super) fn not_found() -> Reply {
    text(StatusCode::NOT_FOUND, "There is nothing here.\n")
}

/// Opens the file; `None`: it is a folder that was asked for without a slash at its end.
async fn find(root: &Path, relative: &Path, as_folder: bool) -> io::Result<Option<(File, Metadata, PathBuf)>> {
    let root = tokio::fs::canonicalize(root).await?;
    let mut name = tokio::fs::canonicalize(root.join(relative)).await?;
    if !name.starts_with(&root) {
        return Err(io::ErrorKind::NotFound.into());
    }
    if tokio::fs::metadata(&name).await?.is_dir() {
        if !as_folder {
            return Ok(None);
        }
        name = tokio::fs::canonicalize(name.join(INDEX)).await?;
        if !name.starts_with(&root) {
            return Err(io::ErrorKind::NotFound.into());
        }
    } else if as_folder {
        return Err(io::ErrorKind::NotFound.into());
    }
    // To open a pipe would wait for its other end.
    let mut options = tokio::fs::OpenOptions::new();
    let file = options.read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW).open(&name).await?;
    let metadata = file.metadata().await?;
    if metadata.is_file() { Ok(Some((file, metadata, name))) } else { Err(io::ErrorKind::NotFound.into()) }
}

/// The path below the root that a request's path stands for; `None` if it leads out of it, or names nothing.
fn relative_path(path: &str) -> Option<PathBuf> {
    let decoded = percent_decoded(path)?;
    if decoded.contains(['\0', '\\']) {
        return None;
    }
    let mut relative = PathBuf::new();
    for component in Path::new(decoded.trim_start_matches('/')).components() {
        match component {
            Component::Normal(part) => relative.push(part),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(relative)
}

/// The path with its escapes resolved (RFC 3986, section 2.1); `None` if one is malformed.
fn percent_decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok().filter(|digits| !digits.starts_with('+'))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).ok()
}

/// The answer to a request for a folder without a slash, against whose path its links would not hold.
fn with_slash(path: &str) -> Reply {
    // Two slashes would name another host.
    let location = format!("/{}/", path.trim_matches('/'));
    let mut reply = bare(StatusCode::MOVED_PERMANENTLY);
    if let Ok(location) = HeaderValue::from_str(&location) {
        reply.headers_mut().insert(LOCATION, location);
    }
    reply
}

fn send(file: File, metadata: &Metadata, name: &Path, headers: &HeaderMap) -> Reply {
    let tag = entity_tag(metadata);
    if headers.get(IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes()) {
        let mut reply = bare(StatusCode::NOT_MODIFIED);
        insert(&mut reply, ETAG, &tag);
        return reply;
    }
    let length = metadata.len();
    let body = Contents { file, left: length, buffer: BytesMut::new() };
    let mut reply: Response<_> = reply(StatusCode::OK, body.boxed());
    set(&mut reply, CONTENT_TYPE, content_type(name));
    set(&mut reply, CACHE_CONTROL, "no-cache");
    insert(&mut reply, CONTENT_LENGTH, &length.to_string());
    insert(&mut reply, ETAG, &tag);
    reply
}

/// Changes whenever the file does.
fn entity_tag(metadata: &Metadata) -> String {
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    format!("\"{:x}-{:x}\"", modified.as_nanos(), metadata.len())
}

fn insert(reply: &mut Reply, name: hyper::header::HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        reply.headers_mut().insert(name, value);
    }
}

/// What a file is, by the end of its name.
pub(super) fn content_type(name: &Path) -> &'static str {
    let extension = name.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "html" | "htm" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "txt" | "md" => "text/plain; charset=utf-8",
        "json" | "map" => "application/json",
        "xml" => "application/xml",
        "wasm" => "application/wasm",
        "pdf" => "application/pdf",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "woff" => "font/woff",
        "woff2" => "font/woff2",
        "ttf" => "font/ttf",
        "otf" => "font/otf",
        "eot" => "application/vnd.ms-fontobject",
        _ => "application/octet-stream",
    }
}

/// A file's contents, as many bytes as it had when it was opened.
struct Contents {
    file: File,
    left: u64,
    buffer: BytesMut,
}

impl hyper::body::Body for Contents {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let this = self.get_mut();
        if this.left == 0 {
            return Poll::Ready(None);
        }
        let size = usize::try_from(this.left).unwrap_or(CHUNK).min(CHUNK);
        this.buffer.resize(size, 0);
        let mut read = ReadBuf::new(&mut this.buffer);
        if let Err(error) = ready!(Pin::new(&mut this.file).poll_read(context, &mut read)) {
            return Poll::Ready(Some(Err(error)));
        }
        let count = read.filled().len();
        if count == 0 {
            // It has become shorter. The connection is cut, or the reader would take this for all of it.
            return Poll::Ready(Some(Err(io::ErrorKind::UnexpectedEof.into())));
        }
        this.left -= count as u64;
        Poll::Ready(Some(Ok(Frame::data(this.buffer.split_to(count).freeze()))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_below_the_root() {
        let at = |path: &str| relative_path(path).map(|path| path.to_string_lossy().into_owned());
        assert_eq!(at("/a/b.txt").as_deref(), Some("a/b.txt"));
        assert_eq!(at("/a%20b/./c").as_deref(), Some("a b/c"));
        assert_eq!(at("//etc/passwd").as_deref(), Some("etc/passwd"));
        assert_eq!(at("/").as_deref(), Some(""));
    }

    #[test]
    fn a_path_that_leads_out_names_nothing() {
        for path in
            ["/..", "/../x", "/a/../../x", "/%2e%2e/x", "/a/%2e%2e%2f%2e%2e/x", "/a%00.txt", "/..%5cx", "/..\\x"]
        {
            assert_eq!(relative_path(path), None, "{path}");
        }
    }

    #[test]
    fn a_malformed_escape_names_nothing() {
        for path in ["/%", "/%1", "/%zz", "/%+1", "/%ff"] {
            assert_eq!(relative_path(path), None, "{path}");
        }
    }

    #[test]
    fn a_redirection_stays_on_this_host() {
        let reply = with_slash("//elsewhere.example/x");
        assert_eq!(reply.headers()[LOCATION], "/elsewhere.example/x/");
    }

    #[test]
    fn what_is_not_known_is_bytes() {
        assert_eq!(content_type(Path::new("a.JSON")), "application/json");
        assert_eq!(content_type(Path::new("a.b")), "application/octet-stream");
        assert_eq!(content_type(Path::new("a")), "application/octet-stream");
    }
}
