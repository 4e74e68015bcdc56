//! The settings, to be read: where each value is from, and nothing that is secret.

use axum::response::Response;
use maud::html;

use super::document::{ConsolePage, Screen};
use super::tables::{panel, table};
use super::visit::OperatorVisit;
use crate::config::{Origin, ShownSetting};

/// `GET /console/settings`
pub(super) async fn show(visit: OperatorVisit) -> Response {
    let row = |setting: &ShownSetting| {
        let origin = match &setting.origin {
            Origin::Default => html! { span.soft { "default" } },
            other => html! { b { (other.to_string()) } },
        };
        let value = if setting.value.is_empty() {
            html! { span.soft { "not set" } }
        } else {
            html! { code { (signpost_text::line(&setting.value)) } }
        };
        vec![html! { code { (setting.key) } }, value, origin]
    };
    let rows: Vec<_> = visit.console.config.shown.iter().map(row).collect();
    let body = panel(
        "settings",
        "As this server reads them",
        &html! {},
        &table("Settings", &["Setting", "Value", "From"], &rows, &html! {}),
    );
    let note = html! { "They are read when the server starts. " code { "signpost config" } " explains each of them." };
    ConsolePage { note, ..ConsolePage::new(&visit, Screen::Keys, "Settings", body) }.respond().await
}
