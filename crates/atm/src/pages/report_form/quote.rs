//! The public summary of the reports about an ATM. It shows counts, but never text written by reporters.

use maud::{Markup, html};
use signpost_platform::pages::Language;
use signpost_platform::pages::icons::PageIcon;

use super::words::report_words;
use crate::reports::evidence::ReportVerdict;

/// Renders the reports as a notice. `newest` is the formatted date of the newest report.
pub(crate) fn quote(verdict: &ReportVerdict, language: Language, newest: &str) -> Markup {
    let words = report_words(language);
    let decided = verdict.decision.map(|decision| (words.decided)(decision.by, decision.seen));
    html! {
        div #reports .notice.warn[verdict.verified_at.is_none() || verdict.is_disputed] {
            (PageIcon::Info.draw(20))
            div {
                @if let Some(decided) = decided { p { (decided) } }
                @for (seen, count) in &verdict.people { p { ((words.people_count)(*seen, *count)) } }
                p.sm {
                    @if verdict.is_disputed { (words.disputed) " " }
                    ((words.newest)(newest))
                }
            }
        }
    }
}

/// Formats the reports as one line of a list.
pub(crate) fn quote_line(verdict: &ReportVerdict, language: Language) -> String {
    let words = report_words(language);
    let people_count: Vec<_> = verdict.people.iter().map(|(seen, count)| (words.people_count)(*seen, *count)).collect();
    people_count.join(" ")
}
