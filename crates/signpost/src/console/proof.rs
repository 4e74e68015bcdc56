//! What needs a login of a moment ago, and buttons that ask before they do something.

use axum::extract::Request;
use axum::response::Response;
use maud::html;
use signpost_platform::accounts::SERVER_ACCOUNT;
use signpost_platform::pages::form::PostedForm;

use super::document::{ConsolePage, Screen};
use super::visit::{OperatorVisit, refuse};

/// The longest name of a key or an account, in characters.
pub(super) const MAX_LABEL: usize = 64;

/// Whether a button asks for something, or answers the question that came then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Confirmation {
    First,
    Surely,
}

/// A question, and the button that answers it.
#[derive(Debug)]
pub(super) struct Question<'a> {
    pub(super) screen: Screen,
    pub(super) title: &'a str,
    pub(super) text: &'a str,
    /// The path that its button posts to, what the form is for, and the words of the button.
    pub(super) action: &'a str,
    pub(super) purpose: &'a str,
    pub(super) button: &'a str,
    /// Where somebody goes who does not want it.
    pub(super) back: &'a str,
}

/// The form of a page of ours, from somebody who proved a moment ago who they are; else they come back to a path when they
/// have.
pub(super) async fn receive_proven(
    visit: &OperatorVisit,
    request: Request,
    purpose: &str,
    back: &str,
) -> Result<PostedForm, Response> {
    let form = visit.receive(request, purpose).await?;
    visit.ask_for_proof(back).map_or(Ok(form), Err)
}

/// The same of a button that asks, or of the one that answers.
pub(super) async fn receive_asked(
    visit: &OperatorVisit,
    request: Request,
    purpose: &str,
    back: &str,
) -> Result<Confirmation, Response> {
    let form = PostedForm::receive(&visit.console.origin, request).await;
    let form = form.map_err(|refusal| refuse(&visit.console, refusal))?;
    let found = if visit.check(&form, purpose).is_ok() {
        Confirmation::First
    } else {
        let surely = visit.check(&form, &format!("surely {purpose}"));
        surely.map(|()| Confirmation::Surely).map_err(|refusal| refuse(&visit.console, refusal))?
    };
    visit.note_use().await?;
    visit.ask_for_proof(back).map_or(Ok(found), Err)
}

impl Question<'_> {
    /// The page that asks.
    pub(super) async fn ask(self, visit: &OperatorVisit) -> Response {
        let origin = &visit.console.origin;
        let body = html! {
            div.card.stack {
                p { (self.text) }
                form.row method="post" action=(origin.link(self.action)) {
                    (visit.token(&format!("surely {}", self.purpose)))
                    a.btn href=(origin.link(self.back)) { "No, go back" }
                    button.btn.danger { (self.button) }
                }
            }
        };
        ConsolePage::new(visit, self.screen, self.title, body).respond().await
    }
}

/// A name that fits in a table and a log line.
pub(super) fn read_label(form: &PostedForm, field: &str) -> Option<String> {
    let text = form.text(field).unwrap_or_default().trim();
    let is_fit = (1..=MAX_LABEL).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    is_fit.then(|| text.to_owned())
}

/// The name of an account that somebody may act for.
pub(super) fn read_account_name(form: &PostedForm) -> Result<String, &'static str> {
    let account = read_label(form, "account").filter(|name| name != SERVER_ACCOUNT);
    account.ok_or("Type an account of 1 to 64 characters, and not the server's own.")
}
