//! Handler of `GET /sessions`: lists the sessions of an account.

use axum::Json;
use axum::extract::State as Extract;
use serde_json::{Value, json};
use signpost_auth::DomainName;
use signpost_platform::accounts::Account;
use signpost_platform::web::Page;
use signpost_platform::web::problem::Problem;

use crate::api::sessions::replies::SessionListItem;
use crate::domains;
use crate::error::Error;
use crate::ids::SessionId;
use crate::service::LoginService;
use crate::sessions::{SessionFilter, SessionStatus, sql};

/// `GET /sessions?status=&domain=&limit=&cursor=`: lists sessions, newest first.
pub(crate) async fn list(
    Extract(service): Extract<LoginService>,
    account: Account,
    page: Page,
) -> Result<Json<Value>, Error> {
    let before = page.cursor(SessionId::parse)?;
    let status = match page.text("status") {
        Some(word) => Some(parse_status(word)?),
        None => None,
    };
    let name = page.text("domain").map(DomainName::parse).transpose();
    let name = name.map_err(|error| Problem::field("domain", error.to_string()))?;
    let domain = match &name {
        None => None,
        Some(name) => match domains::sql::find_by_name(&service.store, &account, name).await? {
            Some(domain) => Some(domain.id),
            None => return Ok(Json(json!({ "sessions": [] }))),
        },
    };
    let now = service.clock.now();
    let filter = SessionFilter { before, domain, status, limit: page.limit + 1 };
    let mut sessions = sql::list(&service.store, &account, &filter, now).await?;
    let next = page.next(&mut sessions, |session| session.id.to_string());
    let sessions: Vec<_> = sessions.iter().map(|session| SessionListItem::new(session, now)).collect();
    Ok(Json(page.reply("sessions", &sessions, next)))
}

fn parse_status(word: &str) -> Result<SessionStatus, Problem> {
    let status = SessionStatus::ALL.into_iter().find(|status| status.as_str() == word);
    status.ok_or_else(|| Problem::field("status", "must be 'pending', 'authenticated', 'expired' or 'cancelled'"))
}
