//! Refresh token rotation. Each refresh token is used once and replaced by a successor. If a token
//! is presented again, it was stolen or the response to its first use was lost. A lost response is
//! assumed only during a short grace period, and only if the successor is unused.

use anyhow::{Context, Result, anyhow};
use data_encoding::BASE64_NOPAD;
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use sha2::Sha256;

use super::token::{OpaqueToken, OpaqueTokenKind};
use super::{REFRESH_GRACE, StoredToken, TokenKind};

/// The decision on a refresh token that was presented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefreshDecision {
    /// Replace the token.
    Rotate,
    /// Return the successor again, because the response was lost.
    Repeat,
    /// Revoke the grant, because two parties have the token.
    Revoke,
    /// Refuse the token, because it is not a refresh token or has expired.
    Refuse,
}

/// Decides on a refresh token. `successor` is the token that replaced it, if any.
#[must_use]
pub fn decide_refresh(token: &StoredToken, successor: Option<&StoredToken>, now: Timestamp) -> RefreshDecision {
    if token.kind != TokenKind::Refresh {
        return RefreshDecision::Refuse;
    }
    let Some(replaced_at) = token.replaced_at else {
        return if now < token.expires_at { RefreshDecision::Rotate } else { RefreshDecision::Refuse };
    };
    // If the clock was set back, a token that was replaced later than now counts as replaced just now.
    let is_in_grace = now < replaced_at + REFRESH_GRACE;
    let is_unused = successor.is_some_and(|next| next.replaced_at.is_none());
    if is_in_grace && is_unused { RefreshDecision::Repeat } else { RefreshDecision::Revoke }
}

/// Encrypts the successor of a token for the token's row. It can be decrypted only with the token itself.
///
/// # Panics
/// Never: keys and nonces have the lengths that the algorithm requires.
#[must_use]
pub fn seal_successor(token: &OpaqueToken, successor: &OpaqueToken, random: [u8; NONCE_LEN]) -> String {
    let mut sealed = successor.reveal().as_bytes().to_vec();
    let nonce = Nonce::assume_unique_for_key(random);
    key_of(token).seal_in_place_append_tag(nonce, Aad::empty(), &mut sealed).expect("a token is short");
    BASE64_NOPAD.encode(&[&random[..], &sealed].concat())
}

/// Decrypts the successor in the row of a token.
///
/// # Errors
/// Returns an error if the text was not encrypted for this token.
pub fn open_successor(token: &OpaqueToken, sealed: &str) -> Result<OpaqueToken> {
    let mut bytes = BASE64_NOPAD.decode(sealed.as_bytes()).context("a successor is not base64")?;
    let nonce = bytes.get(..NONCE_LEN).context("a successor is too short")?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| anyhow!("a successor has no nonce"))?;
    let opened = key_of(token).open_within(nonce, Aad::empty(), &mut bytes, NONCE_LEN..);
    let opened = opened.map_err(|_| anyhow!("a successor was written for another token"))?;
    let text = std::str::from_utf8(opened).context("a successor is no text")?;
    OpaqueToken::parse(OpaqueTokenKind::Refresh, text).context("a successor is no token")
}

fn key_of(token: &OpaqueToken) -> LessSafeKey {
    let mac = Hmac::<Sha256>::new_from_slice(token.reveal().as_bytes()).expect("HMAC takes keys of any length");
    let key = mac.chain_update("signpost refresh successor").finalize().into_bytes();
    LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &key).expect("a key of 32 bytes"))
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;
    use crate::grants::REFRESH_TOKEN_TTL;
    use crate::ids::GrantId;

    const START: Timestamp = Timestamp::UNIX_EPOCH;
    const SECOND: SignedDuration = SignedDuration::from_secs(1);

    fn refresh(number: u8) -> OpaqueToken {
        OpaqueToken::new(OpaqueTokenKind::Refresh, [number; 32])
    }

    fn stored(number: u8, kind: TokenKind) -> StoredToken {
        StoredToken::begin(&refresh(number), kind, &GrantId::new(START, [1; 16]), START)
    }

    fn replaced(at: Timestamp) -> StoredToken {
        StoredToken { replaced_at: Some(at), ..stored(1, TokenKind::Refresh) }
    }

    #[test]
    fn refresh_token_is_used_once_in_time() {
        let token = stored(1, TokenKind::Refresh);
        assert_eq!(decide_refresh(&token, None, START + REFRESH_TOKEN_TTL - SECOND), RefreshDecision::Rotate);
        assert_eq!(decide_refresh(&token, None, START + REFRESH_TOKEN_TTL), RefreshDecision::Refuse);
        for kind in [TokenKind::Access, TokenKind::Session] {
            assert_eq!(decide_refresh(&stored(1, kind), None, START), RefreshDecision::Refuse);
        }
    }

    #[test]
    fn lost_refresh_response_is_repeated() {
        let (old, next) = (replaced(START), stored(2, TokenKind::Refresh));
        let used = StoredToken { replaced_at: Some(START), ..next.clone() };
        for (successor, after, verdict) in [
            (Some(&next), SignedDuration::ZERO, RefreshDecision::Repeat),
            (Some(&next), REFRESH_GRACE - SECOND, RefreshDecision::Repeat),
            (Some(&next), -SECOND, RefreshDecision::Repeat),
            (Some(&next), REFRESH_GRACE, RefreshDecision::Revoke),
            (Some(&used), SECOND, RefreshDecision::Revoke),
            (None, SECOND, RefreshDecision::Revoke),
        ] {
            assert_eq!(decide_refresh(&old, successor, START + after), verdict, "{after}");
        }
    }

    #[test]
    fn only_the_previous_token_decrypts_its_successor() {
        let sealed = seal_successor(&refresh(1), &refresh(2), [9; NONCE_LEN]);
        assert_eq!(open_successor(&refresh(1), &sealed).unwrap().reveal(), refresh(2).reveal());
        assert!(open_successor(&refresh(2), &sealed).is_err());
        for invalid in ["", "AAAA", &sealed[..sealed.len() - 4], &sealed.replacen('C', "D", 1)] {
            assert!(open_successor(&refresh(1), invalid).is_err() || *invalid == sealed, "{invalid}");
        }
    }
}
