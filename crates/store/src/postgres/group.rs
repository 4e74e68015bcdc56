//! Writes of many requests in one transaction: steps that run as one statement, and the outcome of each write.

use std::collections::HashSet;

use anyhow::{Context, Result};

use crate::row::{Row, Value};
use crate::step::{Step, WriteOutcome};

/// The number of rows that a step changed, and the rows that it returned.
pub(super) type Done = (u64, Vec<Row>);

/// Steps that run as one statement. Their keys are distinct.
pub(super) struct StepBatch<'a> {
    pub(super) sql: &'static str,
    key: usize,
    pub(super) steps: Vec<&'a Step>,
}

/// The writes of a transaction.
pub(super) struct Group<'a> {
    /// The batch, if it would have more than one step.
    pub(super) batch: Option<StepBatch<'a>>,
    /// The other writes. They run step by step.
    pub(super) others: Vec<&'a Vec<Step>>,
    /// Whether each write is part of the batch.
    is_batched: Vec<bool>,
}

impl<'a> Group<'a> {
    /// Groups writes. A batch consists of the writes with a single step and an equal batch statement.
    pub(super) fn of(writes: &'a [Vec<Step>]) -> Self {
        let single_writes =
            || Self { batch: None, others: writes.iter().collect(), is_batched: vec![false; writes.len()] };
        let Some((sql, key)) = writes.iter().find_map(batch_statement) else { return single_writes() };
        let mut keys = HashSet::with_capacity(writes.len());
        let mut steps = Vec::new();
        let mut others = Vec::new();
        let mut is_batched = Vec::with_capacity(writes.len());
        for write in writes {
            let belongs = batch_statement(write).is_some_and(|(text, _)| text == sql)
                && write[0].params.get(key).is_some_and(|value| keys.insert(value));
            if belongs {
                steps.push(&write[0]);
            } else {
                others.push(write);
            }
            is_batched.push(belongs);
        }
        if steps.len() < 2 {
            return single_writes();
        }
        Self { batch: Some(StepBatch { sql, key, steps }), others, is_batched }
    }

    /// Returns the outcome of each write, and whether one was refused after it had changed something.
    pub(super) fn written(&self, writes: &[Vec<Step>], done: Vec<Done>) -> Result<(Vec<WriteOutcome>, bool)> {
        let mut done = done.into_iter();
        let mut key = 0;
        let mut rows = Vec::new();
        if let Some(batch) = &self.batch {
            key = batch.key;
            rows = done.next().context("the batch has a result")?.1;
        }
        let changed: HashSet<&Value> = rows.iter().filter_map(|row| row.0.first()).collect();
        let mut outcomes = Vec::with_capacity(writes.len());
        let mut is_undone = false;
        for (write, is_batched) in writes.iter().zip(&self.is_batched) {
            let outcome = if *is_batched {
                let is_done = write[0].params.get(key).is_some_and(|value| changed.contains(value));
                if is_done || !write[0].must { WriteOutcome::Committed(Vec::new()) } else { WriteOutcome::Refused(0) }
            } else {
                let outcome = written(write, done.by_ref().take(write.len()).collect());
                is_undone |= write.len() > 1 && !outcome.is_committed();
                outcome
            };
            outcomes.push(outcome);
        }
        Ok((outcomes, is_undone))
    }
}

/// Returns the batch statement of a write with a single step, and the position of its key.
fn batch_statement(write: &Vec<Step>) -> Option<(&'static str, usize)> {
    let [step] = write.as_slice() else { return None };
    step.batch
}

/// Returns the outcome of a write from the results of its steps.
pub(super) fn written(write: &[Step], mut done: Vec<Done>) -> WriteOutcome {
    if let Some(refused) = write.iter().zip(&done).position(|(step, (changed, _))| step.must && *changed == 0) {
        return WriteOutcome::Refused(refused);
    }
    WriteOutcome::Committed(done.pop().map(|(_, rows)| rows).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::{must, params, step};

    const ONE: &str = "UPDATE things SET at = $2 WHERE id = $1";
    const MANY: &str = "UPDATE things … RETURNING id";

    fn thing(id: &str) -> Vec<Step> {
        vec![must(ONE, params![id, 1_i64]).batched(MANY, 0)]
    }

    #[test]
    fn each_write_of_a_batch_has_its_own_outcome() {
        let writes = [thing("a"), vec![step("DELETE", vec![])], thing("b"), thing("c")];
        let group = Group::of(&writes);
        assert_eq!(group.batch.as_ref().unwrap().steps.len(), 3);
        let (changed, deleted) = (["c", "a"].map(|id| Row(params![id])).to_vec(), (4, Vec::new()));
        let (ended, is_undone) = group.written(&writes, vec![(2, changed), deleted]).unwrap();
        let committed = || WriteOutcome::Committed(Vec::new());
        assert_eq!(ended, [committed(), committed(), WriteOutcome::Refused(0), committed()]);
        assert!(!is_undone);
    }

    #[test]
    fn second_step_with_one_key_is_not_batched() {
        let writes = [thing("a"), thing("b"), thing("a")];
        let group = Group::of(&writes);
        assert_eq!((group.batch.unwrap().steps.len(), group.others.len()), (2, 1));
        assert!(std::ptr::eq(group.others[0], &raw const writes[2]));
        let writes = [thing("a"), thing("a")];
        assert!(Group::of(&writes).batch.is_none());
    }

    #[test]
    fn writes_of_several_steps_are_not_batched() {
        let with_another: Vec<Step> = thing("b").into_iter().chain([step(ONE, params!["b", 2_i64])]).collect();
        assert!(Group::of(&[thing("a"), with_another]).batch.is_none());
    }

    #[test]
    fn rejected_multi_step_write_rolls_back_the_group() {
        let writes = [thing("a"), thing("b"), vec![step(ONE, params!["c", 1_i64]), must(ONE, params!["d", 1_i64])]];
        let both = ["a", "b"].map(|id| Row(params![id])).to_vec();
        let done = vec![(2, both), (1, Vec::new()), (0, Vec::new())];
        let (ended, is_undone) = Group::of(&writes).written(&writes, done).unwrap();
        assert_eq!(ended[2], WriteOutcome::Refused(1));
        assert!(is_undone);
    }
}
