//! Validity of the table of questions, and the share of correct results.

use std::collections::{BTreeMap, HashSet};

use crate::question::{Judgement, Marks, marks, questions};
use crate::{GAZETTEER, point};

/// Twelve ways to describe a location.
const KINDS: [&str; 12] = [
    "abbreviation",
    "airport",
    "code",
    "coordinates",
    "county",
    "landmark",
    "misspelling",
    "nonsense",
    "own place",
    "region",
    "script",
    "street",
];

#[test]
fn table_has_twenty_distinct_questions_per_kind() {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    questions().for_each(|question| *kinds.entry(question.kind).or_default() += 1);
    assert_eq!(kinds.keys().copied().collect::<Vec<_>>(), KINDS);
    assert!(kinds.values().all(|count| *count >= 20), "{kinds:?}");
    let texts: HashSet<&str> = questions().map(|question| question.text).collect();
    assert_eq!(texts.len(), questions().count());
}

#[test]
fn correct_answer_is_near_and_not_overconfident() {
    use Judgement::{ConfidentlyWrong, Right, Wrong};
    let (austin, houston) = (point(30.3, -97.7), point(29.8, -95.4));
    for (text, answers) in [
        ("Autsin", [(None, Wrong), (Some((austin, 0.9)), Right), (Some((houston, 0.9)), ConfidentlyWrong)]),
        ("Autsin, TX", [(Some((houston, 0.5)), Wrong), (Some((austin, 0.1)), Right), (None, Wrong)]),
        ("123 Main St, Austin, TX", [(Some((austin, 0.5)), Right), (Some((austin, 0.6)), Wrong), (None, Wrong)]),
        ("near me", [(None, Right), (Some((austin, 0.1)), Wrong), (Some((austin, 0.6)), ConfidentlyWrong)]),
        ("Ontario", [(None, Right), (Some((austin, 0.5)), Right), (Some((austin, 0.6)), ConfidentlyWrong)]),
        ("Los Angeles County", [(None, Right), (Some((austin, 0.5)), Wrong), (Some((austin, 0.6)), ConfidentlyWrong)]),
    ] {
        let question = questions().find(|question| question.text == text).expect(text);
        for (answer, verdict) in answers {
            assert_eq!(question.judge(answer), verdict, "{text}: {answer:?}");
        }
    }
    // The centre of the city, nine miles from the airport.
    let airport = questions().find(|question| question.text == "LAX").unwrap();
    let city = point(34.05, -118.24);
    assert_eq!([0.5, 0.6].map(|sure| airport.judge(Some((city, sure)))), [Right, Wrong]);
}

/// Minimum percentage of correct results.
const LEAST_RIGHT: usize = 98;

#[test]
fn no_answer_is_confidently_wrong() {
    let marks = marks(&GAZETTEER);
    let faults: Vec<&String> = marks.values().flat_map(|marks| &marks.faults).collect();
    let all = |count: fn(&Marks) -> usize| marks.values().map(count).sum::<usize>();
    let (asked, right) = (all(|marks| marks.asked), all(|marks| marks.right));
    assert!(right * 100 >= asked * LEAST_RIGHT, "{right} of {asked}: {faults:#?}");
    assert_eq!(all(|marks| marks.confidently_wrong), 0, "{faults:#?}");
}
