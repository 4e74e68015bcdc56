//! What other servers on the same database did, passed on to those here whom it concerns.

use std::sync::Arc;

use signpost_login::ids::SessionId;
use signpost_platform::pages::cookie::CookieHash;
use signpost_store::StoreChange;

use super::App;

/// Passes on every change until the server drains.
pub(crate) async fn run(app: Arc<App>) {
    let Some(mut changes) = app.store.changes() else { return };
    while let Some(Some(change)) = app.draining.run_until_cancelled(changes.next()).await {
        match change {
            StoreChange::Heard => begin(&app, true),
            StoreChange::Lost => begin(&app, false),
            StoreChange::Changed { kind, id } => pass_on(&app, &kind, &id),
        }
    }
    begin(&app, false);
}

/// What a trigger said (migration 5). What a newer server's triggers say is unknown, and concerns nobody here.
fn pass_on(app: &App, kind: &str, id: &str) {
    match kind {
        "session" => drop(SessionId::parse(id).map(|id| app.login.session_changed(&id))),
        "domains" => {
            app.login.domains.invalidate_all();
            app.openid.realms.invalidate_all();
            app.openid.app_sessions.invalidate_all();
        }
        "app_sessions" => app.openid.app_sessions.invalidate_all(),
        "app_session" => drop(CookieHash::from_stored(id).map(|cookie| app.openid.app_sessions.invalidate(&cookie))),
        "catalogue" | "atm_report_state" => app.atm.catalogue.changed.notify_one(),
        _ => {}
    }
}

fn begin(app: &App, is_told: bool) {
    app.login.sessions.restart(is_told);
    app.login.domains.restart(is_told);
    app.openid.realms.restart(is_told);
    app.openid.app_sessions.restart(is_told);
}
