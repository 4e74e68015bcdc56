//! Applies a change of a domain in the database.

use jiff::Timestamp;
use signpost_platform::accounts::audit::sql::insert_entry;
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_platform::accounts::{Account, SERVER_ACCOUNT};
use signpost_store::{Statement, Store, WriteError, params, sql};

use super::sql::{OTHERS_WITH_LIGHTNING, find};
use super::{DisplayName, DomainPatch, HandlerKind, Registration, SHARED_LOGIN_HOST};
use crate::ids::DomainId;

/// A Lightning wallet has a single key for all domains of a login host. If two accounts have live hosted domains, none
/// of them may offer Lightning: it cannot be enabled if another account has a domain, nor a domain added if another
/// account offers it.
const PATCH: &str = sql!(
    "UPDATE domains
     SET webhook_url = COALESCE($1, webhook_url), event_url = CASE WHEN $2 = 1 THEN $3 ELSE event_url END,
         handler = COALESCE($7, handler), methods = COALESCE($8, methods), registration = COALESCE($9, registration),
         display_name = CASE WHEN $10 = 1 THEN $11 ELSE display_name END,
         events = CASE WHEN $12 = 1 THEN $13 ELSE events END
     WHERE account = $4 AND environment = $5 AND id = $6
       AND ((CAST($7 AS TEXT) IS NULL AND CAST($8 AS TEXT) IS NULL) OR environment <> 'live' OR COALESCE($7, handler) <> 'hosted'
            OR (NOT EXISTS (",
    OTHERS_WITH_LIGHTNING,
    " AND other.account <> domains.account)
                AND (COALESCE($8, methods, '') NOT LIKE '%lightning%' OR NOT EXISTS (
                    SELECT 1 FROM domains AS other
                    WHERE other.environment = 'live' AND other.handler = 'hosted' AND other.account <> domains.account
                      AND other.account <> '",
    SERVER_ACCOUNT,
    "'))))"
);

/// The reason why [`patch`] failed.
#[derive(Debug, thiserror::Error)]
pub enum PatchDomainError {
    /// The account has no such domain.
    #[error("the domain was deleted")]
    NotFound,
    /// Users of another account log in at this login host with Lightning wallets.
    #[error("{SHARED_LOGIN_HOST}")]
    SharedLoginHost,
    /// The database is unavailable.
    #[error(transparent)]
    Internal(#[from] anyhow::Error),
}

/// Changes a domain.
///
/// # Errors
/// Returns [`PatchDomainError::NotFound`], [`PatchDomainError::SharedLoginHost`], or that the
/// database is unavailable.
pub async fn patch(
    store: &Store,
    account: &Account,
    id: &DomainId,
    change: &DomainPatch,
    by: &Actor,
    now: Timestamp,
) -> Result<(), PatchDomainError> {
    let entry = insert_entry(by, Some(account), Action::DomainChanged, id.as_str(), &change.to_details(), now);
    let DomainPatch { webhook_url, event_url, handler, methods, registration, display_name, events } = change;
    let params = params![
        webhook_url.as_ref(),
        i64::from(event_url.is_some()),
        event_url.as_ref().and_then(Option::as_ref),
        &account.name,
        account.environment,
        id,
        handler.map(HandlerKind::as_str),
        methods.as_ref().map(ToString::to_string),
        registration.map(Registration::as_str),
        i64::from(display_name.is_some()),
        display_name.as_ref().and_then(Option::as_ref).map(DisplayName::as_str),
        i64::from(events.is_some()),
        events.as_ref().and_then(Option::as_ref).map(ToString::to_string),
    ];
    match store.commit([Statement::expect_row(PATCH, params), entry]).await {
        Ok(()) => Ok(()),
        Err(WriteError::Conflict) if find(store, account, id).await?.is_some() => {
            Err(PatchDomainError::SharedLoginHost)
        }
        Err(WriteError::Conflict) => Err(PatchDomainError::NotFound),
        Err(WriteError::Internal(error)) => Err(error.into()),
    }
}
