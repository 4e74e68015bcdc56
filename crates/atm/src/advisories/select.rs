//! Selection of the most important advisories for a reply, up to a word limit.

use std::borrow::Cow;

use jiff::civil::Date;
use serde::Serialize;
use signpost_platform::pages::Language;
use signpost_platform::pages::dates::long_date;

use super::rule::LawStatus;
use super::{Advisory, AdvisoryKind};

/// Maximum number of laws in a reply.
const MAX_LAWS: usize = 2;
/// Maximum number of words of the advisories in a reply, including those in its notice.
const MAX_REPLY_WORDS: usize = 120;

/// An advisory as it appears in a reply.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AdvisoryItem<'a> {
    id: &'a str,
    pub(crate) kind: AdvisoryKind,
    text: Cow<'a, str>,
    /// The text in Spanish, for pages only.
    #[serde(skip)]
    spanish: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) effective: Option<Date>,
    pub(crate) checked: Date,
    pub(crate) source_url: &'a str,
    /// The title of the source, for pages only.
    #[serde(skip)]
    pub(crate) source_title: &'a str,
}

/// The advisories selected for a reply.
#[derive(Clone, Debug, Default)]
pub struct AdvisorySummary<'a> {
    /// The advisories, in order of importance.
    pub advisories: Vec<AdvisoryItem<'a>>,
    /// The first sentence of each ban, shown at the start of the notice, with the number of affected ATMs.
    pub bans: Vec<(String, usize)>,
}

/// Selects from the applicable advisories, each given with the number of affected ATMs: bans first, at most
/// [`MAX_LAWS`] laws, and one advisory about fraud if `with_scams` is set.
#[must_use]
pub fn summarize(mut found: Vec<(&Advisory, LawStatus, usize)>, today: Date, with_scams: bool) -> AdvisorySummary<'_> {
    // The sort is stable, so equally important advisories stay in the order of the file.
    found.sort_by_key(|(advisory, law_status, machines)| (advisory.kind, *law_status, usize::MAX - machines));
    let (scams, laws): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|(advisory, ..)| advisory.kind == AdvisoryKind::Scam);
    let scams = scams.into_iter().take(usize::from(with_scams));
    let mut summary = AdvisorySummary::default();
    let mut words_left = MAX_REPLY_WORDS;
    for (advisory, law_status, machines) in laws.into_iter().take(MAX_LAWS).chain(scams) {
        let text = advisory.current_text(law_status, today);
        let ban = (advisory.kind == AdvisoryKind::Ban).then(|| first_sentence(&text).to_owned());
        let words = count_words(&text) + ban.as_deref().map_or(0, count_words);
        let Some(rest) = words_left.checked_sub(words) else { continue };
        words_left = rest;
        summary.bans.extend(ban.map(|ban| (ban, machines)));
        summary.advisories.push(AdvisoryItem {
            id: &advisory.id,
            kind: advisory.kind,
            text,
            spanish: advisory.current_text_in_spanish(law_status, today),
            effective: advisory.effective,
            checked: advisory.checked,
            source_url: &advisory.source.url,
            source_title: &advisory.source.title,
        });
    }
    summary
}

impl AdvisoryItem<'_> {
    /// Returns the first sentence of the text without its full stop, and the rest.
    pub(crate) fn headline(&self) -> (&str, &str) {
        split(&self.text)
    }

    /// Returns the first sentence and the rest of the Spanish text, if any.
    pub(crate) fn headline_in_spanish(&self) -> Option<(&str, &str)> {
        self.spanish.as_deref().map(split)
    }

    /// Returns the approximate size of the advisory in a reply, in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        // The JSON member names, the date of the check and the kind have about 75 bytes.
        let effective = if self.effective.is_some() { 25 } else { 0 };
        75 + effective + self.id.len() + self.text.len() + self.source_url.len()
    }
}

impl Advisory {
    /// Returns the text for the current date: it includes the effective date if the law is not in force yet, and the
    /// date of the last check if a review is overdue.
    fn current_text(&self, law_status: LawStatus, today: Date) -> Cow<'_, str> {
        let text = match (law_status, self.effective) {
            (LawStatus::Coming, Some(effective)) => {
                let day = long_date(Language::English, effective);
                Cow::Owned(coming(&self.text, &day, ["since", "from", "From"]))
            }
            _ => Cow::Borrowed(self.text.as_str()),
        };
        if !self.is_overdue(today) {
            return text;
        }
        let checked = long_date(Language::English, self.checked);
        Cow::Owned(format!("{text} (checked {checked}, may have changed)"))
    }

    /// Returns the Spanish text for the current date, if there is a translation.
    fn current_text_in_spanish(&self, law_status: LawStatus, today: Date) -> Option<String> {
        let text = self.text_es.as_deref()?;
        let text = match (law_status, self.effective) {
            (LawStatus::Coming, Some(effective)) => {
                let day = long_date(Language::Spanish, effective);
                coming(text, &day, ["desde el", "a partir del", "A partir del"])
            }
            _ => text.to_owned(),
        };
        if !self.is_overdue(today) {
            return Some(text);
        }
        let checked = long_date(Language::Spanish, self.checked);
        Some(format!("{text} (comprobado el {checked}, puede haber cambiado)"))
    }
}

/// Splits a text into its first sentence without the full stop, and the rest.
fn split(text: &str) -> (&str, &str) {
    let first = first_sentence(text);
    (first.strip_suffix('.').unwrap_or(first), text[first.len()..].trim_start())
}

/// Returns the first sentence of a text about a law that is not in force yet, with the effective date. The other
/// sentences are omitted, because they may not be true before that date.
fn coming(text: &str, day: &str, [since, from, capitalized_from]: [&str; 3]) -> String {
    let first = first_sentence(text);
    let since = format!("{since} {day}");
    if first.contains(&since) {
        return first.replace(&since, &format!("{from} {day}"));
    }
    format!("{capitalized_from} {day}: {first}")
}

/// Returns the first sentence with its full stop. Full stops in abbreviations ("8 V.S.A.") and numbers ("$1.50") do not
/// end a sentence.
fn first_sentence(text: &str) -> &str {
    for (stop, _) in text.match_indices(". ") {
        let last_word = text[..stop].rsplit([' ', '.']).next().unwrap_or_default();
        if last_word.chars().count() > 1 {
            return &text[..=stop];
        }
    }
    text
}

fn count_words(text: &str) -> usize {
    text.split_whitespace().count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advisories::read_rows;

    fn row(id: &str, kind: &str, text: &str) -> Advisory {
        let text = format!(
            "[[advisory]]\nid = \"{id}\"\nkind = \"{kind}\"\ntext = \"{text}\"\nchecked = 2026-11-22\n\
             status = \"in_force\"\neffective = 2026-08-01\n\
             source = {{ url = \"https://example.com\", title = \"A law\", class = \"primary\" }}"
        );
        let mut read = read_rows(&text);
        assert_eq!(read.bad, []);
        read.rows.remove(0)
    }

    fn day(text: &str) -> Date {
        text.parse().expect("a date")
    }

    fn ids<'a>(summary: &AdvisorySummary<'a>) -> Vec<&'a str> {
        summary.advisories.iter().map(|item| item.id).collect()
    }

    #[test]
    fn bans_come_first_then_two_laws_and_one_fraud_note() {
        let rows = [
            row("scam", "scam", "Beware."),
            row("scam-too", "scam", "Beware."),
            row("fee", "fee_cap", "At most 15 %."),
            row("few", "limit", "At most $1."),
            row("many", "limit", "At most $2."),
            row("ban", "ban", "No machines. None."),
        ];
        let machines = [9, 9, 9, 1, 5, 1];
        let found: Vec<_> = rows.iter().zip(machines).map(|(row, many)| (row, LawStatus::InForce, many)).collect();
        let summary = summarize(found.clone(), day("2026-11-22"), true);
        assert_eq!(ids(&summary), ["ban", "many", "scam"]);
        assert_eq!(summary.bans, [("No machines.".to_owned(), 1)]);
        assert_eq!(ids(&summarize(found, day("2026-11-22"), false)), ["ban", "many"]);
    }

    #[test]
    fn advisories_fit_the_word_limit_of_a_reply() {
        let long = "word ".repeat(39) + "end.";
        let rows =
            [row("a", "ban", &long), row("b", "ban", &long), row("c", "scam", &long), row("d", "note", "Short.")];
        let found = rows.iter().map(|row| (row, LawStatus::InForce, 1)).collect();
        let summary = summarize(found, day("2026-11-22"), true);
        assert_eq!(ids(&summary), ["a", "c"]);
        let words: usize = summary.advisories.iter().map(|item| count_words(&item.text)).sum();
        assert!(words + summary.bans.iter().map(|(ban, _)| count_words(ban)).sum::<usize>() <= MAX_REPLY_WORDS);
    }

    #[test]
    fn law_text_follows_the_current_date() {
        let ban = row("a", "ban", "Minnesota law forbids ATMs since 1 August 2026. One may be gone.");
        let cap = row("b", "fee_cap", "At most 15 %.");
        let today = day("2026-11-22");
        assert_eq!(ban.current_text(LawStatus::InForce, today), ban.text);
        assert_eq!(ban.current_text(LawStatus::Coming, today), "Minnesota law forbids ATMs from 1 August 2026.");
        assert_eq!(cap.current_text(LawStatus::Coming, today), "From 1 August 2026: At most 15 %.");
        assert_eq!(ban.current_text_in_spanish(LawStatus::InForce, today), None);
        let text_es = Some("La ley prohíbe los cajeros desde el 1 de agosto de 2026. Puede faltar uno.".to_owned());
        let ban = Advisory { text_es, ..ban };
        let text = ban.current_text_in_spanish(LawStatus::Coming, today);
        assert_eq!(text.as_deref(), Some("La ley prohíbe los cajeros a partir del 1 de agosto de 2026."));
        let text = ban.current_text_in_spanish(LawStatus::InForce, day("2027-06-01")).unwrap();
        assert!(text.ends_with("(comprobado el 22 de noviembre de 2026, puede haber cambiado)"), "{text}");
        let later = cap.current_text(LawStatus::InForce, day("2027-06-01"));
        assert_eq!(later, "At most 15 %. (checked 22 November 2026, may have changed)");
    }

    #[test]
    fn full_stop_in_a_name_ends_no_sentence() {
        for (text, first) in [
            ("One. Two.", "One."),
            ("One.", "One."),
            ("By 8 V.S.A. 2577 it is $1.50 at most. Two.", "By 8 V.S.A. 2577 it is $1.50 at most."),
        ] {
            assert_eq!(first_sentence(text), first);
        }
    }
}
