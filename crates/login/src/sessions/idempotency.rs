//! `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header): a repeated creation request does not create another
//! session or user.

use anyhow::Result;
use axum::http::{HeaderMap, HeaderName};
use data_encoding::HEXLOWER;
use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};
use signpost_platform::accounts::Account;
use signpost_platform::web::problem::Problem;
use signpost_platform::web::single_header;
use signpost_store::{Statement, Store, Stored, params, rows, sql};

use crate::error::Error;

/// Lifetime of a stored reply.
pub const REPLAY_WINDOW: SignedDuration = SignedDuration::from_hours(24);
/// Name of the request header with the idempotency key.
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Response header that marks the stored reply to an earlier request with the same idempotency key.
pub(crate) const REPLAYED: (HeaderName, &str) = (HeaderName::from_static("idempotent-replayed"), "true");
/// Maximum characters of a key.
const MAX_KEY_LEN: usize = 255;

const FIND: &str =
    sql!(RememberedReply::SELECT, " WHERE account = $1 AND environment = $2 AND key = $3 AND created_at > $4");

/// Stores a reply. Changes no row if the key has a reply that has not expired, so that the write
/// conflicts.
const INSERT: &str = sql!(
    RememberedReply::INSERT,
    " ON CONFLICT (account, environment, key) DO UPDATE SET asked = $4, reply = $5, created_at = $6
     WHERE idempotency_keys.created_at <= $7"
);

rows! {
    /// The stored reply to a request with an idempotency key.
    pub struct RememberedReply in "idempotency_keys" by [account, environment, key] {
        account: Account,
        key: String,
        asked: String,
        reply: String,
        created_at: Timestamp,
    }
}

/// An idempotency key, with the hash of the request that was sent with it.
#[derive(Clone, Debug)]
pub struct IdempotencyKey {
    key: String,
    /// The SHA-256 hash of the request, which detects another request with this key.
    asked: String,
}

impl IdempotencyKey {
    /// Returns the key of a request, if any. `asked` returns a text that identifies the content of the request.
    ///
    /// # Errors
    /// Returns an error if the key is sent twice or does not have 1 to 255 visible ASCII
    /// characters, and the errors of `asked`.
    pub fn from_headers(
        headers: &HeaderMap,
        asked: impl FnOnce() -> Result<String, Error>,
    ) -> Result<Option<Self>, Error> {
        let key = match single_header(headers, &IDEMPOTENCY_KEY) {
            Ok(None) => return Ok(None),
            Ok(Some(value)) => value.to_str().unwrap_or_default().trim(),
            Err(_) => "",
        };
        if !(1..=MAX_KEY_LEN).contains(&key.len()) || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            let reason = format!("must be one key of 1 to {MAX_KEY_LEN} visible ASCII characters");
            return Err(Problem::field("Idempotency-Key", reason).into());
        }
        Ok(Some(Self { key: key.to_owned(), asked: HEXLOWER.encode(&Sha256::digest(asked()?)) }))
    }

    /// Returns the statement that stores the reply, for the write of the request.
    pub(crate) fn store(&self, account: &Account, reply: &str, now: Timestamp) -> Statement {
        let Self { key, asked } = self.clone();
        let row = RememberedReply { account: account.clone(), key, asked, reply: reply.to_owned(), created_at: now };
        let expired_at = now - REPLAY_WINDOW;
        Statement::expect_row(INSERT, row.params().into_iter().chain(params![expired_at]).collect())
    }
}

/// Returns the stored reply to an earlier request with this key.
///
/// # Errors
/// Returns [`Error::IdempotencyKeyReused`] if that request was different, and the errors of
/// [`Store::read`].
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
