//! Refresh tokens are used once each: the answer has the next one. One that comes again was stolen, or its answer was lost on
//! the way. Which of the two it was shows in a short time of grace, and by whether anybody has the next one.

use anyhow::{Context, Result, anyhow};
use data_encoding::BASE64_NOPAD;
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use sha2::Sha256;

use super::bearer::{Bearer, BearerKind};
use super::{REFRESH_GRACE, StoredToken, TokenKind};

/// What to do about a refresh token that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefreshVerdict {
    /// It is replaced.
    Rotate,
    /// The answer before was lost: the same next one is sent again.
    Repeat,
    /// Two have it: all that came of the grant ends.
    Revoke,
    /// It is none, or over.
    Refuse,
}

/// What to do about this refresh token. `successor` is the one that replaced it, if one did.
#[must_use]
pub fn judge_refresh(token: &StoredToken, successor: Option<&StoredToken>, now: Timestamp) -> RefreshVerdict {
    if token.kind != TokenKind::Refresh {
        return RefreshVerdict::Refuse;
    }
    let Some(replaced_at) = token.replaced_at else {
        return if now < token.expires_at { RefreshVerdict::Rotate } else { RefreshVerdict::Refuse };
    };
    // A clock that was set back makes no grace longer: what was replaced later than now was replaced just now.
    let is_in_grace = now < replaced_at + REFRESH_GRACE;
    let is_unused = successor.is_some_and(|next| next.replaced_at.is_none());
    if is_in_grace && is_unused { RefreshVerdict::Repeat } else { RefreshVerdict::Revoke }
}

/// The next token, for the row of the one before: only whoever has that one can read it there.
///
/// # Panics
/// Never: keys and nonces have the lengths that the algorithm wants.
#[must_use]
pub fn seal_successor(token: &Bearer, successor: &Bearer, random: [u8; NONCE_LEN]) -> String {
    let mut sealed = successor.reveal().as_bytes().to_vec();
    let (key, nonce) = (key_of(token), Nonce::assume_unique_for_key(random));
    key.seal_in_place_append_tag(nonce, Aad::empty(), &mut sealed).expect("a token is short");
    BASE64_NOPAD.encode(&[&random[..], &sealed].concat())
}

/// The next token, out of the row of this one.
///
/// # Errors
/// Where the row has none that was written for this token.
pub fn open_successor(token: &Bearer, sealed: &str) -> Result<Bearer> {
    let mut bytes = BASE64_NOPAD.decode(sealed.as_bytes()).context("a successor is not base64")?;
    let nonce = bytes.get(..NONCE_LEN).context("a successor is too short")?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| anyhow!("a successor has no nonce"))?;
    let opened = key_of(token).open_within(nonce, Aad::empty(), &mut bytes, NONCE_LEN..);
    let opened = opened.map_err(|_| anyhow!("a successor was written for another token"))?;
    let text = std::str::from_utf8(opened).context("a successor is no text")?;
    Bearer::parse(BearerKind::Refresh, text).context("a successor is no token")
}

fn key_of(token: &Bearer) -> LessSafeKey {
    let mac = Hmac::<Sha256>::new_from_slice(token.reveal().as_bytes()).expect("HMAC takes keys of any length");
    let key = mac.chain_update("signpost refresh successor").finalize().into_bytes();
    LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &key).expect("a key of 32 bytes"))
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;
    use crate::grants::REFRESH_LASTS;
    use crate::ids::GrantId;

    const START: Timestamp = Timestamp::UNIX_EPOCH;
    const SECOND: SignedDuration = SignedDuration::from_secs(1);

    fn refresh(number: u8) -> Bearer {
        Bearer::new(BearerKind::Refresh, [number; 32])
    }

    fn stored(number: u8, kind: TokenKind) -> StoredToken {
        StoredToken::begin(&refresh(number), kind, &GrantId::new(START, [1; 16]), START)
    }

    fn replaced(at: Timestamp) -> StoredToken {
        StoredToken { replaced_at: Some(at), ..stored(1, TokenKind::Refresh) }
    }

    #[test]
    fn a_token_is_used_once_within_its_time() {
        let token = stored(1, TokenKind::Refresh);
        assert_eq!(judge_refresh(&token, None, START + REFRESH_LASTS - SECOND), RefreshVerdict::Rotate);
        assert_eq!(judge_refresh(&token, None, START + REFRESH_LASTS), RefreshVerdict::Refuse);
        for kind in [TokenKind::Access, TokenKind::Session] {
            assert_eq!(judge_refresh(&stored(1, kind), None, START), RefreshVerdict::Refuse);
        }
    }

    #[test]
    fn a_lost_answer_is_sent_again_as_long_as_nobody_has_what_it_said() {
        let (old, next) = (replaced(START), stored(2, TokenKind::Refresh));
        let used = StoredToken { replaced_at: Some(START), ..next.clone() };
        for (successor, after, verdict) in [
            (Some(&next), SignedDuration::ZERO, RefreshVerdict::Repeat),
            (Some(&next), REFRESH_GRACE - SECOND, RefreshVerdict::Repeat),
            (Some(&next), -SECOND, RefreshVerdict::Repeat),
            (Some(&next), REFRESH_GRACE, RefreshVerdict::Revoke),
            (Some(&used), SECOND, RefreshVerdict::Revoke),
            (None, SECOND, RefreshVerdict::Revoke),
        ] {
            assert_eq!(judge_refresh(&old, successor, START + after), verdict, "{after}");
        }
    }

    #[test]
    fn only_the_token_before_opens_the_next() {
        let sealed = seal_successor(&refresh(1), &refresh(2), [9; NONCE_LEN]);
        assert_eq!(open_successor(&refresh(1), &sealed).unwrap().reveal(), refresh(2).reveal());
        assert!(open_successor(&refresh(2), &sealed).is_err());
        for spoilt in ["", "AAAA", &sealed[..sealed.len() - 4], &sealed.replacen('C', "D", 1)] {
            assert!(open_successor(&refresh(1), spoilt).is_err() || *spoilt == sealed, "{spoilt}");
        }
    }
}
