//! The notices about laws and fraud on a page.

use maud::{Markup, html};
use signpost_locator::Country;
use signpost_platform::pages::Language;
use signpost_platform::pages::href::href;

use super::context::PageContext;
use crate::advisories::{Advisory, AdvisoryItem, AdvisoryKind, LawStatus, Location, summarize};
use crate::catalogue::CatalogueEntry;

/// The rendered notices about laws and fraud: bans first, at most two laws, and one fraud warning.
pub(super) struct Notices {
    /// The whole text.
    pub(super) whole: Markup,
    /// One line that opens the whole text: the first sentence of a ban, otherwise the question of the fraud warning.
    pub(super) folded: Markup,
}

impl Notices {
    /// Renders the notices for these ATMs. `country` is the reader's country, if known.
    pub(super) fn of_atms(context: &PageContext, country: Option<Country>, entries: &[&CatalogueEntry]) -> Self {
        Self::new(context, country, context.moment().advisories_with_counts(entries))
    }

    /// Renders the notices that apply at a location with `count` ATMs. `country` is the reader's country, if known.
    pub(super) fn at(
        context: &PageContext,
        country: Option<Country>,
        location: &Location<'_>,
        zone: Option<&str>,
        count: usize,
    ) -> Self {
        let found = context.moment().advisories_at(location, zone);
        Self::new(
            context,
            country,
            found.into_iter().map(|(advisory, law_status)| (advisory, law_status, count)).collect(),
        )
    }

    fn new(context: &PageContext, country: Option<Country>, found: Vec<(&Advisory, LawStatus, usize)>) -> Self {
        let summary = summarize(found, context.today(), true);
        let (scams, laws): (Vec<_>, Vec<_>) =
            summary.advisories.iter().partition(|item| item.kind == AdvisoryKind::Scam);
        let whole = html! {
            @for item in &laws { (law(context, item)) }
            @for item in &scams { (scam(context, country, item)) }
        };
        let folded = html! {
            @if let Some(line) = line(context, &laws, &scams) {
                details.warnings {
                    summary { (warning_icon(20)) span { (line) } }
                    (whole)
                }
            }
        };
        Self { whole, folded }
    }
}

/// Returns the line that stands for all notices, or `None` without any. Bans are the first laws.
fn line(context: &PageContext, laws: &[&AdvisoryItem<'_>], scams: &[&AdvisoryItem<'_>]) -> Option<Markup> {
    let words = context.words();
    let headline_of = |item: &AdvisoryItem<'_>| {
        let ((first, _), language) = headline(context, item);
        html! { span lang=[language] { (first) } }
    };
    match laws.first() {
        Some(ban) if ban.kind == AdvisoryKind::Ban => Some(headline_of(ban)),
        Some(_) if !scams.is_empty() => {
            Some(html! { (words.sent_here) " " span.soft { ((words.and_laws)(laws.len())) } })
        }
        Some(law) => Some(headline_of(law)),
        None if !scams.is_empty() => Some(html! { (words.sent_here) }),
        None => None,
    }
}

fn law(context: &PageContext, item: &AdvisoryItem<'_>) -> Markup {
    let words = context.words();
    let ((first, rest), language) = headline(context, item);
    html! {
        aside.notice.advisory aria-label=(first) {
            (warning_icon(34))
            div.stack-sm {
                h2 lang=[language] { (first) }
                @if !rest.is_empty() { p lang=[language] { (rest) } }
                p.sm.soft {
                    @if let Some(effective) = item.effective.filter(|day| *day <= context.today()) {
                        ((words.in_force_since)(&(words.long_date)(effective))) " · "
                    }
                    (source(context, item)) " · " ((words.checked_on)(&(words.long_date)(item.checked)))
                }
            }
        }
    }
}

fn scam(context: &PageContext, country: Option<Country>, item: &AdvisoryItem<'_>) -> Markup {
    let words = context.words();
    let ((first, rest), language) = headline(context, item);
    html! {
        aside.notice.advisory aria-label=(words.sent_here) {
            (warning_icon(34))
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
                    (source(context, item)) " · " ((words.checked_on)(&(words.long_date)(item.checked)))
                }
            }
        }
    }
}

/// Returns the first sentence and the rest of an advisory, and its language if it differs from the language of the
/// page.
fn headline<'i>(context: &PageContext, item: &'i AdvisoryItem<'_>) -> ((&'i str, &'i str), Option<&'static str>) {
    match context.language {
        Language::English => (item.headline(), None),
        Language::Spanish => match item.headline_in_spanish() {
            Some(spanish) => (spanish, None),
            None => (item.headline(), Some("en")),
        },
    }
}

/// Renders the link to the source of an advisory.
fn source(context: &PageContext, item: &AdvisoryItem<'_>) -> Markup {
    // The title is in the language of the linked page.
    let language = (context.language != Language::English).then_some("en");
    let title = if item.source_title.is_empty() { item.source_url } else { item.source_title };
    html! {
        @if let Some(link) = href(item.source_url) { a href=(link) lang=[language] { (title) } }
        @else { span lang=[language] { (title) } }
    }
}

/// Renders the yellow warning sign with this side length in pixels.
fn warning_icon(pixels: u8) -> Markup {
    html! {
        svg.sign width=(pixels) height=(pixels) viewBox="0 0 34 34" aria-hidden="true" {
            path.plate-of d="M17 1.5 32.5 17 17 32.5 1.5 17z" stroke-width="2" stroke-linejoin="round" {}
            path.mark-of d="M17 9.5v9" stroke-width="3" stroke-linecap="round" {}
            circle.dot-of cx="17" cy="23.5" r="1.9" {}
        }
    }
}
