//! Private keys encrypted the way OpenSSL did before PKCS #8: `Proc-Type: 4,ENCRYPTED` and `DEK-Info` (RFC 1421).

use aes::{Aes128, Aes192, Aes256};
use cbc::Decryptor;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockCipher, BlockDecryptMut, KeyInit, KeyIvInit};
use des::{Des, TdesEde3};
use md5::{Digest, Md5};

/// Decrypts a block with this `DEK-Info`.
///
/// # Errors
/// What is wrong with it, to be said of the file.
pub(super) fn decrypt(info: &str, bytes: &[u8], password: &[u8]) -> Result<Vec<u8>, String> {
    let (name, vector) = info.split_once(',').ok_or("has a DEK-Info without a vector")?;
    let vector = hex(vector.trim()).ok_or("has a DEK-Info whose vector is not hexadecimal")?;
    let decrypted = match name.trim().to_ascii_uppercase().as_str() {
        "DES-EDE3-CBC" => cbc::<TdesEde3>(24, &vector, bytes, password),
        "DES-CBC" => cbc::<Des>(8, &vector, bytes, password),
        "AES-128-CBC" => cbc::<Aes128>(16, &vector, bytes, password),
        "AES-192-CBC" => cbc::<Aes192>(24, &vector, bytes, password),
        "AES-256-CBC" => cbc::<Aes256>(32, &vector, bytes, password),
        other => {
            return Err(format!(
                "is encrypted with {other}, which is not supported: write it anew with `openssl pkcs8 -topk8`"
            ));
        }
    };
    decrypted.ok_or_else(|| "cannot be decrypted: is the password right?".to_owned())
}

fn cbc<C: BlockCipher + BlockDecryptMut + KeyInit>(
    key_size: usize,
    vector: &[u8],
    bytes: &[u8],
    password: &[u8],
) -> Option<Vec<u8>> {
    let key = derive(password, vector.get(..8)?, key_size);
    let cipher = Decryptor::<C>::new_from_slices(&key, vector).ok()?;
    cipher.decrypt_padded_vec_mut::<Pkcs7>(bytes).ok()
}

/// OpenSSL's `EVP_BytesToKey` with MD5, one round, and the first eight bytes of the vector as salt.
fn derive(password: &[u8], salt: &[u8], size: usize) -> Vec<u8> {
    let mut key = Vec::new();
    let mut last = Vec::new();
    while key.len() < size {
        last = Md5::new().chain_update(&last).chain_update(password).chain_update(salt).finalize().to_vec();
        key.extend_from_slice(&last);
    }
    key.truncate(size);
    key
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?, 16).ok())
        .collect()
}
