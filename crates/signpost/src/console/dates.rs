//! Formats the times that the console shows, with the name of the month and the time zone.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use maud::{Markup, html};
use signpost_locator::DataDates;

/// Returns an element such as `24 Nov 2026, 02:15 UTC`.
pub(super) fn render_time(at: Timestamp) -> Markup {
    html! { time datetime=(at.strftime("%Y-%m-%dT%H:%M:%SZ")) { (format_time(at)) } }
}

/// Returns the newest date of data, such as `24 Nov 2026`, with the oldest if it is more than a year older.
pub(super) fn render_dates(dates: DataDates) -> Markup {
    let Some(newest) = dates.newest else { return html! { "unknown date" } };
    html! { @if let Some(oldest) = dates.oldest_if_distant() { (render_day(oldest)) " to " } (render_day(newest)) }
}

fn render_day(at: Timestamp) -> Markup {
    let day = at.to_zoned_datetime(TimeZone::UTC).strftime("%-d %b %Y").to_string();
    html! { time datetime=(at.strftime("%Y-%m-%d")) { (day) } }
}

/// Returns a text such as `24 Nov 2026, 02:15 UTC`.
pub(super) fn format_time(at: Timestamp) -> String {
    at.to_zoned_datetime(TimeZone::UTC).strftime("%-d %b %Y, %H:%M UTC").to_string()
}

/// Returns the approximate distance from now, such as `in 8 min` or `3 h ago`.
pub(super) fn format_distance(at: Timestamp, now: Timestamp) -> String {
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
    fn time_has_its_zone() {
        assert_eq!(format_time("2026-11-04T02:05:59Z".parse().unwrap()), "4 Nov 2026, 02:05 UTC");
        let shown = render_time("2026-11-04T02:05:59Z".parse().unwrap()).into_string();
        assert_eq!(shown, "<time datetime=\"2026-11-04T02:05:59Z\">4 Nov 2026, 02:05 UTC</time>");
    }

    #[test]
    fn oldest_date_is_shown_if_it_is_distant() {
        let text = |dates: &[&str]| {
            let dates = dates.iter().map(|date| date.parse().ok());
            render_dates(dates.collect()).into_string().replace("</time>", "").replace("<time datetime=", "")
        };
        assert_eq!(text(&[]), "unknown date");
        let day = "\"2026-11-04\">4 Nov 2026";
        assert_eq!(text(&["2026-11-04T02:05:59Z", "2026-01-04T02:05:59Z"]), day);
        let older = format!("\"2021-05-31\">31 May 2021 to {day}");
        assert_eq!(text(&["2026-11-04T02:05:59Z", "2021-05-31T00:00:00Z"]), older);
    }

    #[test]
    fn time_distance_has_one_unit() {
        let now = Timestamp::from_second(1_000_000).unwrap();
        for (seconds, expected) in [
            (0, "in 0 s"),
            (-5, "5 s ago"),
            (90, "in 90 s"),
            (480, "in 8 min"),
            (-7200, "2 h ago"),
            (-86_400 * 3, "3 days ago"),
        ] {
            assert_eq!(format_distance(Timestamp::from_second(1_000_000 + seconds).unwrap(), now), expected);
        }
    }
}
