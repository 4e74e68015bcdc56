//! The kinds of events that a domain receives.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use signpost_auth::EventKind;

use super::HandlerKind;

/// The kinds of events that a domain receives beside test events, each once, in the order of
/// [`EventKind::SELECTABLE`]. The list may be empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct EventSelection(Vec<EventKind>);

/// The error for words that are not a selection of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidEventSelection(&'static str);

/// Error text for an unknown kind of event.
const UNKNOWN_KIND: &str = "must hold 'login', 'register', 'link', 'user.updated', 'user.deleted', \
                            'credential.added', 'credential.removed' or 'user.signed_out'";

impl EventSelection {
    /// Parses the kinds in a request.
    ///
    /// # Errors
    /// Returns an error if a kind is unknown or repeated, or cannot be selected.
    pub fn parse<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self, InvalidEventSelection> {
        let mut is_selected = [false; EventKind::SELECTABLE.len()];
        for word in words {
            let position = EventKind::SELECTABLE.iter().position(|kind| kind.as_str() == word);
            let position = position.ok_or(InvalidEventSelection(UNKNOWN_KIND))?;
            if is_selected[position] {
                return Err(InvalidEventSelection("must name each kind of event once"));
            }
            is_selected[position] = true;
        }
        let kinds = EventKind::SELECTABLE.into_iter().zip(is_selected);
        Ok(Self(kinds.filter_map(|(kind, is_selected)| is_selected.then_some(kind)).collect()))
    }

    /// Returns the selection of all kinds.
    #[must_use]
    pub fn all() -> Self {
        Self(EventKind::SELECTABLE.to_vec())
    }

    /// Returns the default of a domain: the kinds of the specification, and links for domains whose users the service
    /// stores. A receiver that supports only the specification must get no other kind.
    #[must_use]
    pub fn default_for(handler: HandlerKind) -> Self {
        Self(match handler {
            HandlerKind::Direct => vec![EventKind::Login, EventKind::Register],
            HandlerKind::Hosted => vec![EventKind::Login, EventKind::Register, EventKind::Link],
        })
    }

    /// Returns true if the domain receives events of this kind.
    #[must_use]
    pub fn contains(&self, kind: &EventKind) -> bool {
        self.0.contains(kind)
    }
}

impl TryFrom<Vec<String>> for EventSelection {
    type Error = InvalidEventSelection;

    fn try_from(words: Vec<String>) -> Result<Self, InvalidEventSelection> {
        Self::parse(words.iter().map(String::as_str))
    }
}

impl fmt::Display for EventSelection {
    /// Formats the kinds for the database, separated by commas.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(EventKind::as_str).collect::<Vec<_>>().join(","))
    }
}

impl FromStr for EventSelection {
    type Err = InvalidEventSelection;

    /// Parses the stored text.
    fn from_str(text: &str) -> Result<Self, InvalidEventSelection> {
        if text.is_empty() { Ok(Self(Vec::new())) } else { Self::parse(text.split(',')) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selection_has_each_kind_once() {
        let selection = EventSelection::parse(["user.deleted", "login"]).unwrap();
        assert_eq!(selection.to_string(), "login,user.deleted");
        assert_eq!("login,user.deleted".parse(), Ok(selection.clone()));
        assert!(selection.contains(&EventKind::UserDeleted) && !selection.contains(&EventKind::Register));
        for words in [&["login", "login"][..], &["test"], &["approval.requested"], &["Login"], &[""]] {
            assert!(EventSelection::parse(words.iter().copied()).is_err(), "{words:?}");
        }
        for text in ["login,", "login,login", "login, link"] {
            assert!(text.parse::<EventSelection>().is_err(), "{text}");
        }
    }

    #[test]
    fn empty_selection_round_trips() {
        let none = EventSelection::parse([]).unwrap();
        assert_eq!((none.to_string().as_str(), "".parse()), ("", Ok(none.clone())));
        assert!(EventKind::SELECTABLE.iter().all(|kind| EventSelection::all().contains(kind) && !none.contains(kind)));
    }

    #[test]
    fn defaults_are_the_kinds_of_old_receivers() {
        assert_eq!(EventSelection::default_for(HandlerKind::Direct).to_string(), "login,register");
        assert_eq!(EventSelection::default_for(HandlerKind::Hosted).to_string(), "login,register,link");
    }
}
