//! `protocols`: which versions of TLS may be spoken.

use rustls::SupportedProtocolVersion;
use rustls::version::{TLS12, TLS13};

use super::error::TlsError;

/// The versions that a list names, and a remark on those that are not available.
///
/// # Errors
/// A word that is no version, or none of the versions is available.
pub(super) fn evaluate(
    list: Option<&[String]>,
) -> Result<(Vec<&'static SupportedProtocolVersion>, Option<String>), TlsError> {
    let Some(list) = list else { return Ok((vec![&TLS13, &TLS12], None)) };
    let (mut versions, mut missing) = (Vec::new(), Vec::new());
    for word in list {
        match word.as_str() {
            "TLSv1.2" => versions.push(&TLS12),
            "TLSv1.3" => versions.push(&TLS13),
            "TLSv1" | "TLSv1.0" | "TLSv1.1" => missing.push(word.as_str()),
            other => {
                let text = format!("'{other}' in protocols is no version of TLS: write some of TLSv1.2 TLSv1.3");
                return Err(TlsError::Protocols(text));
            }
        }
    }
    if versions.is_empty() {
        let text = format!(
            "protocols '{}' leaves nothing: these versions are broken (RFC 8996) and not available; add TLSv1.2 or TLSv1.3",
            list.join(" ")
        );
        return Err(TlsError::Protocols(text));
    }
    let remark =
        (!missing.is_empty()).then(|| format!("{} in protocols is not available (RFC 8996)", missing.join(" and ")));
    Ok((versions, remark))
}
