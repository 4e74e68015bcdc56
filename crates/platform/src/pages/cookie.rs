//! Cookies that contain a random secret, of which only the hash is stored.

use std::fmt;
use std::time::Duration;

use anyhow::Context as _;
use axum::http::{HeaderMap, HeaderValue, header};
use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::origin::PublicOrigin;

/// The name of a cookie. Over https it has the prefix `__Host-`, so that no other host can set the
/// cookie. Over http, which is for the local machine only, it has no prefix.
#[derive(Clone, Copy, Debug)]
pub struct CookieName(&'static str);

/// The secret value of a cookie: 256 random bits.
#[derive(Clone, Debug)]
pub struct CookieSecret(SecretString);

/// The hash of a cookie value, stored instead of the value.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct CookieHash(String);

impl CookieName {
    /// Creates the name of a cookie, given without the prefix.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// Returns the value of this cookie in a request. Returns `None` if the browser sent two
    /// cookies with this name, because another host has set one of them.
    #[must_use]
    pub fn read(self, origin: &PublicOrigin, headers: &HeaderMap) -> Option<CookieSecret> {
        self.read_over(origin.is_https(), headers)
    }

    /// Returns the value of this cookie in a request, if only the scheme of the origin is known.
    #[must_use]
    pub fn read_over(self, is_https: bool, headers: &HeaderMap) -> Option<CookieSecret> {
        let name = format!("{}{}=", prefix(is_https), self.0);
        // Compares bytes, because other cookies of the host may have any encoding.
        let lines = headers.get_all(header::COOKIE).iter().map(HeaderValue::as_bytes);
        let pairs = lines.flat_map(|line| line.split(|byte| *byte == b';')).map(<[u8]>::trim_ascii);
        let mut values = pairs.filter_map(|pair| pair.strip_prefix(name.as_bytes()));
        let value = values.next()?;
        if values.next().is_some() {
            return None;
        }
        CookieSecret::parse(str::from_utf8(value).ok()?)
    }

    /// Returns the `Set-Cookie` value that stores the secret in a browser for this lifetime.
    ///
    /// # Panics
    /// Never panics: names and secrets are valid in a header.
    #[must_use]
    pub fn set(self, origin: &PublicOrigin, secret: &CookieSecret, lifetime: Duration) -> HeaderValue {
        self.header(origin, secret.reveal(), lifetime)
    }

    /// Returns the `Set-Cookie` value that deletes the cookie in a browser.
    ///
    /// # Panics
    /// Never panics: names are valid in a header.
    #[must_use]
    pub fn clear(self, origin: &PublicOrigin) -> HeaderValue {
        self.header(origin, "", Duration::ZERO)
    }

    fn header(self, origin: &PublicOrigin, value: &str, lifetime: Duration) -> HeaderValue {
        let name = format!("{}{}", prefix(origin.is_https()), self.0);
        let seconds = lifetime.as_secs();
        let secure = if origin.is_https() { "; Secure" } else { "" };
        let text = format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
        let mut header = HeaderValue::try_from(text).expect("names and secrets have only letters and digits");
        header.set_sensitive(true);
        header
    }
}

/// Returns the name prefix that prevents other hosts from setting a cookie (RFC 6265bis, section
/// 4.1.3.2).
fn prefix(is_https: bool) -> &'static str {
    if is_https { "__Host-" } else { "" }
}

impl CookieSecret {
    /// Creates a secret from 32 random bytes.
    #[must_use]
    pub fn from_bytes(random: [u8; 32]) -> Self {
        Self(BASE64URL_NOPAD.encode(&random).into())
    }

    /// Parses the value of a cookie. Returns `None` if it is not 32 bytes in base64url.
    #[must_use]
    pub fn parse(value: &str) -> Option<Self> {
        let bytes = BASE64URL_NOPAD.decode(value.as_bytes()).ok();
        bytes.filter(|bytes| bytes.len() == 32).map(|_| Self(value.into()))
    }

    /// Returns the value of the cookie.
    #[must_use]
    pub fn reveal(&self) -> &str {
        self.0.expose_secret()
    }

    /// Returns the hash that is stored.
    #[must_use]
    pub fn hash(&self) -> CookieHash {
        CookieHash(HEXLOWER.encode(&Sha256::digest(self.reveal())))
    }

    /// Derives 32 bytes for a purpose and an ID. The result is equal in all tabs and after a
    /// reload, and cannot be computed from the database.
    ///
    /// # Panics
    /// Never panics: HMAC accepts keys of any length.
    #[must_use]
    pub fn derive(&self, purpose: &str, id: &str) -> [u8; 32] {
        let mac = Hmac::<Sha256>::new_from_slice(self.reveal().as_bytes()).expect("HMAC takes keys of any length");
        mac.chain_update(purpose).chain_update(id).finalize().into_bytes().into()
    }
}

impl CookieHash {
    /// Returns the hash in hex, as it is stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Parses a stored hash. Returns `None` if the text is not a hash.
    #[must_use]
    pub fn from_stored(text: &str) -> Option<Self> {
        let is_hash = text.len() == 64 && HEXLOWER.decode(text.as_bytes()).is_ok();
        is_hash.then(|| Self(text.to_owned()))
    }

    /// Returns `true` if both hashes are equal. Compares in constant time.
    #[must_use]
    pub fn matches(&self, other: &Self) -> bool {
        self.0.as_bytes().ct_eq(other.0.as_bytes()).into()
    }
}

signpost_store::text_columns! {
    CookieHash: CookieHash::as_str, |text| CookieHash::from_stored(text).context("no hash of a cookie");
}

impl fmt::Debug for CookieHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CookieHash")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cookie_values_are_parsed() {
        let secret = CookieSecret::from_bytes([7; 32]);
        assert_eq!(CookieSecret::parse(secret.reveal()).unwrap().hash(), secret.hash());
        for value in ["", "abc", &secret.reveal()[1..], &format!("{}=", secret.reveal()), "é"] {
            assert!(CookieSecret::parse(value).is_none(), "{value}");
        }
    }

    const PAGE: CookieName = CookieName::new("signpost_page");

    fn read(origin: &str, lines: &[&str]) -> Option<CookieHash> {
        let lines = lines.iter().map(|line| (header::COOKIE, HeaderValue::from_bytes(line.as_bytes()).unwrap()));
        PAGE.read(&PublicOrigin::new(origin), &lines.collect()).map(|secret| secret.hash())
    }

    #[test]
    fn https_cookie_has_the_host_prefix() {
        let (secret, hour) = (CookieSecret::from_bytes([7; 32]), Duration::from_hours(1));
        let value = secret.reveal();
        let (https, http) = (PublicOrigin::new("https://login.test"), PublicOrigin::new("http://localhost:8080"));
        let strict = format!("__Host-signpost_page={value}; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax; Secure");
        assert_eq!(PAGE.set(&https, &secret, hour), strict.as_str());
        let plain = format!("signpost_page={value}; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax");
        assert_eq!(PAGE.set(&http, &secret, hour), plain.as_str());
        assert_eq!(PAGE.clear(&http), "signpost_page=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax");
    }

    #[test]
    fn cookie_is_read_by_its_exact_name() {
        let secret = CookieSecret::from_bytes([7; 32]);
        let (plain, strict) =
            (format!("signpost_page={}", secret.reveal()), format!("__Host-signpost_page={}", secret.reveal()));
        let (https, http) = ("https://login.test", "http://localhost:8080");
        let (among_others, beside_letters) = (format!("a=b; {strict};c"), format!("name=Zoë; {strict}"));
        for (origin, lines, is_read) in [
            (https, &[strict.as_str()][..], true),
            (https, &[&among_others], true),
            (https, &[&beside_letters], true),
            (https, &["a=b", &strict], true),
            (https, &[&plain], false),
            (http, &[&plain], true),
            (http, &[&strict], false),
            (http, &["signpost_page=short"], false),
            (http, &["signpost_page=é"], false),
            (http, &[&plain, &plain], false),
            (http, &["signpost_page=x", &plain], false),
            (http, &[], false),
        ] {
            assert_eq!(read(origin, lines), is_read.then(|| secret.hash()), "{origin} {lines:?}");
        }
    }

    #[test]
    fn only_stored_hashes_are_parsed() {
        let hash = CookieSecret::from_bytes([7; 32]).hash();
        assert_eq!(CookieHash::from_stored(hash.as_str()), Some(hash.clone()));
        for text in ["", "abc", &hash.as_str()[1..], &hash.as_str().to_uppercase()] {
            assert_eq!(CookieHash::from_stored(text), None, "{text}");
        }
    }

    #[test]
    fn debug_output_omits_the_cookie() {
        let secret = CookieSecret::from_bytes([7; 32]);
        let printed = format!("{secret:?} {:?}", secret.hash());
        assert!(!printed.contains(secret.reveal()) && !printed.contains("Bwc"), "{printed}");
        assert!(!secret.hash().matches(&CookieSecret::from_bytes([8; 32]).hash()));
    }
}
