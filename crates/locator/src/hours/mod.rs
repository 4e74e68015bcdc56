//! When a machine can be used: opening hours in OpenStreetMap's grammar, in the machine's own time zone.

mod english;
mod schedule;
mod week;

use arcstr::ArcStr;
use serde::{Deserialize, Serialize};

pub use schedule::{NotEvaluated, OpenState, Opening, Schedule};
pub use week::{OpenDay, OpenSpan};

/// When a machine can be used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Hours {
    /// At any time; written `24/7`.
    Always,
    /// In the grammar of OpenStreetMap's `opening_hours`, or in other words of the source, which are kept as they are.
    Text(ArcStr),
}

impl Hours {
    /// What a source's words say: [`Hours::Always`] for `24/7` and other spellings of it; the words themselves where
    /// they are in the grammar of OpenStreetMap's `opening_hours`; the usual English forms written in that grammar;
    /// anything else as it is. `None` if there are no words.
    ///
    /// ```
    /// # use signpost_locator::Hours;
    /// let text = |text: &str| Some(Hours::Text(text.into()));
    /// assert_eq!(Hours::parse("Open 24/7"), Some(Hours::Always));
    /// assert_eq!(Hours::parse(" Mo-Fr 09:00-17:00 "), text("Mo-Fr 09:00-17:00"));
    /// assert_eq!(Hours::parse("Mon-Fri 9am-5:30pm"), text("Mo-Fr 09:00-17:30"));
    /// assert_eq!(Hours::parse("ask inside"), text("ask inside"));
    /// assert_eq!(Hours::parse(" "), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        match text {
            "" => None,
            _ if schedule::is_in_the_grammar(text) => Some(Self::from(text.to_owned())),
            _ => {
                let translated = english::translate(text).filter(|text| schedule::is_in_the_grammar(text));
                Some(Self::from(translated.unwrap_or_else(|| text.to_owned())))
            }
        }
    }

    /// Whether a [`Schedule`] can be made of them; else they are words for people.
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

    /// As it is written.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Always => "24/7",
            Self::Text(text) => text,
        }
    }
}

impl From<String> for Hours {
    /// Hours as they are stored: what they say was found out when they were read from their source.
    fn from(text: String) -> Self {
        const ALWAYS: [&str; 9] = [
            "24/7",
            "24x7",
            "24 hours",
            "24 hours a day",
            "24 hours, 7 days a week",
            "24 hours/7 days",
            "00:00-24:00",
            "24 hrs",
            "24h",
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
    fn hours_are_always_only_where_they_say_so() {
        for text in ["24/7", " 24/7 ", "24X7", "Open 24 hours", "24 Hours a Day", "Mo-Su 00:00-24:00", "24h"] {
            assert_eq!(Hours::parse(text), Some(Hours::Always), "{text}");
        }
        for text in ["24/6", "9-5", "24/7 except Sunday", "Mo-Fr 00:00-24:00", "24/7; PH off"] {
            assert_eq!(Hours::parse(text), Some(Hours::Text(text.into())), "{text}");
        }
    }

    #[test]
    fn what_is_read_once_stays_as_it_is() {
        for text in ["24/7", "Mon-Fri 9am-5pm", "Mo-Fr 09:00-17:00", "ask inside", "Daily 8 AM to midnight"] {
            let once = Hours::parse(text).unwrap();
            assert_eq!(Hours::parse(once.text()), Some(once.clone()), "{text}");
            assert_eq!(Hours::from(String::from(once.clone())), once, "{text}");
        }
    }
}
