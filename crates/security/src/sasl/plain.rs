//! PLAIN's one message (RFC 4616), and who a client says it is in the messages of any mechanism.

/// Characters of a name in the log; a longer one is cut.
const SHOWN: usize = 64;

/// User and password of `authzid NUL authcid NUL passwd`. Acting as another user (an authzid that is not the authcid)
/// is not supported, nor is an empty user or password.
pub(super) fn parse_plain(response: &[u8]) -> Option<(&str, &str)> {
    let text = std::str::from_utf8(response).ok()?;
    let mut parts = text.split('\0');
    let (acting_as, user, password) = (parts.next()?, parts.next()?, parts.next()?);
    let well_formed = parts.next().is_none() && !user.is_empty() && !password.is_empty();
    (well_formed && (acting_as.is_empty() || acting_as == user)).then_some((user, password))
}

/// Who a client says it is, for the log: nothing in it is checked, and it has no characters that a log must not have.
pub fn claimed_user(mechanism: &str, message: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(message);
    let name = match mechanism {
        "PLAIN" => text.split('\0').nth(1)?,
        "DIGEST-MD5" => text.split("username=\"").nth(1)?.split('"').next()?,
        "CRAM-MD5" => text.rsplit_once(' ')?.0,
        scram if scram.starts_with("SCRAM-") => text.split(",n=").nth(1)?.split(',').next()?,
        _ => return None,
    };
    let shown: String = name.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    (!shown.is_empty()).then_some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_has_a_user_and_a_password() {
        assert_eq!(parse_plain(b"\0joe\0secret"), Some(("joe", "secret")));
        assert_eq!(parse_plain(b"joe\0joe\0secret"), Some(("joe", "secret")));
        for bad in [&b""[..], b"joe", b"\0joe", b"\0\0secret", b"\0joe\0", b"\0joe\0secret\0", b"\0\xff\0x", b"a\0b\0c"]
        {
            assert_eq!(parse_plain(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn the_user_is_found_in_the_messages_of_all_mechanisms_that_name_one() {
        let messages = [
            ("PLAIN", "\0joe\0secret"),
            ("SCRAM-SHA-256", "n,,n=joe,r=abc"),
            ("DIGEST-MD5", "charset=utf-8,username=\"joe\",realm=\"x\""),
            ("CRAM-MD5", "joe b913a602c7eda7a495b4e6e7334d3890"),
        ];
        for (mechanism, message) in messages {
            assert_eq!(claimed_user(mechanism, message.as_bytes()).as_deref(), Some("joe"), "{mechanism}");
        }
        assert_eq!(claimed_user("GSSAPI", b"joe"), None);
    }

    #[test]
    fn a_name_cannot_forge_lines_in_the_log_nor_fill_it() {
        assert_eq!(claimed_user("PLAIN", b"\0a\nb\x1b[31m\0x").as_deref(), Some("a\\nb\\u{1b}[31m"));
        assert_eq!(
            claimed_user("PLAIN", format!("\0{}\0x", "a".repeat(9000)).as_bytes()).map(|name| name.len()),
            Some(64)
        );
    }
}
