//! The performance goals in `bench/goals.tsv`. A measurement reports a figure under its key, and
//! the summary table of a run has a row for each key, measured or not.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};

use crate::child::CpuTime;

/// Prefix of an output line with a result, for the summary table.
const RESULT: &str = "RESULT\t";
/// Prefix of an output line with a missing requirement and the command that installs it.
const MISSING: &str = "MISSING\t";
/// Prefix of an output line with the name of a failed measurement.
const FAILED: &str = "FAILED\t";

/// A row of `bench/goals.tsv`.
#[derive(Clone, Debug)]
struct Goal {
    path: &'static str,
    baseline: &'static str,
    /// The minimum or maximum of the figure, or `None` if it has no goal.
    threshold: Option<Threshold>,
    unit: &'static str,
}

#[derive(Clone, Copy, Debug)]
enum Threshold {
    AtLeast(f64),
    AtMost(f64),
}

impl Threshold {
    fn parse(text: &str) -> Result<Option<Self>> {
        let number = |rest: &str| rest.trim().parse::<f64>().context("a number");
        match text.split_at_checked(1) {
            Some(("-", "")) => Ok(None),
            Some((">", rest)) => Ok(Some(Self::AtLeast(number(rest)?))),
            Some(("<", rest)) => Ok(Some(Self::AtMost(number(rest)?))),
            _ => anyhow::bail!("a goal is `>1`, `<1` or `-`"),
        }
    }

    fn is_met_by(self, figure: f64) -> bool {
        match self {
            Self::AtLeast(min) => figure >= min,
            Self::AtMost(max) => figure <= max,
        }
    }
}

impl Goal {
    fn threshold(&self) -> String {
        match self.threshold {
            Some(Threshold::AtLeast(min)) => format!("≥ {min}{}", self.unit),
            Some(Threshold::AtMost(max)) => format!("≤ {max}{}", self.unit),
            None => "none".to_owned(),
        }
    }

    fn verdict(&self, figure: f64) -> &'static str {
        match self.threshold.map(|threshold| threshold.is_met_by(figure)) {
            Some(true) => "met",
            Some(false) => "not met",
            None => "",
        }
    }
}

/// Returns all goals with their keys, in file order.
fn goals() -> Result<Vec<(&'static str, Goal)>> {
    let rows = include_str!("../goals.tsv").lines().skip(1);
    let row = |line: &'static str| {
        let fields: Vec<_> = line.split('\t').collect();
        let [key, path, baseline, threshold, unit] = fields[..] else { anyhow::bail!("goals.tsv: {line}") };
        let threshold = Threshold::parse(threshold).with_context(|| format!("goals.tsv: {line}"))?;
        Ok((key, Goal { path, baseline, threshold, unit }))
    };
    rows.map(row).collect()
}

/// Prints a figure with its goal, and records it for the summary table. `cpu_time` is the processor
/// time per request of the server and of the baseline, if measured.
///
/// # Errors
/// Returns an error if `goals.tsv` has no such key.
pub fn report(key: &str, figure: f64, cpu_time: Option<[CpuTime; 2]>) -> Result<()> {
    let goals = goals()?;
    let (_, goal) = goals.iter().find(|row| row.0 == key).with_context(|| format!("no goal is called {key}"))?;
    let verdict = match goal.verdict(figure) {
        "" => String::new(),
        verdict => format!(" (goal {}: {verdict})", goal.threshold()),
    };
    println!("  = {}: {}{}{verdict}", goal.path, digits(figure), goal.unit);
    let cpu_time =
        cpu_time.map(|cpu_time| cpu_time.map(|one| format!("\t{:.1}", one.all())).concat()).unwrap_or_default();
    println!("{RESULT}{key}\t{figure}{cpu_time}");
    Ok(())
}

/// Records that a requirement of a measurement is missing.
pub fn missing(requirement: &str, install: &str) {
    println!("{MISSING}{requirement}: {install}");
}

/// Returns the summary table of a run in Markdown, given its output.
///
/// # Errors
/// Returns an error if the output contains a key that is not in `goals.tsv`.
pub fn table(printed: &str) -> Result<String> {
    let mut figures: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for line in printed.lines().filter_map(|line| line.strip_prefix(RESULT)) {
        let (key, rest) = line.split_once('\t').context("a key")?;
        figures.insert(key, rest.split('\t').map(str::parse).collect::<Result<_, _>>()?);
    }
    let mut table = vec![
        "| path | compared with | goal | figure | CPU time per request in µs, server and baseline | |".to_owned(),
        "|---|---|---|---|---|---|".to_owned(),
    ];
    for (key, goal) in goals()? {
        let (path, baseline, threshold) = (goal.path, goal.baseline, goal.threshold());
        let row = match figures.remove(key).as_deref() {
            None => "not measured | | **not measured**".to_owned(),
            Some([figure]) => format!("{}{} | | {}", digits(*figure), goal.unit, goal.verdict(*figure)),
            Some([figure, server, baseline]) => {
                let (figure, unit, verdict) = (digits(*figure), goal.unit, goal.verdict(*figure));
                format!("{figure}{unit} | {server:.1}, {baseline:.1} | {verdict}")
            }
            Some(other) => anyhow::bail!("{key}: {other:?}"),
        };
        table.push(format!("| {path} | {baseline} | {threshold} | {row} |"));
    }
    ensure!(figures.is_empty(), "no goals for {figures:?}");
    table.push(String::new());
    for (prefix, label) in [(MISSING, "not measured: "), (FAILED, "failed: ")] {
        for line in printed.lines().filter_map(|line| line.strip_prefix(prefix)) {
            table.push(format!("{label}{line}"));
        }
    }
    Ok(table.join("\n"))
}

/// Returns the names of the failed measurements, given the output of a run.
#[must_use]
pub fn failed(printed: &str) -> Vec<&str> {
    printed.lines().filter_map(|line| line.strip_prefix(FAILED)).collect()
}

/// Formats a figure with three significant digits.
fn digits(figure: f64) -> String {
    match figure.abs() {
        0.0 => "0".to_owned(),
        100.0.. => format!("{figure:.0}"),
        10.0.. => format!("{figure:.1}"),
        0.095.. => format!("{figure:.2}"),
        _ => format!("{figure:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{goals, table};

    #[test]
    fn goals_are_valid_and_unique() {
        let mut keys: Vec<_> = goals().unwrap().into_iter().map(|(key, _)| key).collect();
        let all = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), all);
    }

    #[test]
    fn table_lists_missing_measurements() {
        let (key, goal) = goals().unwrap().into_iter().find(|(_, goal)| goal.threshold.is_some()).unwrap();
        let output =
            table(&format!("words\nRESULT\t{key}\t1000000\t1\t2\nMISSING\twrk: apt-get install wrk\n")).unwrap();
        let row = output.lines().find(|line| line.contains(goal.path)).unwrap();
        assert!(row.contains("| 1000000") && row.contains("1.0, 2.0"), "{row}");
        assert_eq!(output.matches("**not measured**").count(), goals().unwrap().len() - 1);
        assert!(output.ends_with("not measured: wrk: apt-get install wrk"), "{output}");
    }

    #[test]
    fn figure_without_a_goal_is_an_error() {
        assert!(table("RESULT\tnobody\t1\n").is_err());
    }
}
