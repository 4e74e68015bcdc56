//! Private keys of the operator, as PEM files of PKCS #8 (RFC 7468, 10).

use data_encoding::BASE64;
use secrecy::{SecretSlice, zeroize::Zeroize};

/// The lines before and after the key.
const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const END: &str = "-----END PRIVATE KEY-----";

/// An error of a PEM file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the text of each variant is its documentation")]
pub enum InvalidPem {
    #[error(
        "the key is encrypted with a password: write it without one, with 'openssl pkcs8 -topk8 -nocrypt -in key.pem -out \
         plain.pem'"
    )]
    Encrypted,
    #[error(
        "the key is not in the form PKCS #8, which begins with 'BEGIN PRIVATE KEY': convert it with 'openssl pkcs8 -topk8 \
         -nocrypt -in key.pem -out pkcs8.pem'"
    )]
    UnsupportedFormat,
    #[error("there is no private key in it: expected a line '-----BEGIN PRIVATE KEY-----'")]
    NoKey,
    #[error("there are several private keys in it: keep the one that is to sign")]
    MultipleKeys,
    #[error("the text between BEGIN and END is not base64")]
    NotBase64,
}

/// Returns the private key of a PEM file as PKCS #8. Other text in the file is ignored.
///
/// # Errors
/// Returns [`InvalidPem`] if the file has no private key in this format, or several.
pub fn read_pem(text: &str) -> Result<SecretSlice<u8>, InvalidPem> {
    if text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED") {
        return Err(InvalidPem::Encrypted);
    }
    let Some((_, rest)) = text.split_once(BEGIN) else {
        let is_other = ["RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY"];
        return Err(if is_other.iter().any(|label| text.contains(label)) {
            InvalidPem::UnsupportedFormat
        } else {
            InvalidPem::NoKey
        });
    };
    let (body, rest) = rest.split_once(END).ok_or(InvalidPem::NoKey)?;
    if rest.contains(BEGIN) {
        return Err(InvalidPem::MultipleKeys);
    }
    let mut body: String = body.split_ascii_whitespace().collect();
    let key = BASE64.decode(body.as_bytes()).map_err(|_| InvalidPem::NotBase64);
    body.zeroize();
    Ok(key?.into())
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn single_key_of_a_file_is_read() {
        let lines = format!("Bag attributes\r\n{BEGIN}\r\nAAEC\r\nAwQ=\r\n{END}\r\n");
        assert_eq!(read_pem(&lines).unwrap().expose_secret(), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn every_other_pem_has_an_error() {
        let other = |label: &str| format!("-----BEGIN {label}-----\nAAEC\n-----END {label}-----\n");
        for (text, expected) in [
            (String::new(), InvalidPem::NoKey),
            (other("CERTIFICATE"), InvalidPem::NoKey),
            (other("PUBLIC KEY"), InvalidPem::NoKey),
            (other("RSA PRIVATE KEY"), InvalidPem::UnsupportedFormat),
            (other("EC PRIVATE KEY"), InvalidPem::UnsupportedFormat),
            (other("ENCRYPTED PRIVATE KEY"), InvalidPem::Encrypted),
            (other("RSA PRIVATE KEY").replace("AAEC", "Proc-Type: 4,ENCRYPTED\n\nAAEC"), InvalidPem::Encrypted),
            (other("PRIVATE KEY") + &other("PRIVATE KEY"), InvalidPem::MultipleKeys),
            (other("PRIVATE KEY").replace("AAEC", "AA!C"), InvalidPem::NotBase64),
            (other("PRIVATE KEY").replace("END", "MID"), InvalidPem::NoKey),
        ] {
            assert_eq!(read_pem(&text).unwrap_err(), expected, "{text}");
        }
    }
}
