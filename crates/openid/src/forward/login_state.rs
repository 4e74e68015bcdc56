//! Creates and verifies the parameter `state` of a login at an application. It contains the
//! requested page, and is bound to the browser that started the login. No state is stored on the
//! server: all values are derived from a secret in a cookie of the application's host.

use data_encoding::BASE64URL_NOPAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use signpost_platform::pages::cookie::CookieSecret;
use subtle::ConstantTimeEq;

use super::local_path::LocalPath;
use crate::ids::ClientId;

/// Maximum length of the parameter, which consists of an encoded path and other parts.
const MAX_STATE_LEN: usize = 3000;

/// A login that was started at an application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AppLogin {
    pub(super) client: ClientId,
    /// The page to return to.
    pub(super) path: LocalPath,
    /// Random bytes that distinguish several logins of a browser.
    pub(super) random: [u8; 16],
}

/// A `state` parameter that is not verified.
#[derive(Clone, Debug)]
pub(super) struct PresentedLogin {
    /// The login that the parameter describes.
    pub(super) claimed: AppLogin,
    seal: Vec<u8>,
}

impl AppLogin {
    /// Returns the parameter `state` for the browser with this secret.
    pub(super) fn to_text(&self, browser: &CookieSecret) -> String {
        let random = BASE64URL_NOPAD.encode(&self.random);
        let path = BASE64URL_NOPAD.encode(self.path.as_str().as_bytes());
        format!("{}.{random}.{path}.{}", self.client, BASE64URL_NOPAD.encode(&self.seal(browser)))
    }

    /// Returns the code verifier, which never leaves the server (RFC 7636, 4.1).
    pub(super) fn verifier(&self, browser: &CookieSecret) -> String {
        BASE64URL_NOPAD.encode(&self.derive(browser, "verifier"))
    }

    /// Returns the code challenge (RFC 7636, 4.2).
    pub(super) fn challenge(&self, browser: &CookieSecret) -> String {
        BASE64URL_NOPAD.encode(&Sha256::digest(self.verifier(browser)))
    }

    fn seal(&self, browser: &CookieSecret) -> [u8; 32] {
        self.derive(browser, "state")
    }

    fn derive(&self, browser: &CookieSecret, purpose: &str) -> [u8; 32] {
        let mac = Hmac::<Sha256>::new_from_slice(browser.reveal().as_bytes()).expect("HMAC takes keys of any length");
        let mac = mac.chain_update("signpost app login ").chain_update(purpose).chain_update(self.random);
        mac.chain_update(self.client.as_str()).chain_update(self.path.as_str()).finalize().into_bytes().into()
    }
}

impl PresentedLogin {
    /// Parses the parameter.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_STATE_LEN {
            return None;
        }
        let mut parts = text.split('.');
        let client = ClientId::parse(parts.next()?)?;
        let random = decode(parts.next()?)?.try_into().ok()?;
        let path = LocalPath::parse(str::from_utf8(&decode(parts.next()?)?).ok()?)?;
        let seal = decode(parts.next()?)?;
        parts.next().is_none().then_some(Self { claimed: AppLogin { client, path, random }, seal })
    }

    /// Returns the login if it was started in the browser with this secret. Compares in constant time.
    pub(super) fn check(self, browser: &CookieSecret) -> Option<AppLogin> {
        let is_same: bool = self.claimed.seal(browser).ct_eq(&self.seal).into();
        is_same.then_some(self.claimed)
    }
}

fn decode(part: &str) -> Option<Vec<u8>> {
    BASE64URL_NOPAD.decode(part.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn browser(number: u8) -> CookieSecret {
        CookieSecret::from_bytes([number; 32])
    }

    fn state(path: &str) -> AppLogin {
        let client = ClientId::new(Timestamp::UNIX_EPOCH, [1; 16]);
        AppLogin { client, path: LocalPath::parse(path).unwrap(), random: [2; 16] }
    }

    #[test]
    fn login_state_belongs_to_its_browser() {
        let state = state("/a%2Fb?c=d.e&f");
        let text = state.to_text(&browser(1));
        assert_eq!(PresentedLogin::parse(&text).unwrap().check(&browser(1)), Some(state));
        assert!(PresentedLogin::parse(&text).unwrap().check(&browser(2)).is_none());
        let longest = self::state(&format!("/{}", "a".repeat(2047))).to_text(&browser(1));
        assert!(PresentedLogin::parse(&longest).unwrap().check(&browser(1)).is_some());
    }

    #[test]
    fn changed_login_state_is_rejected() {
        let texts = [state("/a"), state("/b")].map(|state| state.to_text(&browser(1)));
        let [one, other] = texts.each_ref().map(|text| text.split('.').collect::<Vec<_>>());
        for changed in 1..4 {
            let mut parts = one.clone();
            parts[changed] = if changed == 1 { "AAAAAAAAAAAAAAAAAAAAAA" } else { other[changed] };
            assert!(PresentedLogin::parse(&parts.join(".")).unwrap().check(&browser(1)).is_none(), "{changed}");
        }
        let client = ClientId::new(Timestamp::UNIX_EPOCH, [9; 16]);
        let elsewhere = [&[client.as_str()], &one[1..]].concat().join(".");
        assert!(PresentedLogin::parse(&elsewhere).unwrap().check(&browser(1)).is_none());
    }

    #[test]
    fn foreign_login_state_is_rejected() {
        let good = state("/a").to_text(&browser(1));
        let away = BASE64URL_NOPAD.encode(b"//evil.example");
        let parts: Vec<_> = good.split('.').collect();
        let away = [parts[0], parts[1], &away, parts[3]].join(".");
        let long = format!("{good}{}", "A".repeat(3000));
        for text in [
            "",
            "x",
            &good[1..],
            &format!("{good}."),
            &format!("{good}.x"),
            &away,
            &long,
            "....",
            &parts[..3].join("."),
        ] {
            assert!(PresentedLogin::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn each_login_has_its_own_verifier() {
        let (one, other) = (state("/"), AppLogin { random: [3; 16], ..state("/") });
        assert_ne!(one.verifier(&browser(1)), other.verifier(&browser(1)));
        assert_eq!((one.verifier(&browser(1)).len(), one.challenge(&browser(1)).len()), (43, 43));
        assert!(!one.to_text(&browser(1)).contains(&one.verifier(&browser(1))));
    }
}
