//! A table of location questions by people and assistants, with the expected results and their evaluation.
//!
//! The tests and `examples/accuracy.rs` include this file by its path.

use std::collections::BTreeMap;

use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::{Distance, Point};

const QUESTIONS: &str = include_str!("../questions.tsv");
/// Maximum distance between the result and the correct point.
const NEAR: Distance = Distance::miles(25.0);
/// Maximum confidence of an uncertain result.
const UNSURE: f64 = 0.5;

/// A question of the table, with its kind and the expected results.
///
/// An expected result is a point (`30.27,-97.74`), no place (`ask`), an uncertain result (`low`), or an uncertain point
/// (`30.27,-97.74 low`). Alternatives are separated by ` or `.
pub(crate) struct Question {
    pub(crate) kind: &'static str,
    pub(crate) text: &'static str,
    expected: Vec<Expected>,
}

enum Expected {
    Point { at: Point, unsure: bool },
    Unsure,
    NoPlace,
}

/// The evaluation of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Right,
    Wrong,
    /// The result is wrong and has a high confidence.
    ConfidentlyWrong,
}

/// The numbers of questions of one kind by the evaluation of their results.
#[derive(Default)]
pub(crate) struct Score {
    pub(crate) asked: usize,
    pub(crate) right: usize,
    pub(crate) confidently_wrong: usize,
    /// The questions with wrong results, with the results.
    pub(crate) failures: Vec<String>,
}

/// Returns all questions of the table.
pub(crate) fn questions() -> impl Iterator<Item = Question> {
    QUESTIONS.lines().skip(1).map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [kind, text, expected] = fields[..] else { panic!("not three fields: {line}") };
        let expected = expected.split(" or ").map(|one| Expected::parse(one).unwrap_or_else(|| panic!("{line}")));
        Question { kind, text, expected: expected.collect() }
    })
}

/// Evaluates all questions, by kind.
pub(crate) fn scores(gazetteer: &Gazetteer) -> BTreeMap<&'static str, Score> {
    let mut scores: BTreeMap<_, Score> = BTreeMap::new();
    for question in questions() {
        scores.entry(question.kind).or_default().add(&question, gazetteer);
    }
    scores
}

impl Score {
    fn add(&mut self, question: &Question, gazetteer: &Gazetteer) {
        self.asked += 1;
        let (verdict, answer) = question.ask(gazetteer);
        match verdict {
            Verdict::Right => self.right += 1,
            Verdict::Wrong => self.failures.push(answer),
            Verdict::ConfidentlyWrong => {
                self.confidently_wrong += 1;
                self.failures.push(format!("{answer}, CONFIDENTLY WRONG"));
            }
        }
    }
}

impl Question {
    /// Resolves the question, and returns the evaluation and a description of the result.
    fn ask(&self, gazetteer: &Gazetteer) -> (Verdict, String) {
        match gazetteer.resolve(self.text) {
            Ok(found) => {
                let (lat, lon, source) = (found.point.lat(), found.point.lon(), found.source.name());
                let answer =
                    format!("{}: {} at {lat:.2}, {lon:.2} ({source}, {})", self.text, found.name, found.confidence);
                (self.evaluate(Some((found.point, found.confidence))), answer)
            }
            Err(error) => (self.evaluate(None), format!("{}: {error}", self.text)),
        }
    }

    /// Evaluates a result, given as a point with its confidence, or `None` if the text was not resolved.
    pub(crate) fn evaluate(&self, answer: Option<(Point, f64)>) -> Verdict {
        let Some((point, confidence)) = answer else {
            let may_be_none = self.expected.iter().any(|expected| !matches!(expected, Expected::Point { .. }));
            return if may_be_none { Verdict::Right } else { Verdict::Wrong };
        };
        let is_unsure = confidence <= UNSURE;
        let (mut is_near, mut is_right) = (false, false);
        for expected in &self.expected {
            match expected {
                Expected::NoPlace => {}
                Expected::Unsure => is_right |= is_unsure,
                Expected::Point { at, unsure } => {
                    let within = if is_unsure { NEAR } else { self.reach() };
                    is_near |= point.distance(*at) <= NEAR;
                    is_right |= point.distance(*at) <= within && (is_unsure || !unsure);
                }
            }
        }
        match (is_right, is_near || is_unsure) {
            (true, _) => Verdict::Right,
            (false, true) => Verdict::Wrong,
            (false, false) => Verdict::ConfidentlyWrong,
        }
    }

    /// Returns the maximum distance of a correct result. It is shorter for airports, so that the centre of the city is
    /// not accepted as a result.
    fn reach(&self) -> Distance {
        match self.kind {
            "airport" | "landmark" => Distance::miles(6.0),
            "code" => Distance::miles(10.0),
            "coordinates" => Distance::miles(0.1),
            _ => NEAR,
        }
    }
}

impl Expected {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "ask" => return Some(Self::NoPlace),
            "low" => return Some(Self::Unsure),
            _ => {}
        }
        let (point, unsure) = text.strip_suffix(" low").map_or((text, false), |point| (point, true));
        let (lat, lon) = point.split_once(',')?;
        Some(Self::Point { at: Point::new(lat.parse().ok()?, lon.parse().ok()?)?, unsure })
    }
}
