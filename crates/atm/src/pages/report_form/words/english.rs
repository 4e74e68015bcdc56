//! The English texts of the report form.

use super::ReportWords;
use crate::reports::{DecidedBy, EvidenceSource, Finding};

pub(super) const REPORT: ReportWords = ReportWords {
    heading: "Is this right?",
    promise: "You need no account. Your answer is shown with its date; it never deletes anything.",
    claim,
    how_label: "How do you know?",
    how_none: "Choose",
    how: |how| match how {
        EvidenceSource::Used => "I used it",
        EvidenceSource::Saw => "I saw it",
        EvidenceSource::Asked => "I asked in the shop",
        EvidenceSource::Phoned => "I phoned",
    },
    text_label: "What else should we know?",
    text_hint: "Up to 280 characters. Only the people who run this site read it.",
    go_on: "Go on",
    send: "Send",
    log_in: "Log in so that your report counts more",
    signed_in: "You are logged in. After your first week your report counts more.",
    tab_error: "Not sent",
    bad_seen: "Choose what you found at the machine.",
    bad_text: "Say in at most 280 characters what is wrong.",
    stale: "This form was too old, and nothing was sent. Here is a new one: press Send again.",
    banned: "Reports of this account are not accepted here. Ask the people who run this site.",
    too_many: |minutes| match minutes {
        0..=90 => format!("Too many reports came, and this one was not sent. Try again in {minutes} minutes."),
        _ => "Too many reports came, and this one was not sent. Try again tomorrow.".to_owned(),
    },
    thanks: "Thank you",
    thanks_shown: "Your report is shown with its date, on the page of the machine and to assistants.",
    thanks_known: "Somebody has told us so already. Nothing has changed.",
    thanks_waits: "Many reports came at once. A person looks at yours before it is shown.",
    back: "Back to the machine",
    people_count: |seen, count| match count {
        1 => format!("1 person says {}", claim(seen)),
        _ => format!("{count} people say {}", claim(seen)),
    },
    decided: |by, seen| match by {
        DecidedBy::Operator => format!("its operator says {}", claim(seen)),
        DecidedBy::Moderator => format!("the people who run this site say {}", claim(seen)),
    },
};

/// Returns a clause that describes a finding.
fn claim(seen: Finding) -> &'static str {
    match seen {
        Finding::There => "it is there and works",
        Finding::Gone => "it is gone",
        Finding::Broken => "it is out of order",
        Finding::WrongPlace => "it is somewhere else",
        Finding::WrongHours => "the hours are wrong",
        Finding::Other => "something else is wrong",
    }
}
