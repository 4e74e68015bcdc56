//! What other servers on the same database did, passed on to those here whom it concerns.

use std::sync::Arc;

use super::App;
use crate::store::Change;

/// Passes on every change until the server drains.
pub(crate) async fn run(app: Arc<App>) {
    let Some(mut changes) = app.store.changes() else { return };
    while let Some(Some(change)) = app.draining.run_until_cancelled(changes.next()).await {
        match change {
            Change::Heard => begin(&app, true),
            Change::Lost => begin(&app, false),
            Change::Session(id) => app.login.session_changed(&id),
            Change::Domains => app.login.domains.forget_all(),
            Change::Catalogue => app.atm.catalogue.changed.notify_one(),
        }
    }
    begin(&app, false);
}

fn begin(app: &App, is_told: bool) {
    app.login.sessions.begin(is_told);
    app.login.domains.begin(is_told);
}
