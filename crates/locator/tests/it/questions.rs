//! Tests of the table of questions, and of the share of correct results.

use std::collections::{BTreeMap, HashSet};

use crate::question::{Score, Verdict, questions, scores};
use crate::{GAZETTEER, point};

/// The twelve kinds of questions: different ways to describe a location.
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
    use Verdict::{ConfidentlyWrong, Right, Wrong};
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
            assert_eq!(question.evaluate(answer), verdict, "{text}: {answer:?}");
        }
    }
    // The result is the centre of the city, nine miles from the airport.
    let airport = questions().find(|question| question.text == "LAX").unwrap();
    let city = point(34.05, -118.24);
    assert_eq!([0.5, 0.6].map(|sure| airport.evaluate(Some((city, sure)))), [Right, Wrong]);
}

/// Minimum percentage of correct results.
const MIN_CORRECT_PERCENT: usize = 98;

#[test]
fn no_answer_is_confidently_wrong() {
    let scores = scores(&GAZETTEER);
    let failures: Vec<&String> = scores.values().flat_map(|score| &score.failures).collect();
    let all = |count: fn(&Score) -> usize| scores.values().map(count).sum::<usize>();
    let (asked, right) = (all(|score| score.asked), all(|score| score.right));
    assert!(right * 100 >= asked * MIN_CORRECT_PERCENT, "{right} of {asked}: {failures:#?}");
    assert_eq!(all(|score| score.confidently_wrong), 0, "{failures:#?}");
}
