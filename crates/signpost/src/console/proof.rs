//! Receives forms that require a recent login or a confirmation.

use axum::extract::Request;
use axum::response::Response;
use maud::html;
use signpost_platform::accounts::SERVER_ACCOUNT;
use signpost_platform::pages::form::PostedForm;

use super::context::{ConsoleError, OperatorContext};
use super::document::{ConsolePage, ConsoleSection};

/// Maximum length of the name of a key or an account, in characters.
pub(super) const MAX_LABEL: usize = 64;

/// The step of an action that needs a confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConfirmationStep {
    Requested,
    Confirmed,
}

/// A question that confirms an action.
#[derive(Debug)]
pub(super) struct Question<'a> {
    pub(super) section: ConsoleSection,
    pub(super) title: &'a str,
    pub(super) text: &'a str,
    /// The path that the button posts to, the purpose of the form, and the text of the button.
    pub(super) action: &'a str,
    pub(super) purpose: &'a str,
    pub(super) button: &'a str,
    /// The path after a cancellation.
    pub(super) back: &'a str,
}

/// Receives a form that needs a recent login. `back` is the path after a new login.
pub(super) async fn receive_with_recent_login(
    context: &OperatorContext,
    request: Request,
    purpose: &str,
    back: &str,
) -> Result<PostedForm, ConsoleError> {
    let form = context.receive(request, purpose).await?;
    context.require_recent_login(back)?;
    Ok(form)
}

/// Receives a form of an action that needs a recent login and a confirmation: the form of the action, or of its
/// [`Question`].
pub(super) async fn receive_confirmation(
    context: &OperatorContext,
    request: Request,
    purpose: &str,
    back: &str,
) -> Result<ConfirmationStep, ConsoleError> {
    let form = context.receive_unchecked(request).await?;
    let mut step = ConfirmationStep::Requested;
    if context.check(&form, purpose).is_err() {
        context.check(&form, &confirmed(purpose)).map_err(|refusal| context.refuse(refusal))?;
        step = ConfirmationStep::Confirmed;
    }
    context.record_use().await?;
    context.require_recent_login(back)?;
    Ok(step)
}

/// Returns the purpose of the form of a [`Question`].
fn confirmed(purpose: &str) -> String {
    format!("surely {purpose}")
}

impl Question<'_> {
    /// Returns the page with the question.
    pub(super) async fn ask(self, context: &OperatorContext) -> Result<Response, ConsoleError> {
        let origin = &context.origin;
        let body = html! {
            div.card.stack {
                p { (self.text) }
                form.row method="post" action=(origin.link(self.action)) {
                    (context.token(&confirmed(self.purpose)))
                    a.btn href=(origin.link(self.back)) { "No, go back" }
                    button.btn.danger { (self.button) }
                }
            }
        };
        ConsolePage::new(context, self.section, self.title, body).respond().await
    }
}

/// Reads a name that fits into a table and a log line.
pub(super) fn read_label(form: &PostedForm, field: &str) -> Option<String> {
    let text = form.text(field).unwrap_or_default().trim();
    let is_valid = (1..=MAX_LABEL).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    is_valid.then(|| text.to_owned())
}

/// Reads an account name, and rejects the system account.
pub(super) fn read_account_name(form: &PostedForm) -> Result<String, &'static str> {
    let account = read_label(form, "account").filter(|name| name != SERVER_ACCOUNT);
    account.ok_or("Type an account of 1 to 64 characters, and not the server's own.")
}
