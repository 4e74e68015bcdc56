//! The page that lists the settings, with the origin of each value and without secrets.

use axum::response::Response;
use maud::html;

use super::context::{ConsoleError, OperatorContext};
use super::document::{ConsolePage, ConsoleSection};
use super::tables::{panel, table};
use crate::config::Origin;

/// `GET /console/settings`: lists the settings.
pub(super) async fn show(context: OperatorContext) -> Result<Response, ConsoleError> {
    let rows = context.config.shown.iter().map(|setting| {
        let origin = match &setting.origin {
            Origin::Default => html! { span.soft { "default" } },
            other => html! { b { (other.to_string()) } },
        };
        let value = if setting.value.is_empty() {
            html! { span.soft { "not set" } }
        } else {
            html! { code { (signpost_text::clean_line(&setting.value)) } }
        };
        vec![html! { code { (setting.key) } }, value, origin]
    });
    let body = panel(
        "settings",
        "As this server reads them",
        &html! {},
        &table("Settings", &["Setting", "Value", "From"], rows, &html! {}),
    );
    let note = html! { "They are read when the server starts. " code { "signpost config" } " explains each of them." };
    ConsolePage { note, ..ConsolePage::new(&context, ConsoleSection::KeysAndLog, "Settings", body) }.respond().await
}
