//! Private keys in all forms. All of them are the key of one certificate.

use std::path::{Path, PathBuf};

use super::authority::Folder;
use super::ends::profile;

fn data(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls/data").join(name).display().to_string()
}

/// What loading a profile with this key says, if it fails.
fn trouble(key: &str, password: &str) -> Option<String> {
    let (certificate, key) = (data("escapes.pem"), data(key));
    let mut pairs = vec![("certFile", certificate.as_str()), ("privateKeyFile", key.as_str())];
    if !password.is_empty() {
        pairs.push(("password", password));
    }
    profile(&pairs).err().map(|error| error.to_string())
}

#[test]
fn keys_in_every_form_can_be_read() {
    let encrypted = [
        "ec-aes256.key",
        "ec-aes128.key",
        "ec-des3.key",
        "pkcs8-aes256.key",
        "pkcs8-des3-sha1.key",
        "pkcs8-scrypt.key",
    ];
    for name in encrypted {
        assert_eq!(trouble(name, "pass:secret"), None, "{name}");
    }
    for name in ["ec.key", "ec-with-parameters.key"] {
        assert_eq!(trouble(name, ""), None, "{name}");
    }
}

#[test]
fn a_wrong_password_is_named_as_the_reason() {
    for name in ["ec-aes256.key", "ec-des3.key", "pkcs8-aes256.key"] {
        let trouble = trouble(name, "pass:guess").unwrap();
        assert!(trouble.contains("is the password right?") && trouble.contains(name), "{trouble}");
    }
}

#[test]
fn an_encrypted_key_needs_a_password() {
    let trouble = trouble("pkcs8-aes256.key", "").unwrap();
    assert!(trouble.contains("password is not given"), "{trouble}");
}

#[test]
fn the_password_can_be_in_a_file_or_in_the_environment() {
    let folder = Folder::new();
    let file = folder.write("password.txt", "secret\n");
    assert_eq!(trouble("ec-aes256.key", &format!("file:{}", file.display())), None);
    assert_eq!(trouble("ec-aes256.key", "secret"), None);
    assert_eq!(trouble("ec-aes256.key", "literal:secret"), None);
    let trouble = trouble("ec-aes256.key", "env:NO_SUCH_VARIABLE_HERE").unwrap();
    assert!(trouble.contains("NO_SUCH_VARIABLE_HERE"), "{trouble}");
}

#[test]
fn a_key_encrypted_in_a_forgotten_way_comes_with_the_remedy() {
    let trouble = trouble("pkcs8-pbes1.key", "pass:secret").unwrap();
    assert!(trouble.contains("openssl pkcs8 -topk8"), "{trouble}");
}

#[test]
fn a_key_that_would_take_for_ever_to_decrypt_is_refused() {
    for name in ["pkcs8-endless-rounds.key", "pkcs8-endless-memory.key"] {
        let trouble = trouble(name, "pass:secret").unwrap();
        assert!(trouble.contains("too much work") && trouble.contains(name), "{trouble}");
    }
}

#[test]
fn a_key_that_is_not_the_certificates_is_refused() {
    let (folder, other) = (Folder::new(), super::authority::Authority::new("us").issue(&[], "other"));
    let key = folder.write("key.pem", &other.key());
    let pairs = [("certFile", data("escapes.pem")), ("privateKeyFile", key.display().to_string())];
    let error = profile(&pairs.each_ref().map(|(name, path)| (*name, path.as_str()))).err().unwrap().to_string();
    assert!(error.contains("is not the one of the certificate"), "{error}");
}

#[test]
fn certificate_and_key_can_be_in_one_file() {
    let folder = Folder::new();
    let read = |name| std::fs::read_to_string(data(name)).unwrap();
    let both: PathBuf = folder.write("both.pem", &(read("ec.key") + &read("escapes.pem")));
    assert!(profile(&[("certFile", &both.display().to_string())]).is_ok());
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = profile(&[("caCertFile", "/nowhere/ca.pem")]).err().unwrap();
    assert_eq!(error.to_string(), "cannot read caCertFile '/nowhere/ca.pem': No such file or directory");
    assert_eq!(error.words_of_connector(), "SSL CA configuration failed");
}

#[test]
fn a_file_without_certificates_is_refused() {
    let error = profile(&[("caCertFile", &data("ec.key"))]).err().unwrap().to_string();
    assert!(error.contains("BEGIN CERTIFICATE"), "{error}");
}
