//! Formats dates in the languages of pages.

use jiff::civil::Date;

use super::Language;

/// The Spanish names of the months, short and long.
const SPANISH_MONTHS: [(&str, &str); 12] = [
    ("ene", "enero"),
    ("feb", "febrero"),
    ("mar", "marzo"),
    ("abr", "abril"),
    ("may", "mayo"),
    ("jun", "junio"),
    ("jul", "julio"),
    ("ago", "agosto"),
    ("sept", "septiembre"),
    ("oct", "octubre"),
    ("nov", "noviembre"),
    ("dic", "diciembre"),
];

/// Formats a date for a sentence, such as `1 August 2026` or `1 de agosto de 2026`.
#[must_use]
pub fn long_date(language: Language, date: Date) -> String {
    match language {
        Language::English => date.strftime("%-d %B %Y").to_string(),
        Language::Spanish => format!("{} de {} de {}", date.day(), spanish_month(date).1, date.year()),
    }
}

/// Formats a date for a table, such as `1 Aug 2026` or `1 ago 2026`.
#[must_use]
pub fn short_date(language: Language, date: Date) -> String {
    match language {
        Language::English => date.strftime("%-d %b %Y").to_string(),
        Language::Spanish => format!("{} {} {}", date.day(), spanish_month(date).0, date.year()),
    }
}

fn spanish_month(date: Date) -> (&'static str, &'static str) {
    SPANISH_MONTHS[usize::from(date.month().unsigned_abs()) - 1]
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn dates_are_written_in_each_language() {
        let day = date(2026, 9, 1);
        assert_eq!(long_date(Language::English, day), "1 September 2026");
        assert_eq!(long_date(Language::Spanish, day), "1 de septiembre de 2026");
        assert_eq!(short_date(Language::English, day), "1 Sep 2026");
        assert_eq!(short_date(Language::Spanish, day), "1 sept 2026");
    }
}
