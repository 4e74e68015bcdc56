//! `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header): a creation that is asked for twice happens once.

use anyhow::Result;
use axum::http::HeaderMap;
use data_encoding::HEXLOWER;
use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};
use signpost_platform::accounts::Account;
use signpost_platform::web::problem::Problem;
use signpost_store::{Step, Store, Stored, must, params, rows, sql};

use crate::error::Error;

/// How long a key's reply is replayed.
pub const REPLAY_WINDOW: SignedDuration = SignedDuration::from_hours(24);
/// Most characters of a key.
const MAX_KEY_LEN: usize = 255;

const FIND: &str =
    sql!(RememberedReply::SELECT, " WHERE account = $1 AND environment = $2 AND key = $3 AND created_at > $4");

/// A key that was forgotten is free again; one that is remembered lets nothing of the write happen.
const INSERT: &str = sql!(
    RememberedReply::INSERT,
    " ON CONFLICT (account, environment, key) DO UPDATE SET asked = $4, reply = $5, created_at = $6
     WHERE idempotency_keys.created_at <= $7"
);

rows! {
    /// What was answered to the request with a key.
    pub struct RememberedReply in "idempotency_keys" by [account, environment, key] {
        account: Account,
        key: String,
        asked: String,
        reply: String,
        created_at: Timestamp,
    }
}

/// A key, and what was asked with it.
#[derive(Clone, Debug)]
pub struct IdempotencyKey {
    key: String,
    /// A hash of the request, to tell another one under the same key.
    asked: String,
}

impl IdempotencyKey {
    /// The key of a request, if it names one; `asked` spells all of the request that counts.
    ///
    /// # Errors
    /// Where the key is not 1 to 255 visible characters of ASCII, or stands there twice, or those of `asked`.
    pub fn from_headers(
        headers: &HeaderMap,
        asked: impl FnOnce() -> Result<String, Error>,
    ) -> Result<Option<Self>, Error> {
        let mut all = headers.get_all("idempotency-key").iter();
        let Some(first) = all.next() else { return Ok(None) };
        let key = first.to_str().unwrap_or_default().trim();
        let is_fit = (1..=MAX_KEY_LEN).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_fit || all.next().is_some() {
            let reason = format!("must be one key of 1 to {MAX_KEY_LEN} visible ASCII characters");
            return Err(Problem::field("Idempotency-Key", reason).into());
        }
        Ok(Some(Self { key: key.to_owned(), asked: HEXLOWER.encode(&Sha256::digest(asked()?)) }))
    }

    /// Stores the reply, in the write that the request makes.
    pub(crate) fn store(&self, account: &Account, reply: &str, now: Timestamp) -> Step {
        let Self { key, asked } = self.clone();
        let row = RememberedReply { account: account.clone(), key, asked, reply: reply.to_owned(), created_at: now };
        let forgotten_before = now - REPLAY_WINDOW;
        must(INSERT, row.params().into_iter().chain(params![forgotten_before]).collect())
    }
}

/// What was answered to the same request before.
///
/// # Errors
/// Where the key belongs to another request, or as [`Store::read`].
pub(crate) async fn find_reply(
    store: &Store,
    account: &Account,
    key: &IdempotencyKey,
    now: Timestamp,
) -> Result<Option<String>, Error> {
    let params = params![&account.name, account.environment, &key.key, now - REPLAY_WINDOW];
    let Some(row) = store.read_by_index(FIND, params).await? else { return Ok(None) };
    let RememberedReply { asked, reply, .. } = RememberedReply::from_row(row)?;
    if asked == key.asked { Ok(Some(reply)) } else { Err(Error::IdempotencyKeyReused) }
}
