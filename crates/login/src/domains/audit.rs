//! Statements that add audit log entries about domains.

use jiff::Timestamp;
use serde_json::Value;
use signpost_platform::accounts::audit::{Action, Actor, AuditId};
use signpost_store::{Statement, params, random};

use crate::ids::DomainId;

/// Adds an entry with the account and the environment of the domain.
const ADD_ON_DOMAIN: &str = "
    INSERT INTO audit (id, at, account, environment, actor, action, object, details)
    SELECT $1, $2, account, environment, $3, $4, $5, $6 FROM domains WHERE id = $5";

/// Returns the statement that adds an entry about a domain of any account. It refuses the write if there is no such
/// domain.
pub(crate) fn insert_domain_entry(
    actor: &Actor,
    action: Action,
    domain: &DomainId,
    details: &Value,
    now: Timestamp,
) -> Statement {
    let id = AuditId::new(now, random());
    let params = params![&id, now, actor.to_string(), action.as_str(), domain, details.to_string()];
    Statement::expect_row(ADD_ON_DOMAIN, params)
}
