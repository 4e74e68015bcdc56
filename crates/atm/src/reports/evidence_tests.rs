//! Tests of the rules that weigh the reports about an ATM.

use jiff::SignedDuration;
use proptest::prelude::*;
use signpost_locator::AtmId;

use super::*;

/// The current time in the tests, 2026-11-23 at midnight UTC.
const NOW: Timestamp = Timestamp::constant(1_795_392_000, 0);

fn days(count: i64) -> SignedDuration {
    SignedDuration::from_hours(24 * count)
}

/// Creates a report by a separate reporter. `age` is in days.
fn report(number: u8, seen: Finding, how: Option<EvidenceSource>, weight: Weight, age: i64) -> MachineReport {
    let at = NOW - days(age);
    let id = ReportId::new(at, [number; 16]);
    MachineReport {
        voice: id.clone(),
        id,
        atm_id: AtmId::new(7).expect("a number"),
        operator: String::new(),
        seen,
        how,
        seen_at: at,
        text: None,
        text_hash: None,
        reporter: None,
        weight,
        proof: None,
        created_at: at,
        held: None,
        state: ReportState::Shown,
        decided_by: None,
        decided_at: None,
        decided_from: None,
        address: None,
        network: None,
    }
}

fn anonymous(number: u8, seen: Finding, age: i64) -> MachineReport {
    report(number, seen, Some(EvidenceSource::Saw), Weight::Low, age)
}

fn signed_in(number: u8, seen: Finding, age: i64) -> MachineReport {
    report(number, seen, Some(EvidenceSource::Saw), Weight::High, age)
}

fn decided(number: u8, seen: Finding, by: DecidedBy, age: i64) -> MachineReport {
    let at = Some(NOW - days(age));
    MachineReport { state: ReportState::Accepted, decided_by: Some(by), decided_at: at, ..anonymous(number, seen, age) }
}

fn verdict(reports: &[MachineReport], answered: Option<i64>) -> ReportVerdict {
    let answered = answered.map(|age| NOW - days(age));
    weigh(&reports.iter().collect::<Vec<_>>(), answered, NOW)
}

#[test]
fn future_report_counts_as_current() {
    let ahead = |number, seen| {
        let report = anonymous(number, seen, 0);
        MachineReport { seen_at: NOW + SignedDuration::from_secs(2), ..report }
    };
    let one = verdict(&[ahead(1, Finding::Gone)], None);
    assert_eq!((one.people.get(&Finding::Gone), one.newest_at), (Some(&1), Some(NOW)));
    let two = verdict(&[ahead(1, Finding::Gone), ahead(2, Finding::Broken)], None);
    assert_eq!(two.effect, ReportEffect::Doubted);
}

#[test]
fn doubt_requires_two_reporters_and_one_on_site() {
    use Finding::{Broken, Gone, There, WrongHours};
    let phoned = |number| report(number, Gone, Some(EvidenceSource::Phoned), Weight::Low, 1);
    let same_reporter = MachineReport { voice: anonymous(1, Gone, 3).id, ..anonymous(2, Gone, 1) };
    let held = MachineReport { state: ReportState::New, ..anonymous(2, Gone, 1) };
    for (reports, is_doubted) in [
        (vec![], false),
        (vec![anonymous(1, Gone, 1)], false),
        (vec![signed_in(1, Gone, 1)], false),
        (vec![anonymous(1, Gone, 1), anonymous(2, Gone, 2)], true),
        (vec![anonymous(1, Gone, 1), anonymous(2, Broken, 2)], true),
        (vec![anonymous(1, Gone, 1), anonymous(2, WrongHours, 2)], false),
        (vec![phoned(1), phoned(2)], false),
        (vec![phoned(1), anonymous(2, Gone, 1)], true),
        (vec![anonymous(1, Gone, 3), same_reporter], false),
        (vec![anonymous(1, Gone, 1), held], false),
        (vec![anonymous(1, Gone, 89), anonymous(2, Gone, 89)], true),
        (vec![anonymous(1, Gone, 89), anonymous(2, Gone, 90)], false),
        // A report that the ATM exists has the same weight.
        (vec![anonymous(1, Gone, 2), anonymous(2, Gone, 2), anonymous(3, There, 1)], true),
        (vec![anonymous(1, Gone, 2), anonymous(2, Gone, 2), anonymous(3, There, 1), anonymous(4, There, 1)], false),
        // Older reports have less weight.
        (vec![anonymous(1, Gone, 1), anonymous(2, Gone, 1), anonymous(3, There, 80), anonymous(4, There, 80)], true),
        // Among signed-in reporters, the newest report decides.
        (vec![anonymous(1, Gone, 1), anonymous(2, Gone, 1), signed_in(3, There, 2)], false),
        (vec![signed_in(1, Gone, 1), anonymous(2, Gone, 3), signed_in(3, There, 2)], true),
        (vec![signed_in(1, Gone, 3), anonymous(2, Gone, 1), signed_in(3, There, 2)], false),
    ] {
        let found = verdict(&reports, None);
        assert_eq!(found.effect == ReportEffect::Doubted, is_doubted, "{reports:#?}");
        let has = |is: fn(Finding) -> bool| found.people.keys().any(|seen| is(*seen));
        assert_eq!(found.is_disputed, has(Finding::is_unusable) && has(|seen| seen == There));
    }
}

#[test]
fn strongest_then_newest_report_of_a_reporter_counts() {
    let first = signed_in(1, Finding::There, 5);
    let anonymous_repeat = MachineReport { voice: first.voice.clone(), ..anonymous(2, Finding::Gone, 1) };
    assert_eq!(verdict(&[first.clone(), anonymous_repeat], None).people, [(Finding::There, 1)].into());
    let again = MachineReport { voice: first.voice.clone(), ..signed_in(3, Finding::Gone, 1) };
    assert_eq!(verdict(&[first, again], None).people, [(Finding::Gone, 1)].into());
}

#[test]
fn newest_operator_or_moderator_report_decides() {
    use DecidedBy::{Moderator, Operator};
    for (reports, answered, effect) in [
        (vec![decided(1, Finding::Gone, Operator, 3)], None, ReportEffect::Gone(Operator)),
        (vec![decided(1, Finding::Gone, Moderator, 400)], None, ReportEffect::Gone(Moderator)),
        (vec![decided(1, Finding::Broken, Operator, 3)], None, ReportEffect::OutOfService(Operator)),
        (
            vec![decided(1, Finding::Broken, Moderator, 3), decided(2, Finding::There, Operator, 2)],
            None,
            ReportEffect::Undoubted,
        ),
        // Only the moderator restores an ATM that the moderator found gone.
        (
            vec![decided(1, Finding::Gone, Moderator, 3), decided(2, Finding::There, Operator, 2)],
            None,
            ReportEffect::Gone(Moderator),
        ),
        (
            vec![decided(1, Finding::Gone, Moderator, 3), decided(2, Finding::There, Moderator, 2)],
            None,
            ReportEffect::Undoubted,
        ),
        (
            vec![decided(1, Finding::There, Operator, 3), decided(2, Finding::Gone, Moderator, 2)],
            None,
            ReportEffect::Gone(Moderator),
        ),
        // A later submission revokes the operator's decision, but not the moderator's.
        (vec![decided(1, Finding::Gone, Operator, 3)], Some(2), ReportEffect::Undoubted),
        (vec![decided(1, Finding::Gone, Operator, 3)], Some(4), ReportEffect::Gone(Operator)),
        (vec![decided(1, Finding::Gone, Moderator, 3)], Some(2), ReportEffect::Gone(Moderator)),
        // Observations that do not concern usability decide nothing.
        (vec![decided(1, Finding::WrongHours, Moderator, 3)], None, ReportEffect::Undoubted),
        // A decision overrides only earlier observations.
        (
            vec![
                anonymous(1, Finding::Gone, 3),
                anonymous(2, Finding::Gone, 3),
                decided(3, Finding::There, Moderator, 2),
            ],
            None,
            ReportEffect::Undoubted,
        ),
        (
            vec![
                anonymous(1, Finding::Gone, 1),
                anonymous(2, Finding::Gone, 1),
                decided(3, Finding::There, Moderator, 2),
            ],
            None,
            ReportEffect::Doubted,
        ),
        (vec![anonymous(1, Finding::Gone, 3), anonymous(2, Finding::Gone, 3)], Some(2), ReportEffect::Undoubted),
        (vec![anonymous(1, Finding::Gone, 1), anonymous(2, Finding::Gone, 1)], Some(2), ReportEffect::Doubted),
    ] {
        assert_eq!(verdict(&reports, answered).effect, effect, "{answered:?} {reports:#?}");
    }
    let gone_but_there = [decided(1, Finding::Gone, Moderator, 3), anonymous(2, Finding::There, 1)];
    assert!(verdict(&gone_but_there, None).is_disputed);
    assert!(verdict(&[anonymous(1, Finding::Gone, 3)], Some(2)).is_disputed);
}

#[test]
fn one_signed_in_or_two_reporters_verify_an_atm() {
    let at = |age| Some(NOW - days(age));
    for (reports, verified) in [
        (vec![anonymous(1, Finding::There, 1)], None),
        (vec![anonymous(1, Finding::There, 5), anonymous(2, Finding::There, 1)], at(1)),
        (vec![signed_in(1, Finding::There, 4)], at(4)),
        (vec![signed_in(1, Finding::There, 4), anonymous(2, Finding::There, 1)], at(1)),
        (vec![signed_in(1, Finding::Gone, 4)], None),
        (vec![decided(1, Finding::There, DecidedBy::Moderator, 6)], at(6)),
    ] {
        assert_eq!(verdict(&reports, None).verified_at, verified, "{reports:#?}");
    }
}

#[test]
fn verdict_has_an_expiry() {
    let reports = [anonymous(1, Finding::Gone, 30), anonymous(2, Finding::Gone, 60)];
    let until = verdict(&reports, None).until;
    assert_eq!(until, NOW + days(30));
    let at = |now| weigh(&reports.iter().collect::<Vec<_>>(), None, now).effect;
    assert_eq!((at(NOW), at(until)), (ReportEffect::Doubted, ReportEffect::Undoubted));
}

fn any_report() -> impl Strategy<Value = MachineReport> {
    let seen = prop::sample::select(Finding::ALL.to_vec());
    let how = prop::option::of(prop::sample::select(EvidenceSource::ALL.to_vec()));
    let states =
        vec![ReportState::New, ReportState::Shown, ReportState::Rejected, ReportState::Duplicate, ReportState::Expired];
    (0..=255_u8, seen, how, 0..200_i64, prop::sample::select(states)).prop_map(|(number, seen, how, age, state)| {
        MachineReport { state, ..report(number, seen, how, Weight::Low, age) }
    })
}

proptest! {
    #[test]
    fn anonymous_reports_never_close_an_atm(
        reports in prop::collection::vec(any_report(), 0..60),
        answered in prop::option::of(0..200_i64),
    ) {
        let effect = verdict(&reports, answered).effect;
        prop_assert!(matches!(effect, ReportEffect::Undoubted | ReportEffect::Doubted), "{effect:?}");
    }

    #[test]
    fn order_of_reports_changes_nothing(reports in prop::collection::vec(any_report(), 0..20)) {
        let backwards: Vec<_> = reports.iter().rev().cloned().collect();
        let (one, other) = (verdict(&reports, None), verdict(&backwards, None));
        prop_assert_eq!(one.effect, other.effect);
    }
}
