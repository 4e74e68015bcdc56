//! Encrypts the webhook secrets that are stored in plain text or encrypted with another key.

use anyhow::Result;
use jiff::Timestamp;
use secrecy::ExposeSecret;
use serde_json::json;
use signpost_platform::accounts::SERVER_ACCOUNT;
use signpost_platform::accounts::audit::sql::insert_entry;
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_store::{ReadColumns, Statement, Store, params, random, sql};

use crate::domains::encryption_key::commit_secrets;
use crate::domains::seal::Seal;
use crate::domains::sql::{SealedDomain, SealedSecrets, decrypt_secret};
use crate::ids::DomainId;

/// Number of domains that are read at a time, so that a million of them are never in memory at once.
const PAGE_LEN: u32 = 100;

/// Selects the next domains in the order of their IDs, except the system domain, because it signs
/// nothing.
const LIST_AFTER: &str = sql!(
    "SELECT ",
    SealedDomain::COLUMN_LIST,
    " FROM domains WHERE id > $1 AND account <> '",
    SERVER_ACCOUNT,
    "' UNION ALL SELECT ",
    SealedDomain::COLUMN_LIST,
    " FROM deleted_domains WHERE id > $1 ORDER BY id LIMIT $2"
);

/// Replaces the secrets of a domain, if they are unchanged since they were read. A changed secret
/// is already encrypted with the current key.
const REPLACE_SECRETS: &str = "
    UPDATE domains SET webhook_secret = $1, next_webhook_secret = $2 WHERE id = $3 AND webhook_secret = $4";

const REPLACE_DELETED_SECRETS: &str = "
    UPDATE deleted_domains SET webhook_secret = $1, next_webhook_secret = $2 WHERE id = $3 AND webhook_secret = $4";

/// Counts domains, registered or deleted, with a secret in plain text.
const COUNT_PLAIN_TEXT: &str = "
    SELECT COUNT(*) FROM (
        SELECT id FROM domains
        WHERE (webhook_secret <> '' AND webhook_secret NOT LIKE 'sealed1:%') OR next_webhook_secret NOT LIKE 'sealed1:%'
        UNION ALL
        SELECT id FROM deleted_domains
        WHERE webhook_secret NOT LIKE 'sealed1:%' OR next_webhook_secret NOT LIKE 'sealed1:%'
    ) AS plain";

/// Checks at the start, and not at the first event, that all webhook secrets can be decrypted. If the change of a key
/// was interrupted, only some of them can.
///
/// # Errors
/// Returns an error if a secret cannot be decrypted, or the database is unavailable.
pub async fn check(store: &Store, seal: &Seal) -> Result<()> {
    let mut all = 0;
    let mut unreadable = 0;
    let mut first = None;
    let mut page = list_after(store, "").await?;
    while let Some(SealedDomain { id: last, .. }) = page.last() {
        all += page.len();
        for SealedDomain { id, secrets } in &page {
            if let Err(error) = decrypt(seal, id, secrets) {
                unreadable += 1;
                first.get_or_insert_with(|| (id.clone(), error));
            }
        }
        page = list_after(store, last.as_str()).await?;
    }
    let Some((id, error)) = first else { return Ok(()) };
    Err(error.context(format!("cannot decrypt the webhook secrets of {unreadable} of {all} domains, such as {id}")))
}

/// Returns the number of domains with a secret in plain text.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn count_plain_text(store: &Store) -> Result<i64> {
    store.count(COUNT_PLAIN_TEXT, params![]).await
}

/// Encrypts all secrets that are not encrypted with the operator's key. Returns the number of domains with such
/// secrets.
///
/// # Errors
/// Returns an error if the database is unavailable. Secrets of earlier pages stay encrypted then.
pub async fn seal_all(store: &Store, seal: &Seal, now: Timestamp) -> Result<usize> {
    let mut sealed = 0;
    let mut page = list_after(store, "").await?;
    while let Some(SealedDomain { id: last, .. }) = page.last() {
        sealed += seal_page(store, seal, &page, now).await?;
        page = list_after(store, last.as_str()).await?;
    }
    Ok(sealed)
}

async fn seal_page(store: &Store, seal: &Seal, page: &[SealedDomain], now: Timestamp) -> Result<usize> {
    let mut statements = Vec::new();
    let mut sealed = 0;
    for SealedDomain { id, secrets } in page {
        let SealedSecrets { webhook_secret: current, next_webhook_secret: next } = secrets;
        let is_next_stale = next.as_ref().is_some_and(|next| seal.is_stale(next, id.as_str()));
        if !is_next_stale && !seal.is_stale(current, id.as_str()) {
            continue;
        }
        let new_current = encrypt_again(seal, current, id)?;
        let new_next = next.as_ref().map(|next| encrypt_again(seal, next, id)).transpose()?;
        for sql in [REPLACE_SECRETS, REPLACE_DELETED_SECRETS] {
            statements.push(Statement::new(sql, params![&new_current, new_next.as_ref(), id, current]));
        }
        sealed += 1;
    }
    if sealed > 0 {
        let details = json!({ "domains": sealed });
        statements.push(insert_entry(&Actor::Operator, None, Action::SecretsSealed, "", &details, now));
        commit_secrets(store, seal, statements).await?;
    }
    Ok(sealed)
}

/// Decrypts a stored secret and encrypts it with the operator's key.
fn encrypt_again(seal: &Seal, stored: &str, id: &DomainId) -> Result<String> {
    let secret = seal.decrypt(stored, id.as_str())?;
    Ok(seal.encrypt(secret.expose_secret(), id.as_str(), random()))
}

fn decrypt(seal: &Seal, id: &DomainId, secrets: &SealedSecrets) -> Result<()> {
    for secret in [&secrets.webhook_secret].into_iter().chain(&secrets.next_webhook_secret) {
        decrypt_secret(seal, secret, id)?;
    }
    Ok(())
}

async fn list_after(store: &Store, id: &str) -> Result<Vec<SealedDomain>> {
    let rows = store.read(LIST_AFTER, params![id, PAGE_LEN]).await?;
    rows.into_iter().map(|row| SealedDomain::from_part("domains", row)).collect()
}
