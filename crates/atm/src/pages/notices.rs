//! What people are told of the law and of fraud before they go to a machine.

use maud::{Markup, html};
use signpost_locator::Country;
use signpost_platform::pages::Language;
use signpost_platform::pages::href::href;

use super::visit::LocatorVisit;
use crate::advisories::{Advisory, AdvisoryItem, AdvisoryKind, LawStanding, tell};

/// The notices of what holds somewhere, with how many machines each concerns: bans first, at most two laws, and one line
/// on fraud.
pub(super) struct Notices {
    pub(super) laws: Markup,
    pub(super) scam: Markup,
}

impl Notices {
    /// `country` is where people are who read it, as far as the page knows.
    pub(super) fn of(
        visit: &LocatorVisit,
        country: Option<Country>,
        found: Vec<(&Advisory, LawStanding, usize)>,
    ) -> Self {
        let told = tell(found, visit.today(), true);
        let is_scam = |item: &&AdvisoryItem<'_>| item.kind == AdvisoryKind::Scam;
        Self {
            laws: html! { @for item in told.advisories.iter().filter(|item| !is_scam(item)) { (law(visit, item)) } },
            scam: html! { @for item in told.advisories.iter().filter(is_scam) { (scam(visit, country, item)) } },
        }
    }
}

fn law(visit: &LocatorVisit, item: &AdvisoryItem<'_>) -> Markup {
    let words = visit.words();
    let ((first, rest), language) = headline(visit, item);
    html! {
        aside.notice.advisory aria-label=(first) {
            (sign())
            div.stack-sm {
                h2 lang=[language] { (first) }
                @if !rest.is_empty() { p lang=[language] { (rest) } }
                p.sm.soft {
                    @if let Some(effective) = item.effective.filter(|day| *day <= visit.today()) {
                        ((words.in_force_since)(&(words.long_date)(effective))) " · "
                    }
                    (source(visit, item)) " · " ((words.checked_on)(&(words.long_date)(item.checked)))
                }
            }
        }
    }
}

fn scam(visit: &LocatorVisit, country: Option<Country>, item: &AdvisoryItem<'_>) -> Markup {
    let words = visit.words();
    let ((first, rest), language) = headline(visit, item);
    html! {
        aside.notice.advisory aria-label=(words.sent_here) {
            (sign())
            div.stack-sm {
                h2 { (words.sent_here) }
                p {
                    span lang=[language] { (first) "." @if !rest.is_empty() { " " (rest) } }
                    " " (words.call_someone)
                    @if country == Some(Country::UNITED_STATES) {
                        " " ((words.report_fraud)(&html! { a href="https://reportfraud.ftc.gov/" { "ReportFraud.ftc.gov" } }))
                    }
                }
                p.sm.soft {
                    (source(visit, item)) " · " ((words.checked_on)(&(words.long_date)(item.checked)))
                }
            }
        }
    }
}

/// What an advisory says, and its language where that is another one than the page's.
fn headline<'i>(visit: &LocatorVisit, item: &'i AdvisoryItem<'_>) -> ((&'i str, &'i str), Option<&'static str>) {
    let spanish = (visit.language == Language::Spanish).then(|| item.headline_in_spanish());
    match spanish {
        Some(Some(spanish)) => (spanish, None),
        Some(None) => (item.headline(), Some("en")),
        None => (item.headline(), None),
    }
}

/// Who says so.
fn source(visit: &LocatorVisit, item: &AdvisoryItem<'_>) -> Markup {
    // Titles are in the language of what they name.
    let language = (visit.language != Language::English).then_some("en");
    let title = if item.source_title.is_empty() { item.source_url } else { item.source_title };
    html! {
        @if let Some(link) = href(item.source_url) { a href=(link) lang=[language] { (title) } }
        @else { span lang=[language] { (title) } }
    }
}

/// The yellow sign of warnings.
fn sign() -> Markup {
    html! {
        svg.sign width="34" height="34" viewBox="0 0 34 34" aria-hidden="true" {
            path.plate-of d="M17 1.5 32.5 17 17 32.5 1.5 17z" stroke-width="2" stroke-linejoin="round" {}
            path.mark-of d="M17 9.5v9" stroke-width="3" stroke-linecap="round" {}
            circle.dot-of cx="17" cy="23.5" r="1.9" {}
        }
    }
}
