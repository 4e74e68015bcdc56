//! Moments as the console writes them: with the month in words, and the zone.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use maud::{Markup, html};

/// `24 Nov 2026, 02:15 UTC`
pub(super) fn moment(at: Timestamp) -> Markup {
    html! { time datetime=(at.strftime("%Y-%m-%dT%H:%M:%SZ")) { (say_moment(at)) } }
}

/// The same as a text.
pub(super) fn say_moment(at: Timestamp) -> String {
    at.to_zoned_datetime(TimeZone::UTC).strftime("%-d %b %Y, %H:%M UTC").to_string()
}

/// `in 8 min`, `3 h ago`: about how far it is from now.
pub(super) fn say_distance(at: Timestamp, now: Timestamp) -> String {
    let seconds = at.as_second() - now.as_second();
    let text = match seconds.unsigned_abs() {
        0..=90 => format!("{} s", seconds.unsigned_abs()),
        91..=5_400 => format!("{} min", seconds.unsigned_abs().div_ceil(60)),
        5_401..=129_600 => format!("{} h", seconds.unsigned_abs().div_ceil(3600)),
        more => format!("{} days", more.div_ceil(86_400)),
    };
    if seconds >= 0 { format!("in {text}") } else { format!("{text} ago") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_has_its_zone() {
        assert_eq!(say_moment("2026-11-04T02:05:59Z".parse().unwrap()), "4 Nov 2026, 02:05 UTC");
        let shown = moment("2026-11-04T02:05:59Z".parse().unwrap()).into_string();
        assert_eq!(shown, "<time datetime=\"2026-11-04T02:05:59Z\">4 Nov 2026, 02:05 UTC</time>");
    }

    #[test]
    fn a_distance_has_one_unit() {
        let now = Timestamp::from_second(1_000_000).unwrap();
        for (seconds, said) in [
            (0, "in 0 s"),
            (-5, "5 s ago"),
            (90, "in 90 s"),
            (480, "in 8 min"),
            (-7200, "2 h ago"),
            (-86_400 * 3, "3 days ago"),
        ] {
            assert_eq!(say_distance(Timestamp::from_second(1_000_000 + seconds).unwrap(), now), said);
        }
    }
}
