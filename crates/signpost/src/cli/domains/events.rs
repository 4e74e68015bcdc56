//! The value of `--events`: the kinds of events that a domain receives.

use signpost_login::domains::{EventSelection, InvalidEventSelection};

/// The kinds of events in an option; `None` is the default of the domain.
#[derive(Clone, Debug)]
pub(super) struct EventsArg(pub(super) Option<EventSelection>);

/// Parses a list of kinds, separated by commas, or `all`, `none` or `default`.
///
/// # Errors
/// Returns an error if a kind is unknown or repeated.
pub(super) fn parse_events(text: &str) -> Result<EventsArg, InvalidEventSelection> {
    Ok(EventsArg(match text {
        "default" => None,
        "all" => Some(EventSelection::all()),
        "none" => Some(EventSelection::parse([])?),
        list => Some(EventSelection::parse(list.split(',').map(str::trim))?),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_for_selections() {
        let parse = |text| parse_events(text).map(|EventsArg(events)| events.map(|events| events.to_string()));
        assert_eq!(parse("default"), Ok(None));
        assert_eq!(parse("none"), Ok(Some(String::new())));
        assert_eq!(parse("user.deleted, login"), Ok(Some("login,user.deleted".to_owned())));
        assert_eq!(parse("all"), Ok(Some(EventSelection::all().to_string())));
        for text in ["", "login,all", "test", "login,login"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
