//! Opening hours in the grammar of OpenStreetMap's `opening_hours`, and their evaluation in local time.

mod english;
mod schedule;
mod week;

use arcstr::ArcStr;
use serde::{Deserialize, Serialize};

pub use schedule::{NotEvaluated, OpenState, Opening, Schedule};
pub use week::{OpenDay, OpenSpan};

/// The opening hours of an ATM.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Hours {
    /// Always open; serialized as `24/7`.
    Always,
    /// A text in the grammar of OpenStreetMap's `opening_hours`, or another text of the source.
    Text(ArcStr),
}

impl Hours {
    /// Parses the text of a source. `24/7` and its variants become [`Hours::Always`], common English forms are
    /// translated into the grammar of OpenStreetMap's `opening_hours`, and other texts are unchanged. Returns `None` if
    /// the text is blank.
    ///
    /// ```
    /// # use signpost_locator::Hours;
    /// assert_eq!(Hours::parse("Open 24/7"), Some(Hours::Always));
    /// assert_eq!(Hours::parse(" Mo-Fr 09:00-17:00 ").unwrap().text(), "Mo-Fr 09:00-17:00");
    /// assert_eq!(Hours::parse("Mon-Fri 9am-5:30pm").unwrap().text(), "Mo-Fr 09:00-17:30");
    /// assert_eq!(Hours::parse("ask inside").unwrap().text(), "ask inside");
    /// assert_eq!(Hours::parse(" "), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (hours, _) = Self::parse_checked(text)?;
        Some(hours)
    }

    /// Parses a text like [`Hours::parse`], and also returns the value of [`Hours::is_understood`].
    pub(crate) fn parse_checked(text: &str) -> Option<(Self, bool)> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        if schedule::is_in_the_grammar(text) {
            return Some((Self::from(text.to_owned()), true));
        }
        if let Some(translated) = english::translate(text)
            && schedule::is_in_the_grammar(&translated)
        {
            return Some((Self::from(translated), true));
        }
        let hours = Self::from(text.to_owned());
        let is_understood = hours == Self::Always;
        Some((hours, is_understood))
    }

    /// Returns `true` if a [`Schedule`] can be created from the hours. Otherwise they are only readable by people.
    ///
    /// ```
    /// # use signpost_locator::Hours;
    /// assert!(Hours::parse("Mo-Fr 09:00-17:00").unwrap().is_understood());
    /// assert!(!Hours::parse("ask inside").unwrap().is_understood());
    /// ```
    #[must_use]
    pub fn is_understood(&self) -> bool {
        match self {
            Self::Always => true,
            Self::Text(text) => schedule::is_in_the_grammar(text),
        }
    }

    /// Returns the hours as text.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Always => "24/7",
            Self::Text(text) => text,
        }
    }
}

impl From<String> for Hours {
    /// Creates hours from their stored form. It was already parsed on import.
    fn from(text: String) -> Self {
        #[rustfmt::skip]
        const ALWAYS: [&str; 9] = [
            "24/7", "24x7", "24 hours", "24 hours a day", "24 hours, 7 days a week", "24 hours/7 days", "00:00-24:00",
            "24 hrs", "24h",
        ];
        let lower = text.trim().to_ascii_lowercase();
        let words = lower.strip_prefix("open").unwrap_or(&lower).trim_start();
        let words = words.strip_prefix("mo-su").unwrap_or(words).trim_start();
        if ALWAYS.contains(&words) { Self::Always } else { Self::Text(text.into()) }
    }
}

impl From<Hours> for String {
    fn from(hours: Hours) -> Self {
        hours.text().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_explicit_hours_are_always_open() {
        for text in ["24/7", " 24/7 ", "24X7", "Open 24 hours", "24 Hours a Day", "Mo-Su 00:00-24:00", "24h"] {
            assert_eq!(Hours::parse(text), Some(Hours::Always), "{text}");
        }
        for text in ["24/6", "9-5", "24/7 except Sunday", "Mo-Fr 00:00-24:00", "24/7; PH off"] {
            assert_eq!(Hours::parse(text), Some(Hours::Text(text.into())), "{text}");
        }
    }

    #[test]
    fn normalized_hours_are_stable() {
        for text in ["24/7", "Mon-Fri 9am-5pm", "Mo-Fr 09:00-17:00", "ask inside", "Daily 8 AM to midnight"] {
            let once = Hours::parse(text).unwrap();
            assert_eq!(Hours::parse(once.text()), Some(once.clone()), "{text}");
            assert_eq!(Hours::from(String::from(once.clone())), once, "{text}");
        }
    }
}
