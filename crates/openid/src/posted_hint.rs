//! Carries the `id_token_hint` of a posted request over to the following `GET`, because the browser
//! sends its cookies only with that. An ID token must not be in a URL, because logs and histories
//! store URLs. Therefore the URL contains the claims of the verified token, encrypted for the
//! browser that posted it.

use data_encoding::BASE64URL_NOPAD;
use hmac::{Hmac, KeyInit, Mac};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use serde_json::Value;
use sha2::Sha256;
use signpost_login::ids::{BrowserSessionId, DomainId, UserId};
use signpost_platform::pages::cookie::CookieSecret;

/// The claims of a verified ID token that are used as a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdTokenHint {
    /// The user, `sub`.
    pub user_id: UserId,
    /// The browser session, `sid`.
    pub session_id: Option<BrowserSessionId>,
    /// The client, `aud`.
    pub client_id: String,
}

impl IdTokenHint {
    /// Reads the claims of a verified token. `None` if another issuer issued it.
    #[must_use]
    pub fn from_claims(claims: &Value, issuer: &str) -> Option<Self> {
        if claims["iss"].as_str() != Some(issuer) {
            return None;
        }
        Some(Self {
            user_id: UserId::parse(claims["sub"].as_str()?)?,
            session_id: claims["sid"].as_str().and_then(BrowserSessionId::parse),
            client_id: claims["aud"].as_str().unwrap_or_default().to_owned(),
        })
    }

    /// Encrypts the hint for the browser with this cookie and the issuer of this domain.
    ///
    /// # Panics
    /// Never: keys and nonces have the lengths that the algorithm requires.
    #[must_use]
    pub fn seal(&self, cookie: &CookieSecret, domain: &DomainId, random: [u8; NONCE_LEN]) -> String {
        let session = self.session_id.as_ref().map_or("", BrowserSessionId::as_str);
        let mut sealed = format!("{} {session} {}", self.user_id.as_str(), self.client_id).into_bytes();
        let nonce = Nonce::assume_unique_for_key(random);
        let domain = Aad::from(domain.as_str().as_bytes());
        key_of(cookie).seal_in_place_append_tag(nonce, domain, &mut sealed).expect("a hint is short");
        BASE64URL_NOPAD.encode(&[&random[..], &sealed].concat())
    }

    /// Decrypts a hint. `None` if it was encrypted for another browser or domain, or is not a hint.
    #[must_use]
    pub fn open(sealed: &str, cookie: &CookieSecret, domain: &DomainId) -> Option<Self> {
        let mut bytes = BASE64URL_NOPAD.decode(sealed.as_bytes()).ok()?;
        let nonce = Nonce::try_assume_unique_for_key(bytes.get(..NONCE_LEN)?).ok()?;
        let domain = Aad::from(domain.as_str().as_bytes());
        let opened = key_of(cookie).open_within(nonce, domain, &mut bytes, NONCE_LEN..).ok()?;
        let mut parts = str::from_utf8(opened).ok()?.splitn(3, ' ');
        Some(Self {
            user_id: UserId::parse(parts.next()?)?,
            session_id: BrowserSessionId::parse(parts.next()?),
            client_id: parts.next()?.to_owned(),
        })
    }
}

fn key_of(cookie: &CookieSecret) -> LessSafeKey {
    let mac = Hmac::<Sha256>::new_from_slice(cookie.reveal().as_bytes()).expect("HMAC takes keys of any length");
    let key = mac.chain_update("signpost posted hint").finalize().into_bytes();
    LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &key).expect("a key of 32 bytes"))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::json;

    use super::*;

    fn cookie(number: u8) -> CookieSecret {
        CookieSecret::from_bytes([number; 32])
    }

    fn domain_id(number: u8) -> DomainId {
        DomainId::new(Timestamp::UNIX_EPOCH, [number; 16])
    }

    fn hint(has_session: bool) -> IdTokenHint {
        let session = BrowserSessionId::new(Timestamp::UNIX_EPOCH, [2; 16]);
        IdTokenHint {
            user_id: UserId::new(Timestamp::UNIX_EPOCH, [1; 16]),
            session_id: has_session.then_some(session),
            client_id: "cli_1".to_owned(),
        }
    }

    #[test]
    fn hint_decrypts_only_for_its_browser_and_domain() {
        for hint in [hint(true), hint(false)] {
            let sealed = hint.seal(&cookie(1), &domain_id(1), [7; NONCE_LEN]);
            assert_eq!(IdTokenHint::open(&sealed, &cookie(1), &domain_id(1)), Some(hint.clone()));
            assert_eq!(IdTokenHint::open(&sealed, &cookie(2), &domain_id(1)), None);
            assert_eq!(IdTokenHint::open(&sealed, &cookie(1), &domain_id(2)), None);
            for changed in ["", "AAAA", "unknown", &sealed[1..], &sealed[..sealed.len() - 4]] {
                assert_eq!(IdTokenHint::open(changed, &cookie(1), &domain_id(1)), None, "{changed}");
            }
            assert!(!sealed.contains(hint.user_id.as_str()));
        }
    }

    #[test]
    fn claims_of_another_issuer_are_ignored() {
        let IdTokenHint { user_id, session_id, .. } = hint(true);
        let (sub, sid) = (user_id.as_str(), session_id.as_ref().map(BrowserSessionId::as_str));
        let claims = json!({ "iss": "https://login.test/dom_1", "sub": sub, "sid": sid, "aud": "cli_1" });
        assert_eq!(IdTokenHint::from_claims(&claims, "https://login.test/dom_1"), Some(hint(true)));
        assert_eq!(IdTokenHint::from_claims(&claims, "https://login.test/dom_2"), None);
        let of_nobody = json!({ "iss": "https://login.test/dom_1", "aud": "cli_1" });
        assert_eq!(IdTokenHint::from_claims(&of_nobody, "https://login.test/dom_1"), None);
    }
}
