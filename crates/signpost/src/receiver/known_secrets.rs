//! Lists the secrets that a receiver may have configured by mistake.

use signpost_auth::diagnosis::KnownSecret;
use signpost_login::domains::seal::Seal;
use signpost_login::domains::{Domain, overview, sql};
use signpost_login::ids::DomainId;
use signpost_store::Store;

/// Maximum number of domains, newest first, with secrets that are tried at a receiver.
const MAX_TRIED: u32 = 20;

/// Returns the secrets that a receiver may have configured instead of the current secret of this domain: its next
/// secret, and the secrets of other domains. Secrets that cannot be decrypted are omitted.
pub(crate) async fn list_other_secrets(store: &Store, seal: &Seal, of: Option<&DomainId>) -> Vec<KnownSecret> {
    let mut domains = overview::list_page(store, None, MAX_TRIED).await.unwrap_or_default();
    domains.retain(|domain| Some(&domain.id) != of);
    if let Some(id) = of
        && let Ok(Some(own)) = sql::find_in_any_account(store, id).await
    {
        domains.insert(0, own);
    }
    let mut known = Vec::new();
    for Domain { id, name, account, .. } in &domains {
        let Ok(Some(secrets)) = sql::find_secrets(store, seal, id).await else { continue };
        let label = format!("{name} ({})", account.environment);
        if Some(id) != of {
            known.push(KnownSecret { owner: format!("the secret of {label}"), secret: secrets.current });
        }
        known.extend(secrets.next.map(|secret| KnownSecret { owner: format!("the next secret of {label}"), secret }));
    }
    known
}
