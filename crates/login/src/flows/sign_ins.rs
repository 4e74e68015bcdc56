//! Lists and ends the sign-ins of a user, in browsers and at applications.

use anyhow::Result;
use jiff::Timestamp;
use serde_json::json;
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_store::{Store, WriteError};

use crate::browser_sessions;
use crate::domains::Domain;
use crate::domains::audit::insert_domain_entry;
use crate::events::{SignOutExtent, UserEvent, queue_user_event};
use crate::ids::{SignInId, UserId};
use crate::sessions::link_sql::cancel_user_links_statement;
use crate::sign_ins::{ApplicationSignIns, SignIn, SignInsQuery, sql};

/// Returns a page of the valid sign-ins of a user, newest first.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn list_sign_ins(
    store: &Store,
    applications: &dyn ApplicationSignIns,
    query: SignInsQuery<'_>,
) -> Result<Vec<SignIn>> {
    let mut found = sql::list_in_browsers(store, query).await?;
    found.extend(applications.list(store, query).await?);
    found.sort_unstable_by(|first, second| second.id.cmp(&first.id));
    found.truncate(usize::try_from(query.limit).unwrap_or(usize::MAX));
    Ok(found)
}

/// Ends a sign-in of a user. The sign-in of a browser ends together with the sign-ins at applications that it authorized: with
/// their authorization codes, refresh tokens and access tokens. Pending links of the user are cancelled, because one may have
/// been opened there. The integrator gets the event `user.signed_out`.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if the user has no such sign-in, or the domain was deleted.
pub async fn end_sign_in(
    store: &Store,
    applications: &dyn ApplicationSignIns,
    (domain, user): (&Domain, &UserId),
    id: &SignInId,
    by: &Actor,
    now: Timestamp,
) -> Result<(), WriteError> {
    let mut details = json!({ "user_id": user, "sign_in_id": id });
    let mut statements = Vec::new();
    let session = id.session_id();
    if let Some(browser) = sql::find_browser_session(store, &session, &domain.id, user).await? {
        let extent = SignOutExtent::Browser { id: &browser, session: &session };
        statements.extend(queue_user_event(domain, user, UserEvent::SignedOut(extent), now));
        // The browser session ends first: a grant that is written at this time either finds no browser session, or is
        // ended by the next statement.
        statements.push(sql::end_statement(&browser, &domain.id, user));
        statements.push(applications.end_of_browser_statement(&browser, &domain.id, now));
        statements.push(cancel_user_links_statement(&domain.id, user, now));
    } else {
        let client = applications.find_client(store, id, &domain.id, user, now).await?.ok_or(WriteError::Conflict)?;
        let extent = SignOutExtent::Application { sign_in: id, client: &client };
        statements.extend(queue_user_event(domain, user, UserEvent::SignedOut(extent), now));
        statements.push(applications.end_statement(id, &domain.id, user, now));
        details["client_id"] = client.into();
    }
    statements.push(insert_domain_entry(by, Action::UserSignedOut, &domain.id, &details, now));
    store.commit(statements).await
}

/// Ends all sign-ins of a user, in browsers and at applications. The integrator gets the event `user.signed_out`.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if the user or the domain was deleted.
pub async fn end_all_sign_ins(
    store: &Store,
    (domain, user): (&Domain, &UserId),
    by: &Actor,
    now: Timestamp,
) -> Result<(), WriteError> {
    // A browser that is signed out now may have an open page that adds a key.
    let mut statements = vec![cancel_user_links_statement(&domain.id, user, now)];
    let event = UserEvent::SignedOut(SignOutExtent::Everywhere);
    statements.extend(queue_user_event(domain, user, event, now));
    browser_sessions::sql::sign_out_everywhere(store, &domain.id, user, statements, by, now).await
}
