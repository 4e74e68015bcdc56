//! Changes a domain in the database or through the API.

use anyhow::{Result, bail};
use signpost_login::domains::patch_sql::{PatchDomainError, patch};
use signpost_login::domains::{self, Domain, DomainPatch};
use signpost_platform::accounts::audit::Actor;
use signpost_platform::clock::Clock;

use crate::cli::backend::Backend;

/// Changes a domain, and returns it.
///
/// # Errors
/// Returns an error if the domain was removed, or the backend refuses the change.
pub(super) async fn change_domain(backend: &Backend, domain: &Domain, change: &DomainPatch) -> Result<Domain> {
    let store = match backend {
        Backend::Database(store) => store,
        Backend::Api(api) => return Ok(api.patch_domain(&domain.id, change).await?),
    };
    match patch(store, &domain.account, &domain.id, change, &Actor::Operator, Clock::System.now()).await {
        Ok(()) => {}
        Err(PatchDomainError::NotFound) => bail!("{} was removed just now", domain.id),
        Err(error) => return Err(error.into()),
    }
    let changed = domains::sql::find_in_any_account(store, &domain.id).await?;
    let Some(changed) = changed else { bail!("{} was removed just now", domain.id) };
    Ok(changed)
}
