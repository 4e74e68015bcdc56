use proptest::prelude::*;

use super::*;

/// 2026-11-23
const NOW: Timestamp = Timestamp::constant(1_795_392_000, 0);
const PER_ADDRESS: Rate = Rate { count: 5, window: Duration::from_hours(1) };

fn passed(count: u32, seconds_ago: i64) -> PassedReports {
    PassedReports { count, oldest: Some(NOW - SignedDuration::from_secs(seconds_ago)) }
}

fn id(number: u8) -> ReportId {
    ReportId::new(NOW, [number; 16])
}

fn admitted(others: &OtherReports) -> Result<Admission, NotAdmitted> {
    admit(Seen::Gone, others, Some(PER_ADDRESS), false, NOW)
}

#[test]
fn invalid_report_is_rejected_with_its_field() {
    let read = |fields: ReportFields<'_>| SentReport::read(fields, NOW).map_err(|bad| bad.field);
    let gone = ReportFields { seen: "gone", ..ReportFields::default() };
    assert_eq!(read(gone), Ok(SentReport { seen: Seen::Gone, how: None, at: NOW, text: None }));
    let long = "ä".repeat(MAX_TEXT);
    let longer = "ä".repeat(MAX_TEXT + 1);
    for (fields, expected) in [
        (ReportFields { seen: "", ..gone }, Some("seen")),
        (ReportFields { seen: "Gone", ..gone }, Some("seen")),
        (ReportFields { how: Some("heard"), ..gone }, Some("how")),
        (ReportFields { how: Some("saw"), ..gone }, None),
        (ReportFields { at: Some("yesterday"), ..gone }, Some("at")),
        (ReportFields { at: Some("2026-11-23T23:59:59Z"), ..gone }, Some("at")),
        (ReportFields { at: Some("2026-08-24T00:00:00Z"), ..gone }, Some("at")),
        (ReportFields { at: Some("2026-08-26T00:00:00Z"), ..gone }, None),
        (ReportFields { text: Some(&longer), ..gone }, Some("text")),
        (ReportFields { text: Some(&long), ..gone }, None),
        (ReportFields { seen: "other", ..gone }, Some("text")),
        (ReportFields { seen: "other", text: Some(" \u{200b} "), ..gone }, Some("text")),
    ] {
        assert_eq!(read(fields).err(), expected, "{fields:?}");
    }
    let text = read(ReportFields { text: Some(" <b>Gone</b>\n\u{202e}now "), ..gone }).unwrap();
    assert_eq!(text.text.as_deref(), Some("<b>Gone</b> now"));
    let same = read(ReportFields { text: Some("<B>gone</b>   NOW"), ..gone }).unwrap();
    assert_eq!(text.text_hash(), same.text_hash());
}

#[test]
fn each_limit_rejects_with_a_retry_time() {
    let wait = Duration::from_mins(59);
    let day = Duration::from_mins(24 * 60 - 1);
    for (others, refused) in [
        (OtherReports { of_address: passed(4, 60), ..OtherReports::default() }, None),
        (OtherReports { of_address: passed(5, 60), ..OtherReports::default() }, Some(("reports", PER_ADDRESS, wait))),
        (OtherReports { of_network: passed(49, 60), ..OtherReports::default() }, None),
        (
            OtherReports { of_network: passed(50, 60), ..OtherReports::default() },
            Some(("reports_of_network", PER_NETWORK, day)),
        ),
        // The clock of the server that stored the report is ahead: the retry time is at most the window.
        (
            OtherReports { of_address: passed(5, -5), ..OtherReports::default() },
            Some(("reports", PER_ADDRESS, Duration::from_hours(1))),
        ),
        (OtherReports { of_machine: passed(2, 60), ..OtherReports::default() }, None),
        (
            OtherReports { of_machine: passed(3, 60), ..OtherReports::default() },
            Some(("reports_of_machine", PER_MACHINE, day)),
        ),
        (OtherReports { of_person: passed(19, 60), ..OtherReports::default() }, None),
        (
            OtherReports { of_person: passed(20, 60), ..OtherReports::default() },
            Some(("reports_of_person", PER_PERSON, day)),
        ),
    ] {
        let expected = match refused {
            Some((name, rate, wait)) => Err(NotAdmitted::TooMany(name, rate, wait)),
            None => Ok(Admission::Stored(ReportState::Shown, None)),
        };
        assert_eq!(admitted(&others), expected, "{others:?}");
    }
    let off =
        admit(Seen::Gone, &OtherReports { of_address: passed(99, 1), ..OtherReports::default() }, None, false, NOW);
    assert!(off.is_ok(), "{off:?}");
}

#[test]
fn proof_of_work_passes_a_flood_but_not_a_burst() {
    let state = |others: &OtherReports, seen, has_proof| match admit(seen, others, None, has_proof, NOW) {
        Ok(Admission::Stored(state, held)) => (state, held),
        other => panic!("{other:?}"),
    };
    let flood = OtherReports { of_hour: 100, ..OtherReports::default() };
    assert_eq!(state(&flood, Seen::Gone, false), (ReportState::New, Some(HoldReason::Flood)));
    assert_eq!(state(&flood, Seen::Gone, true), (ReportState::Shown, None));
    assert_eq!(state(&OtherReports { of_hour: 99, ..flood.clone() }, Seen::Gone, false), (ReportState::Shown, None));
    let burst = OtherReports { machines_of_operator: 10, ..OtherReports::default() };
    assert_eq!(state(&burst, Seen::Gone, true), (ReportState::New, Some(HoldReason::Burst)));
    assert_eq!(state(&burst, Seen::There, false), (ReportState::Shown, None));
    let full = OtherReports { waiting: MAX_WAITING, ..flood };
    assert_eq!(admitted(&full), Err(NotAdmitted::Full));
    assert_eq!(admitted(&OtherReports { stored: MAX_REPORTS, ..OtherReports::default() }), Err(NotAdmitted::Full));
}

#[test]
fn duplicates_are_merged_and_bans_enforced() {
    let echo = OtherReports { echo: Some(id(1)), of_machine: passed(3, 1), ..OtherReports::default() };
    assert_eq!(admitted(&echo), Ok(Admission::Echo(id(1))));
    let twin = OtherReports { twin: Some(id(1)), ..OtherReports::default() };
    assert_eq!(admitted(&twin), Ok(Admission::Stored(ReportState::Duplicate, None)));
    let many = OtherReports { duplicates: MAX_WAITING - 1, ..twin.clone() };
    assert_eq!(admitted(&many), Ok(Admission::Stored(ReportState::Duplicate, None)));
    assert_eq!(admitted(&OtherReports { duplicates: MAX_WAITING, ..twin.clone() }), Err(NotAdmitted::Full));
    assert_eq!(admitted(&OtherReports { is_banned: true, ..twin }), Err(NotAdmitted::Banned));
}

proptest! {
    #[test]
    fn no_single_report_is_decisive(
        seen in prop::sample::select(Seen::ALL.to_vec()),
        counts in prop::array::uniform6(0..200_u32),
        has_twin: bool,
        has_proof: bool,
    ) {
        let [address, machine, person, of_hour, waiting, machines_of_operator] = counts;
        let others = OtherReports {
            of_address: passed(address, 1),
            of_machine: passed(machine, 1),
            of_person: passed(person, 1),
            of_hour,
            waiting,
            machines_of_operator,
            twin: has_twin.then(|| id(1)),
            ..OtherReports::default()
        };
        if let Ok(Admission::Stored(state, _)) = admit(seen, &others, None, has_proof, NOW) {
            prop_assert!(matches!(state, ReportState::New | ReportState::Shown | ReportState::Duplicate), "{state:?}");
        }
    }
}
