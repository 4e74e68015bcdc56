//! Tests of the rules for accepting reports.

use proptest::prelude::*;

use super::*;

/// The current time in the tests, 2026-11-23 at midnight UTC.
const NOW: Timestamp = Timestamp::constant(1_795_392_000, 0);
const PER_ADDRESS: Rate = Rate { count: 5, window: Duration::from_hours(1) };

fn recent_reports(count: u32, seconds_ago: i64) -> RecentReports {
    RecentReports { count, oldest: Some(NOW - SignedDuration::from_secs(seconds_ago)) }
}

fn id(number: u8) -> ReportId {
    ReportId::new(NOW, [number; 16])
}

fn admitted(others: &ExistingReports) -> Result<Admission, AdmissionError> {
    admit(Finding::Gone, others, Some(PER_ADDRESS), false, NOW)
}

#[test]
fn invalid_report_is_rejected_with_its_field() {
    let read = |fields: ReportFields<'_>| ValidReport::read(fields, NOW).map_err(|bad| bad.field);
    let gone = ReportFields { seen: "gone", ..ReportFields::default() };
    assert_eq!(read(gone), Ok(ValidReport { seen: Finding::Gone, how: None, at: NOW, text: None }));
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
        (ExistingReports { from_address: recent_reports(4, 60), ..ExistingReports::default() }, None),
        (
            ExistingReports { from_address: recent_reports(5, 60), ..ExistingReports::default() },
            Some(("reports", PER_ADDRESS, wait)),
        ),
        (ExistingReports { from_network: recent_reports(49, 60), ..ExistingReports::default() }, None),
        (
            ExistingReports { from_network: recent_reports(50, 60), ..ExistingReports::default() },
            Some(("reports_of_network", MAX_PER_NETWORK, day)),
        ),
        // The clock of the server that stored the report is ahead: the retry time is at most the window.
        (
            ExistingReports { from_address: recent_reports(5, -5), ..ExistingReports::default() },
            Some(("reports", PER_ADDRESS, Duration::from_hours(1))),
        ),
        (ExistingReports { about_atm: recent_reports(2, 60), ..ExistingReports::default() }, None),
        (
            ExistingReports { about_atm: recent_reports(3, 60), ..ExistingReports::default() },
            Some(("reports_of_machine", MAX_PER_ATM, day)),
        ),
        (ExistingReports { by_account: recent_reports(19, 60), ..ExistingReports::default() }, None),
        (
            ExistingReports { by_account: recent_reports(20, 60), ..ExistingReports::default() },
            Some(("reports_of_person", MAX_PER_ACCOUNT, day)),
        ),
    ] {
        let expected = match refused {
            Some((name, rate, wait)) => Err(AdmissionError::TooMany(name, rate, wait)),
            None => Ok(Admission::Stored(ReportState::Shown, None)),
        };
        assert_eq!(admitted(&others), expected, "{others:?}");
    }
    let off = admit(
        Finding::Gone,
        &ExistingReports { from_address: recent_reports(99, 1), ..ExistingReports::default() },
        None,
        false,
        NOW,
    );
    assert!(off.is_ok(), "{off:?}");
}

#[test]
fn proof_of_work_passes_a_flood_but_not_a_burst() {
    let state = |others: &ExistingReports, seen, has_proof| match admit(seen, others, None, has_proof, NOW) {
        Ok(Admission::Stored(state, held)) => (state, held),
        other => panic!("{other:?}"),
    };
    let flood = ExistingReports { in_hour: 100, ..ExistingReports::default() };
    assert_eq!(state(&flood, Finding::Gone, false), (ReportState::New, Some(ModerationReason::Flood)));
    assert_eq!(state(&flood, Finding::Gone, true), (ReportState::Shown, None));
    assert_eq!(
        state(&ExistingReports { in_hour: 99, ..flood.clone() }, Finding::Gone, false),
        (ReportState::Shown, None)
    );
    let burst = ExistingReports { atms_of_operator: 10, ..ExistingReports::default() };
    assert_eq!(state(&burst, Finding::Gone, true), (ReportState::New, Some(ModerationReason::Burst)));
    assert_eq!(state(&burst, Finding::There, false), (ReportState::Shown, None));
    let full = ExistingReports { waiting: MAX_WAITING, ..flood };
    assert_eq!(admitted(&full), Err(AdmissionError::Full));
    assert_eq!(
        admitted(&ExistingReports { stored: MAX_REPORTS, ..ExistingReports::default() }),
        Err(AdmissionError::Full)
    );
}

#[test]
fn duplicates_are_merged_and_bans_enforced() {
    let repetition =
        ExistingReports { repetition: Some(id(1)), about_atm: recent_reports(3, 1), ..ExistingReports::default() };
    assert_eq!(admitted(&repetition), Ok(Admission::Repetition(id(1))));
    let equal_report = ExistingReports { equal_report: Some(id(1)), ..ExistingReports::default() };
    assert_eq!(admitted(&equal_report), Ok(Admission::Stored(ReportState::Duplicate, None)));
    let many = ExistingReports { duplicates: MAX_WAITING - 1, ..equal_report.clone() };
    assert_eq!(admitted(&many), Ok(Admission::Stored(ReportState::Duplicate, None)));
    assert_eq!(
        admitted(&ExistingReports { duplicates: MAX_WAITING, ..equal_report.clone() }),
        Err(AdmissionError::Full)
    );
    assert_eq!(admitted(&ExistingReports { is_banned: true, ..equal_report }), Err(AdmissionError::Banned));
}

proptest! {
    #[test]
    fn no_single_report_is_decisive(
        seen in prop::sample::select(Finding::ALL.to_vec()),
        counts in prop::array::uniform6(0..200_u32),
        has_equal_report: bool,
        has_proof: bool,
    ) {
        let [address, machine, person, in_hour, waiting, atms_of_operator] = counts;
        let others = ExistingReports {
            from_address: recent_reports(address, 1),
            about_atm: recent_reports(machine, 1),
            by_account: recent_reports(person, 1),
            in_hour,
            waiting,
            atms_of_operator,
            equal_report: has_equal_report.then(|| id(1)),
            ..ExistingReports::default()
        };
        if let Ok(Admission::Stored(state, _)) = admit(seen, &others, None, has_proof, NOW) {
            prop_assert!(matches!(state, ReportState::New | ReportState::Shown | ReportState::Duplicate), "{state:?}");
        }
    }
}
