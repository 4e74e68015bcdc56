//! The HTML pages of the report form: the form itself and the confirmation.

use axum::http::StatusCode;
use maud::{Markup, html};
use signpost_platform::pages::form::PostedForm;
use signpost_platform::pages::icons::PageIcon;
use signpost_platform::pages::{Frame, Layout};

use super::form::ReportForm;
use crate::pages::words::capitalized;
use crate::reports::admission::MAX_INPUT_CHARS;
use crate::reports::{EvidenceSource, Finding, MAX_TEXT, ReportState};

/// The submitted fields of the form, before validation.
#[derive(Clone, Debug, Default)]
pub(super) struct ReportInput {
    pub(super) seen: String,
    pub(super) how: String,
    pub(super) text: String,
}

/// The reason why the form is shown again after a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FormProblem {
    /// The named field is invalid.
    Field(&'static str),
    /// The form has expired or belongs to another browser.
    Stale,
    /// A rate limit is exceeded. The value is the number of seconds until the next report is accepted.
    TooMany(u64),
    /// The user is banned from sending reports.
    Banned,
}

impl ReportInput {
    /// Reads the fields of a posted form. Missing fields are empty.
    pub(super) fn from_posted(posted: &PostedForm) -> Self {
        let [seen, how, text] = ["seen", "how", "text"].map(|name| posted.text(name).unwrap_or_default().to_owned());
        Self { seen, how, text }
    }

    /// Returns the input in a form that is safe to show again: without invisible characters, and with a bounded length.
    pub(super) fn bounded(&self) -> Self {
        Self { text: signpost_text::clean_text(&self.text).chars().take(MAX_INPUT_CHARS).collect(), ..self.clone() }
    }
}

impl FormProblem {
    /// Returns the HTTP status of the reply.
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::Field(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Stale | Self::Banned => StatusCode::FORBIDDEN,
            Self::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
        }
    }
}

/// Renders the form with the input and its problem, if any.
pub(super) fn draw_form(form: &ReportForm, input: &ReportInput, problem: Option<FormProblem>) -> String {
    let words = form.words();
    let body = html! {
        @if let Some(problem) = problem { (summary(form, problem)) }
        form #report method="post" action=(form.form_link()) {
            (form.token())
            div.stack {
            (seen_field(form, input, problem))
            div.field {
                label for="how" { (words.how_label) }
                select #how name="how" {
                    option value="" selected[EvidenceSource::parse(&input.how).is_none()] { (words.how_none) }
                    @for how in EvidenceSource::ALL {
                        option value=(how.as_str()) selected[input.how == how.as_str()] { ((words.how)(how)) }
                    }
                }
            }
            (text_field(form, input, problem))
            p { button.btn.primary { (words.send) } }
            }
        }
        (login_line(form))
    };
    let tab = if problem.is_some() { words.tab_error } else { words.heading };
    let state = if problem.is_some() { "refused" } else { "asked" };
    draw(form, state, tab, words.heading, &body)
}

/// Renders the confirmation of a report in this state.
pub(super) fn draw_confirmation(form: &ReportForm, state: ReportState) -> String {
    let words = form.words();
    let text = match state {
        ReportState::New => words.thanks_waits,
        ReportState::Duplicate => words.thanks_known,
        _ => words.thanks_shown,
    };
    let body = html! {
        div.notice.ok role="status" { (PageIcon::Tick.draw(20)) p { (text) } }
        p { a.btn href=(form.link(&format!("/atm/{}", form.atm))) { (words.back) } }
        (login_line(form))
    };
    draw(form, "thanks", words.thanks, words.thanks, &body)
}

fn draw(form: &ReportForm, state: &str, tab: &str, heading: &str, body: &Markup) -> String {
    let main = html! {
        main #main .wrap.stack data-state=(state) {
            h1 { (heading) }
            p.lead { bdi { (form.title) } @if let Some(place) = &form.place { ", " bdi { (place) } } }
            div.stack { (body) }
        }
    };
    let title = format!("{tab} · {}", form.title);
    Frame::new(form.context.language, &title, &form.context.service.origin, Layout::Column, main).render()
}

fn summary(form: &ReportForm, problem: FormProblem) -> Markup {
    let words = form.words();
    html! {
        div #errors .notice.danger role="alert" tabindex="-1" autofocus {
            (PageIcon::Stop.draw(20))
            p {
                @match problem {
                    FormProblem::Field("text") => a href="#text" { (words.bad_text) },
                    FormProblem::Field(_) => a href="#seen" { (words.bad_seen) },
                    FormProblem::Stale => (words.stale),
                    FormProblem::Banned => (words.banned),
                    FormProblem::TooMany(seconds) => ((words.too_many)(seconds.div_ceil(60))),
                }
            }
        }
    }
}

fn seen_field(form: &ReportForm, input: &ReportInput, problem: Option<FormProblem>) -> Markup {
    let words = form.words();
    let is_bad = problem == Some(FormProblem::Field("seen"));
    html! {
        fieldset #seen tabindex="-1" aria-describedby=[is_bad.then_some("seen-error")] {
            legend { (words.promise) }
            @if is_bad { p #seen-error .field.bad { span.error { (PageIcon::Stop.draw(18)) (words.bad_seen) } } }
            div.grid2 {
                @for seen in Finding::ALL {
                    label.choice {
                        input type="radio" name="seen" value=(seen.as_str()) checked[input.seen == seen.as_str()];
                        (capitalized((words.claim)(seen)))
                    }
                }
            }
        }
    }
}

fn text_field(form: &ReportForm, input: &ReportInput, problem: Option<FormProblem>) -> Markup {
    let words = form.words();
    let is_bad = problem == Some(FormProblem::Field("text"));
    let class = if is_bad { "field bad" } else { "field" };
    let described = if is_bad { "text-hint text-error" } else { "text-hint" };
    html! {
        div class=(class) {
            label for="text" { (words.text_label) }
            p #text-hint .hint { (words.text_hint) }
            @if is_bad { p #text-error .error { (PageIcon::Stop.draw(18)) (words.bad_text) } }
            textarea #text name="text" rows="3" maxlength=(MAX_TEXT) aria-describedby=(described)
                aria-invalid=[is_bad.then_some("true")] { (input.text) }
        }
    }
}

/// Renders the link to the login page, or the note that the user is signed in.
fn login_line(form: &ReportForm) -> Markup {
    let words = form.words();
    html! {
        @match (&form.visitor, &form.login_path) {
            (Some(_), _) => p.soft { (words.signed_in) },
            (None, Some(path)) => p { a href={ (form.context.service.origin.link(path)) "&lang=" (form.context.language.tag()) } { (words.log_in) } },
            (None, None) => {},
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_input_is_visible_and_bounded() {
        let text = format!("gone\u{202e}\u{200b}\nsince May{}", "x".repeat(2 * MAX_INPUT_CHARS));
        let shown = ReportInput { text, ..ReportInput::default() }.bounded();
        assert!(shown.text.starts_with("gone\nsince May") && shown.text.chars().count() == MAX_INPUT_CHARS);
    }
}
