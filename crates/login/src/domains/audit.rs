//! What happened to a domain, in the audit log.

use jiff::Timestamp;
use serde_json::Value;
use signpost_platform::accounts::audit::{Action, Actor, AuditId};
use signpost_store::{Step, must, params, random};

use crate::ids::DomainId;

/// Of a domain whose account nobody has named.
const ADD_ON_DOMAIN: &str = "
    INSERT INTO audit (id, at, account, environment, actor, action, object, details)
    SELECT $1, $2, account, environment, $3, $4, $5, $6 FROM domains WHERE id = $5";

/// The step that adds an entry on a domain of any account; nothing happens where there is no such domain.
pub(crate) fn insert_domain_entry(
    actor: &Actor,
    action: Action,
    domain: &DomainId,
    details: &Value,
    now: Timestamp,
) -> Step {
    let id = AuditId::new(now, random());
    let params = params![&id, now, actor.to_string(), action.as_str(), domain, details.to_string()];
    must(ADD_ON_DOMAIN, params)
}
