//! The translated texts of the report form, with one submodule for each language.

mod english;
mod spanish;

use signpost_platform::pages::Language;

use crate::reports::{DecidedBy, EvidenceSource, Finding};

/// The texts of the report form in one language.
pub(super) struct ReportWords {
    pub(super) heading: &'static str,
    pub(super) promise: &'static str,
    /// Returns a clause that describes a finding.
    pub(super) claim: fn(Finding) -> &'static str,
    pub(super) how_label: &'static str,
    pub(super) how_none: &'static str,
    pub(super) how: fn(EvidenceSource) -> &'static str,
    pub(super) text_label: &'static str,
    pub(super) text_hint: &'static str,
    pub(super) go_on: &'static str,
    pub(super) send: &'static str,
    pub(super) log_in: &'static str,
    pub(super) signed_in: &'static str,
    pub(super) tab_error: &'static str,
    pub(super) bad_seen: &'static str,
    pub(super) bad_text: &'static str,
    pub(super) stale: &'static str,
    pub(super) banned: &'static str,
    /// Formats the error of an exceeded rate limit from the minutes until the next report is accepted.
    pub(super) too_many: fn(u64) -> String,
    pub(super) thanks: &'static str,
    pub(super) thanks_shown: &'static str,
    pub(super) thanks_known: &'static str,
    pub(super) thanks_waits: &'static str,
    pub(super) back: &'static str,
    /// Formats a clause with the number of people who reported a finding.
    pub(super) people_count: fn(Finding, usize) -> String,
    /// Formats a clause with the decision of the operator or the moderator.
    pub(super) decided: fn(DecidedBy, Finding) -> String,
}

/// Returns the texts of the report form in a language.
pub(super) fn report_words(language: Language) -> &'static ReportWords {
    match language {
        Language::English => &english::REPORT,
        Language::Spanish => &spanish::REPORT,
    }
}
