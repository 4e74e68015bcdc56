//! Tests of opening hours, including changes to and from daylight-saving time, and random rules.

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use signpost_locator::{Country, Hours, NotEvaluated, OpenState, Schedule};

use OpenState::{Closed, Open, Unknown};

const CHICAGO: &str = "America/Chicago";
const NEW_YORK: &str = "America/New_York";

/// A test case: time zone, rule, local time with its offset, expected state, and expected time of the next change.
type Case = (&'static str, &'static str, &'static str, OpenState, &'static str);

/// The test cases. 21 November 2026 is a Saturday. In 2026, clocks are set forward on 8 March and back on 1 November at
/// 2:00 local time in the United States, and on 29 March and 25 October at 1:00 UTC in Europe.
#[rustfmt::skip]
const TABLE: [Case; 85] = [
    // Days and times.
    (CHICAGO, "Mo-Fr 09:00-17:00", "2026-11-23T08:59:59-06:00", Closed, "2026-11-23T09:00:00-06:00"),
    (CHICAGO, "Mo-Fr 09:00-17:00", "2026-11-23T09:00:00-06:00", Open,   "2026-11-23T17:00:00-06:00"),
    (CHICAGO, "Mo-Fr 09:00-17:00", "2026-11-23T16:59:59-06:00", Open,   "2026-11-23T17:00:00-06:00"),
    (CHICAGO, "Mo-Fr 09:00-17:00", "2026-11-23T17:00:00-06:00", Closed, "2026-11-24T09:00:00-06:00"),
    (CHICAGO, "Mo-Fr 09:00-17:00", "2026-11-20T18:00:00-06:00", Closed, "2026-11-23T09:00:00-06:00"),
    (CHICAGO, "Mo-Fr 09:00-17:00", "2026-11-21T12:00:00-06:00", Closed, "2026-11-23T09:00:00-06:00"),
    (CHICAGO, "Mo-Fr 09:00-17:00; Sa 10:00-14:00", "2026-11-21T12:00:00-06:00", Open, "2026-11-21T14:00:00-06:00"),
    (CHICAGO, "Mo-Fr 09:00-17:00; Sa 10:00-14:00", "2026-11-22T12:00:00-06:00", Closed, "2026-11-23T09:00:00-06:00"),
    (CHICAGO, "Mo-Fr 09:00-12:00,13:00-17:00", "2026-11-23T12:30:00-06:00", Closed, "2026-11-23T13:00:00-06:00"),
    (CHICAGO, "Mo-Fr 09:00-12:00,13:00-17:00", "2026-11-23T13:00:00-06:00", Open,   "2026-11-23T17:00:00-06:00"),
    (CHICAGO, "09:00-17:00", "2026-11-22T10:00:00-06:00", Open, "2026-11-22T17:00:00-06:00"),
    (CHICAGO, "Mo,We,Fr 10:00-16:00", "2026-11-24T12:00:00-06:00", Closed, "2026-11-25T10:00:00-06:00"),
    (CHICAGO, "Fr-Mo 10:00-16:00", "2026-11-22T12:00:00-06:00", Open, "2026-11-22T16:00:00-06:00"),
    (CHICAGO, "Mo-Su 06:00-24:00", "2026-11-21T23:59:59-06:00", Open, "2026-11-22T00:00:00-06:00"),
    (CHICAGO, "Mo-Su 06:00-24:00", "2026-11-22T00:00:00-06:00", Closed, "2026-11-22T06:00:00-06:00"),
    (CHICAGO, "Mo-Fr 00:00-24:00", "2026-11-23T03:00:00-06:00", Open, "2026-11-28T00:00:00-06:00"),
    (CHICAGO, "Mo-Fr 00:00-24:00", "2026-11-21T03:00:00-06:00", Closed, "2026-11-23T00:00:00-06:00"),
    (CHICAGO, "09:00-17:00; We off", "2026-11-25T12:00:00-06:00", Closed, "2026-11-26T09:00:00-06:00"),
    (CHICAGO, "Mo-Fr 09:00-17:00 open, Sa 09:00-12:00 \"ring\"", "2026-11-23T12:00:00-06:00", Open, "2026-11-23T17:00:00-06:00"),
    // Spans that end after midnight.
    (CHICAGO, "Fr,Sa 22:00-02:00", "2026-11-20T23:00:00-06:00", Open,   "2026-11-21T02:00:00-06:00"),
    (CHICAGO, "Fr,Sa 22:00-02:00", "2026-11-21T01:59:00-06:00", Open,   "2026-11-21T02:00:00-06:00"),
    (CHICAGO, "Fr,Sa 22:00-02:00", "2026-11-21T02:00:00-06:00", Closed, "2026-11-21T22:00:00-06:00"),
    (CHICAGO, "Fr,Sa 22:00-02:00", "2026-11-22T01:00:00-06:00", Open,   "2026-11-22T02:00:00-06:00"),
    (CHICAGO, "Fr,Sa 22:00-02:00", "2026-11-23T01:00:00-06:00", Closed, "2026-11-27T22:00:00-06:00"),
    (CHICAGO, "10:00-26:00", "2026-11-21T01:30:00-06:00", Open, "2026-11-21T02:00:00-06:00"),
    // Seasons, dates and weeks.
    (CHICAGO, "Apr-Sep 09:00-18:00", "2026-11-21T12:00:00-06:00", Closed, "2027-04-01T09:00:00-05:00"),
    (CHICAGO, "Apr-Sep 09:00-18:00", "2026-09-30T12:00:00-05:00", Open,   "2026-09-30T18:00:00-05:00"),
    (CHICAGO, "Nov-Feb 10:00-15:00", "2026-12-31T16:00:00-06:00", Closed, "2027-01-01T10:00:00-06:00"),
    (CHICAGO, "Dec 25 off; 08:00-20:00", "2026-12-25T12:00:00-06:00", Open, "2026-12-25T20:00:00-06:00"),
    (CHICAGO, "08:00-20:00; Dec 25 off", "2026-12-25T12:00:00-06:00", Closed, "2026-12-26T08:00:00-06:00"),
    (CHICAGO, "08:00-20:00; Dec 24-26 off", "2026-12-23T21:00:00-06:00", Closed, "2026-12-27T08:00:00-06:00"),
    (CHICAGO, "2026 Nov 21-2026 Nov 22 off; 24/7", "2026-11-21T12:00:00-06:00", Open, ""),
    (CHICAGO, "24/7; 2026 Nov 21-2026 Nov 22 off", "2026-11-21T12:00:00-06:00", Closed, "2026-11-23T00:00:00-06:00"),
    (CHICAGO, "24/7; 2026 Nov 21-2026 Nov 22 off", "2026-11-20T12:00:00-06:00", Open, "2026-11-21T00:00:00-06:00"),
    (CHICAGO, "week 01-53/2 Mo 10:00-12:00", "2026-11-23T11:00:00-06:00", Closed, "2026-11-30T10:00:00-06:00"),
    (CHICAGO, "Mo[1] 10:00-12:00", "2026-11-23T11:00:00-06:00", Closed, "2026-12-07T10:00:00-06:00"),
    (CHICAGO, "Su[-1] 10:00-12:00", "2026-11-29T11:00:00-06:00", Open, "2026-11-29T12:00:00-06:00"),
    (CHICAGO, "easter 10:00-12:00", "2027-03-28T11:00:00-05:00", Open, "2027-03-28T12:00:00-05:00"),
    (CHICAGO, "off", "2026-11-21T12:00:00-06:00", Closed, ""),
    (CHICAGO, "24/7", "2026-11-21T12:00:00-06:00", Open, ""),
    (CHICAGO, "24/7 closed \"moved\"", "2026-11-21T12:00:00-06:00", Closed, ""),
    (CHICAGO, "\"by appointment\"", "2026-11-21T12:00:00-06:00", Unknown, ""),
    (CHICAGO, "Mo-Fr 09:00-17:00; Sa \"by appointment\"", "2026-11-21T12:00:00-06:00", Unknown, "2026-11-22T00:00:00-06:00"),
    (CHICAGO, "Mo-Fr 09:00-17:00 unknown", "2026-11-23T12:00:00-06:00", Unknown, "2026-11-23T17:00:00-06:00"),
    (CHICAGO, "Mo-Fr 09:00-17:00; Sa unknown", "2026-11-21T12:00:00-06:00", Unknown, "2026-11-22T00:00:00-06:00"),
    // Holidays: Thanksgiving is 26 November 2026.
    (CHICAGO, "Mo-Fr 09:00-17:00; PH off", "2026-11-26T12:00:00-06:00", Closed, "2026-11-27T09:00:00-06:00"),
    (CHICAGO, "Mo-Fr 09:00-17:00", "2026-11-26T12:00:00-06:00", Open, "2026-11-26T17:00:00-06:00"),
    (CHICAGO, "Mo-Fr 09:00-17:00; PH 10:00-12:00", "2026-11-26T11:00:00-06:00", Open, "2026-11-26T12:00:00-06:00"),
    (CHICAGO, "24/7; PH off", "2026-12-25T12:00:00-06:00", Closed, "2026-12-26T00:00:00-06:00"),
    (CHICAGO, "24/7; PH off", "2026-12-24T12:00:00-06:00", Open, "2026-12-25T00:00:00-06:00"),
    (CHICAGO, "PH 10:00-12:00", "2027-01-01T11:00:00-06:00", Open, "2027-01-01T12:00:00-06:00"),
    // Spring: in the United States, the hour from 2:00 to 3:00 on 8 March 2026 does not exist.
    (NEW_YORK, "Su 01:00-03:00", "2026-03-08T01:59:59-05:00", Open,   "2026-03-08T03:00:00-04:00"),
    (NEW_YORK, "Su 01:00-03:00", "2026-03-08T03:00:00-04:00", Closed, "2026-03-15T01:00:00-04:00"),
    (NEW_YORK, "Su 02:30-05:00", "2026-03-08T01:59:59-05:00", Closed, "2026-03-08T03:00:00-04:00"),
    (NEW_YORK, "Su 02:30-05:00", "2026-03-08T03:00:00-04:00", Open,   "2026-03-08T05:00:00-04:00"),
    (NEW_YORK, "Su 01:00-02:30", "2026-03-08T01:30:00-05:00", Open,   "2026-03-08T03:00:00-04:00"),
    (NEW_YORK, "Su 01:00-02:30", "2026-03-08T03:00:00-04:00", Closed, "2026-03-15T01:00:00-04:00"),
    (NEW_YORK, "Su 09:00-17:00", "2026-03-08T08:59:00-04:00", Closed, "2026-03-08T09:00:00-04:00"),
    (NEW_YORK, "Mo-Su 09:00-17:00", "2026-03-07T18:00:00-05:00", Closed, "2026-03-08T09:00:00-04:00"),
    (NEW_YORK, "Sa 22:00-04:00", "2026-03-08T03:30:00-04:00", Open, "2026-03-08T04:00:00-04:00"),
    // Autumn: the hour from 1:00 to 2:00 on 1 November 2026 occurs twice.
    (NEW_YORK, "Su 00:00-01:30", "2026-11-01T01:15:00-04:00", Open,   "2026-11-01T01:30:00-04:00"),
    (NEW_YORK, "Su 00:00-01:30", "2026-11-01T01:15:00-05:00", Open,   "2026-11-01T01:30:00-05:00"),
    (NEW_YORK, "Su 01:30-04:00", "2026-11-01T01:15:00-04:00", Closed, "2026-11-01T01:30:00-04:00"),
    (NEW_YORK, "Su 01:30-04:00", "2026-11-01T01:30:00-05:00", Open,   "2026-11-01T04:00:00-05:00"),
    (NEW_YORK, "Su 03:00-04:00", "2026-11-01T01:30:00-04:00", Closed, "2026-11-01T03:00:00-05:00"),
    (NEW_YORK, "Mo-Su 09:00-17:00", "2026-10-31T18:00:00-04:00", Closed, "2026-11-01T09:00:00-05:00"),
    (NEW_YORK, "Sa 22:00-02:00", "2026-11-01T01:30:00-05:00", Open, "2026-11-01T02:00:00-05:00"),
    ("Europe/Berlin", "Su 02:00-03:00", "2026-03-29T01:59:00+01:00", Closed, "2026-03-29T03:00:00+02:00"),
    ("Europe/Berlin", "Mo-Su 02:30-10:00", "2026-10-25T02:45:00+02:00", Open, "2026-10-25T10:00:00+01:00"),
    ("Europe/London", "Mo-Sa 08:00-20:00", "2026-03-28T21:00:00+00:00", Closed, "2026-03-30T08:00:00+01:00"),
    // The same instant in other time zones.
    ("America/Phoenix",     "09:00-17:00", "2026-07-01T16:30:00Z", Open,   "2026-07-02T00:00:00Z"),
    ("America/Los_Angeles", "09:00-17:00", "2026-07-01T16:30:00Z", Open,   "2026-07-02T00:00:00Z"),
    ("America/Denver",      "09:00-17:00", "2026-07-01T16:30:00Z", Open,   "2026-07-01T23:00:00Z"),
    ("Pacific/Honolulu",    "09:00-17:00", "2026-07-01T16:30:00Z", Closed, "2026-07-01T19:00:00Z"),
    ("America/St_Johns",    "09:00-17:00", "2026-07-01T11:29:00Z", Closed, "2026-07-01T11:30:00Z"),
    ("Asia/Kathmandu",      "09:00-17:00", "2026-07-01T03:15:00Z", Open,   "2026-07-01T11:15:00Z"),
    ("Asia/Tokyo",          "Th 09:00-17:00", "2026-07-01T23:59:00Z", Closed, "2026-07-02T00:00:00Z"),
    ("Pacific/Auckland",    "Fr 09:00-17:00", "2026-11-19T20:00:00Z", Open, "2026-11-20T04:00:00Z"),
    ("Pacific/Kiritimati",  "Su 09:00-17:00", "2026-11-21T20:00:00Z", Open, "2026-11-22T03:00:00Z"),
    ("Australia/Lord_Howe", "Mo-Su 09:00-17:00", "2026-04-05T05:00:00Z", Open, "2026-04-05T06:30:00Z"),
    ("UTC",                 "Mo 00:00-00:01", "2026-11-23T00:00:30Z", Open, "2026-11-23T00:01:00Z"),
    // Common spelling variants.
    (CHICAGO, "Mon-Fri 9am-5pm", "2026-11-23T16:00:00-06:00", Open, "2026-11-23T17:00:00-06:00"),
    (CHICAGO, "Daily 6 AM to midnight", "2026-11-22T00:30:00-06:00", Closed, "2026-11-22T06:00:00-06:00"),
    (CHICAGO, "Sun closed; Mon-Sat 10am-8pm", "2026-11-22T12:00:00-06:00", Closed, "2026-11-23T10:00:00-06:00"),
    (CHICAGO, "Open 24 hours", "2026-11-22T12:00:00-06:00", Open, ""),
];

fn schedule(hours: &str, zone: &str) -> Result<Schedule, NotEvaluated> {
    Schedule::new(&Hours::parse(hours).expect("hours"), Some(zone), Some(Country::UNITED_STATES))
}

#[test]
fn hours_match_the_table() {
    let mut wrong = Vec::new();
    for (zone, hours, moment, state, changes_at) in TABLE {
        let now: Timestamp = moment.parse().unwrap();
        let opening = schedule(hours, zone).unwrap_or_else(|error| panic!("{hours}: {error}")).at(now);
        let changes_at: Option<Timestamp> = (!changes_at.is_empty()).then(|| changes_at.parse().unwrap());
        if (opening.state, opening.changes_at) != (state, changes_at) {
            wrong.push(format!("{zone} {hours} at {moment}: {:?} until {:?}", opening.state, opening.changes_at));
        }
        assert!(opening.valid_until > now && opening.changes_at.is_none_or(|change| opening.valid_until <= change));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn invalid_hours_have_a_reason() {
    for (hours, zone, expected) in [
        ("ask inside", CHICAGO, NotEvaluated::Words),
        ("060:00", CHICAGO, NotEvaluated::Words),
        ("Mo-Fr sunrise-sunset", CHICAGO, NotEvaluated::Sun),
        ("Mo-Fr 09:00-17:00", "Mars/Olympus", NotEvaluated::NoZone),
    ] {
        assert_eq!(schedule(hours, zone).err(), Some(expected), "{hours}");
    }
    let hours = Hours::parse("Mo-Fr 09:00-17:00").unwrap();
    assert_eq!(Schedule::new(&hours, None, None).err(), Some(NotEvaluated::NoZone));
    assert!(Schedule::new(&Hours::Always, None, None).is_ok());
}

/// Parts of valid and invalid rules, for random combinations.
const PIECES: [&str; 40] = [
    "Mo-Fr",
    "Sa",
    "Su",
    "PH",
    "SH",
    "off",
    "closed",
    "open",
    "unknown",
    "24/7",
    "09:00-17:00",
    "22:00-02:00",
    "10:00-26:00",
    "08:00+",
    "00:00-24:00",
    "Jan-Mar",
    "Dec 25",
    "2026",
    "2026-2030",
    "2026-2030/2",
    "week 01-53",
    "week 53",
    "easter",
    "easter +1 day",
    "Mo[1]",
    "Mo[-1]",
    "Su[1-2]",
    "Feb 29",
    "Feb 30",
    "\"call\"",
    ",",
    ";",
    "||",
    " ",
    "-",
    ":",
    "é",
    "9999",
    "(sunrise+01:00)-sunset",
    "48:00",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Any rule is deterministically evaluated or rejected, and the state lasts until the reported change.
    #[test]
    fn any_hours_are_evaluated_or_rejected(
        pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 1..8),
        seconds in 1_700_000_000_i64..1_900_000_000,
    ) {
        let text = pieces.join(" ");
        let now = Timestamp::from_second(seconds).unwrap();
        let Some(hours) = Hours::parse(&text) else { return Ok(()) };
        let Ok(schedule) = Schedule::new(&hours, Some(NEW_YORK), Some(Country::UNITED_STATES)) else { return Ok(()) };
        let opening = schedule.at(now);
        prop_assert!(opening.valid_until > now);
        let last = opening.valid_until.checked_sub(SignedDuration::from_secs(1)).unwrap();
        prop_assert_eq!(schedule.at(last.max(now)).state, opening.state, "{}", text);
    }

    #[test]
    fn any_text_is_parsed_without_a_panic(text in "\\PC{0,300}") {
        let _ = Hours::parse(&text);
    }
}
