//! Updates the caches when other servers change the database.

use std::sync::Arc;

use signpost_login::ids::SessionId;
use signpost_platform::pages::cookie::CookieHash;
use signpost_store::StoreChange;

use super::App;

/// Applies notifications about changes until the server drains.
pub(crate) async fn run(app: Arc<App>) {
    let Some(mut changes) = app.store.changes() else { return };
    while let Some(Some(change)) = app.draining.run_until_cancelled(changes.next()).await {
        match change {
            StoreChange::Connected => restart_caches(&app, true),
            StoreChange::Disconnected => restart_caches(&app, false),
            StoreChange::Changed { kind, id } => apply(&app, &kind, &id),
        }
    }
    restart_caches(&app, false);
}

/// Applies a notification of a database trigger. Unknown kinds, of newer servers, are ignored.
fn apply(app: &App, kind: &str, id: &str) {
    match kind {
        "session" => drop(SessionId::parse(id).map(|id| app.login.session_changed(&id))),
        "domains" => {
            app.login.domains.invalidate_all();
            app.openid.tenants.invalidate_all();
            app.openid.app_sessions.invalidate_all();
        }
        "app_sessions" => app.openid.app_sessions.invalidate_all(),
        "app_session" => drop(CookieHash::from_stored(id).map(|cookie| app.openid.app_sessions.invalidate(&cookie))),
        "catalogue" | "atm_report_state" => app.atm.catalogue.changed.notify_one(),
        _ => {}
    }
}

/// Empties the caches. Without notifications, entries are cached for a short time.
fn restart_caches(app: &App, is_notified: bool) {
    app.login.sessions.restart(is_notified);
    app.login.domains.restart(is_notified);
    app.openid.tenants.restart(is_notified);
    app.openid.app_sessions.restart(is_notified);
}
