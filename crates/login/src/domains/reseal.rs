//! Seals the webhook secrets that were written before there was a key, or with another.

use anyhow::{Context, Result};
use jiff::Timestamp;
use secrecy::ExposeSecret;
use serde_json::json;
use signpost_platform::accounts::SERVER_ACCOUNT;
use signpost_platform::accounts::audit::sql::insert_entry;
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_store::{ReadColumns, Store, params, random, sql, step};

use crate::domains::encryption_key::commit_secrets;
use crate::domains::seal::Seal;
use crate::domains::sql::{SealedDomain, SealedSecrets, decrypt_secret};
use crate::ids::DomainId;

/// How many domains are read at a time, so that a million of them are never in memory at once.
const PAGE: u32 = 100;

/// The next ones by their IDs. The server's own domain signs nothing.
const NEXT: &str = sql!(
    "SELECT ",
    SealedDomain::COLUMN_LIST,
    " FROM domains WHERE id > $1 AND account <> '",
    SERVER_ACCOUNT,
    "' UNION ALL SELECT ",
    SealedDomain::COLUMN_LIST,
    " FROM deleted_domains WHERE id > $1 ORDER BY id LIMIT $2"
);

/// Names what was read: a secret that was changed meanwhile was sealed then.
const SEAL: &str = "
    UPDATE domains SET webhook_secret = $1, next_webhook_secret = $2 WHERE id = $3 AND webhook_secret = $4";

const SEAL_DELETED: &str = "
    UPDATE deleted_domains SET webhook_secret = $1, next_webhook_secret = $2 WHERE id = $3 AND webhook_secret = $4";

/// A domain, registered or deleted, with a secret in plain text.
const COUNT_PLAIN_TEXT: &str = "
    SELECT COUNT(*) FROM (
        SELECT id FROM domains
        WHERE (webhook_secret <> '' AND webhook_secret NOT LIKE 'sealed1:%') OR next_webhook_secret NOT LIKE 'sealed1:%'
        UNION ALL
        SELECT id FROM deleted_domains
        WHERE webhook_secret NOT LIKE 'sealed1:%' OR next_webhook_secret NOT LIKE 'sealed1:%'
    ) AS plain";

/// Says at the start, and not at the first event, that webhook secrets cannot be read, and of how many domains: a key
/// that was changed halfway opens some.
///
/// # Errors
/// Where a secret cannot be decrypted, or as [`Store::read`].
pub async fn check(store: &Store, seal: &Seal) -> Result<()> {
    let (mut all, mut unreadable, mut first) = (0_usize, 0_usize, None);
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
/// As [`Store::read`].
pub async fn count_plain_text(store: &Store) -> Result<i64> {
    let row = store.read_one(COUNT_PLAIN_TEXT, params![]).await?;
    row.context("COUNT is one row")?.int(0)
}

/// Seals all secrets that are not sealed with the operator's key; returns how many domains had some.
///
/// # Errors
/// As [`Store::read`] and [`Store::write`]. What was sealed before it stays so.
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
    let (mut steps, mut sealed) = (Vec::new(), 0);
    for SealedDomain { id, secrets } in page {
        let (current, next) = (&secrets.webhook_secret, secrets.next_webhook_secret.as_deref());
        let is_stale = |kept: &str| seal.is_stale(kept, id.as_str());
        if !is_stale(current) && !next.is_some_and(is_stale) {
            continue;
        }
        let anew = |kept: &str| -> Result<String> {
            let open = seal.decrypt(kept, id.as_str())?;
            Ok(seal.encrypt(open.expose_secret(), id.as_str(), random()))
        };
        let (current_anew, next_anew) = (anew(current)?, next.map(anew).transpose()?);
        for sql in [SEAL, SEAL_DELETED] {
            steps.push(step(sql, params![&current_anew, next_anew.as_ref(), id, current]));
        }
        sealed += 1;
    }
    if sealed > 0 {
        let details = json!({ "domains": sealed });
        steps.push(insert_entry(&Actor::Operator, None, Action::SecretsSealed, "", &details, now));
        commit_secrets(store, seal, steps).await?;
    }
    Ok(sealed)
}

fn decrypt(seal: &Seal, id: &DomainId, secrets: &SealedSecrets) -> Result<()> {
    for kept in [Some(&secrets.webhook_secret), secrets.next_webhook_secret.as_ref()].into_iter().flatten() {
        decrypt_secret(seal, kept, id)?;
    }
    Ok(())
}

async fn list_after(store: &Store, id: &str) -> Result<Vec<SealedDomain>> {
    let rows = store.read(NEXT, params![id, PAGE]).await?;
    rows.into_iter().map(|row| SealedDomain::from_part("domains", row)).collect()
}
