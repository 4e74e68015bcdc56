//! What stands on the page of the form.

use maud::{Markup, html};
use signpost_platform::pages::icons::Sign;
use signpost_platform::pages::{Frame, Layout};

use super::visit::ReportVisit;
use crate::reports::admission::MAX_TYPED;
use crate::reports::{HowSeen, MAX_TEXT, ReportState, Seen};

/// What somebody typed, right or wrong.
#[derive(Clone, Debug, Default)]
pub(super) struct TypedReport {
    pub(super) seen: String,
    pub(super) how: String,
    pub(super) text: String,
}

/// Why a form is shown again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FormProblem {
    /// This field is to be filled in otherwise.
    Field(&'static str),
    /// The form is an old one, or was made for another browser.
    Stale,
    /// Too many reports came; the next passes in so many seconds.
    TooMany(u64),
    /// Reports of this person are refused.
    Banned,
}

impl TypedReport {
    /// Returns what is shown again: text without invisible characters, of a bounded length.
    pub(super) fn shown_again(&self) -> Self {
        Self { text: signpost_text::lines(&self.text).chars().take(MAX_TYPED).collect(), ..self.clone() }
    }
}

impl FormProblem {
    fn is_of(self, field: &str) -> bool {
        self == Self::Field(field_name(field))
    }
}

fn field_name(field: &str) -> &'static str {
    if field == "text" { "text" } else { "seen" }
}

/// The form, with what was typed and what was wrong with it.
pub(super) fn draw_form(visit: &ReportVisit, typed: &TypedReport, problem: Option<&FormProblem>) -> String {
    let words = visit.words();
    let body = html! {
        @if let Some(problem) = problem { (summary(visit, *problem)) }
        form #report method="post" action=(visit.form_link()) {
            (visit.token())
            div.stack {
            (seen_field(visit, typed, problem))
            div.field {
                label for="how" { (words.how_label) }
                select #how name="how" {
                    option value="" selected[HowSeen::parse(&typed.how).is_none()] { (words.how_none) }
                    @for how in HowSeen::ALL {
                        option value=(how.as_str()) selected[typed.how == how.as_str()] { ((words.how)(how)) }
                    }
                }
            }
            (text_field(visit, typed, problem))
            p { button.btn.primary { (words.send) } }
            }
        }
        (login_line(visit))
    };
    let tab = if problem.is_some() { words.tab_error } else { words.heading };
    let state = if problem.is_some() { "refused" } else { "asked" };
    draw(visit, state, (tab, words.heading), &body)
}

/// That the report was taken, and what becomes of it.
pub(super) fn draw_thanks(visit: &ReportVisit, state: ReportState) -> String {
    let words = visit.words();
    let text = match state {
        ReportState::New => words.thanks_waits,
        ReportState::Duplicate => words.thanks_known,
        _ => words.thanks_shown,
    };
    let body = html! {
        div.notice.ok role="status" { (Sign::Tick.draw(20)) p { (text) } }
        p { a.btn href=(visit.link(&format!("/atm/{}", visit.atm))) { (words.back) } }
        (login_line(visit))
    };
    draw(visit, "thanks", (words.thanks, words.thanks), &body)
}

fn draw(visit: &ReportVisit, state: &str, (tab, heading): (&str, &str), body: &Markup) -> String {
    let main = html! {
        main #main .wrap.stack data-state=(state) {
            h1 { (heading) }
            p.lead { bdi { (visit.title) } @if let Some(place) = &visit.place { ", " bdi { (place) } } }
            div.stack { (body) }
        }
    };
    let title = format!("{tab} · {}", visit.title);
    Frame::new(visit.language, &title, &visit.service.origin, Layout::Column, main).render()
}

fn summary(visit: &ReportVisit, problem: FormProblem) -> Markup {
    let words = visit.words();
    html! {
        div #errors .notice.danger role="alert" tabindex="-1" autofocus {
            (Sign::Stop.draw(20))
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

fn seen_field(visit: &ReportVisit, typed: &TypedReport, problem: Option<&FormProblem>) -> Markup {
    let words = visit.words();
    let is_bad = problem.is_some_and(|problem| problem.is_of("seen"));
    html! {
        fieldset #seen tabindex="-1" aria-describedby=[is_bad.then_some("seen-error")] {
            legend { (words.promise) }
            @if is_bad { p #seen-error .field.bad { span.error { (Sign::Stop.draw(18)) (words.bad_seen) } } }
            div.grid2 {
                @for seen in Seen::ALL {
                    label.choice {
                        input type="radio" name="seen" value=(seen.as_str()) checked[typed.seen == seen.as_str()];
                        ((words.seen)(seen))
                    }
                }
            }
        }
    }
}

fn text_field(visit: &ReportVisit, typed: &TypedReport, problem: Option<&FormProblem>) -> Markup {
    let words = visit.words();
    let is_bad = problem.is_some_and(|problem| problem.is_of("text"));
    let class = if is_bad { "field bad" } else { "field" };
    let described = if is_bad { "text-hint text-error" } else { "text-hint" };
    html! {
        div class=(class) {
            label for="text" { (words.text_label) }
            p #text-hint .hint { (words.text_hint) }
            @if is_bad { p #text-error .error { (Sign::Stop.draw(18)) (words.bad_text) } }
            textarea #text name="text" rows="3" maxlength=(MAX_TEXT) aria-describedby=(described)
                aria-invalid=[is_bad.then_some("true")] { (typed.text) }
        }
    }
}

/// How a report counts more, or that it does.
fn login_line(visit: &ReportVisit) -> Markup {
    let words = visit.words();
    html! {
        @match (&visit.person, &visit.login_path) {
            (Some(_), _) => p.soft { (words.signed_in) },
            (None, Some(path)) => p { a href={ (visit.service.origin.link(path)) "&lang=" (visit.language.tag()) } { (words.log_in) } },
            (None, None) => {},
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_shown_again_is_visible_and_bounded() {
        let text = format!("gone\u{202e}\u{200b}\nsince May{}", "x".repeat(2 * MAX_TYPED));
        let shown = TypedReport { text, ..TypedReport::default() }.shown_again();
        assert!(shown.text.starts_with("gone\nsince May") && shown.text.chars().count() == MAX_TYPED);
    }
}
