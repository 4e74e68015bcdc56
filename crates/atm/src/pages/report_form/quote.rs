//! The public summary of the reports about an ATM. It has counts, but never text written by reporters.

use signpost_platform::pages::Language;

use super::words::report_words;
use crate::reports::Finding;
use crate::reports::evidence::ReportVerdict;

/// The order of findings in a summary: findings that affect a visit more are first.
const ORDER: [Finding; 6] =
    [Finding::Gone, Finding::Broken, Finding::WrongPlace, Finding::WrongHours, Finding::Other, Finding::There];

/// Formats the decision about an ATM and the number of people for each finding as a clause, such as `1 person says it is
/// gone; 2 people say it is there and works`. Returns an empty text for a verdict without reports.
pub(crate) fn quote(verdict: &ReportVerdict, language: Language) -> String {
    let words = report_words(language);
    let mut clauses = Vec::new();
    if let Some(decision) = verdict.decision {
        clauses.push((words.decided)(decision.by, decision.seen));
    }
    for seen in ORDER {
        if let Some(count) = verdict.people.get(&seen) {
            clauses.push((words.people_count)(seen, *count));
        }
    }
    clauses.join("; ")
}
