//! Groups writes of different requests into a transaction, and assigns the results to the writes.

use std::collections::HashSet;

use anyhow::{Context, Result};

use crate::row::{Row, Value};
use crate::statement::{Statement, WriteOutcome};

/// The number of rows that a statement changed, and the rows that it returned.
pub(super) type StatementResult = (u64, Vec<Row>);

/// Statements that run as the single SQL statement `sql`. Their keys are distinct.
pub(super) struct StatementBatch<'a> {
    pub(super) sql: &'static str,
    key: usize,
    pub(super) statements: Vec<&'a Statement>,
}

/// The writes of a transaction.
pub(super) struct WriteGroup<'a> {
    /// The batch, if at least two statements can be combined.
    pub(super) batch: Option<StatementBatch<'a>>,
    /// The writes outside the batch. Their statements run separately.
    pub(super) unbatched: Vec<&'a Vec<Statement>>,
    /// Membership of each write in the batch.
    is_batched: Vec<bool>,
}

impl<'a> WriteGroup<'a> {
    /// Groups writes. Writes with a single statement and equal batch SQL are combined in a batch.
    pub(super) fn new(writes: &'a [Vec<Statement>]) -> Self {
        let single_writes =
            || Self { batch: None, unbatched: writes.iter().collect(), is_batched: vec![false; writes.len()] };
        let Some((sql, key)) = writes.iter().find_map(batch_key) else { return single_writes() };
        let mut keys = HashSet::with_capacity(writes.len());
        let mut statements = Vec::new();
        let mut unbatched = Vec::new();
        let mut is_batched = Vec::with_capacity(writes.len());
        for write in writes {
            let belongs = batch_key(write).is_some_and(|(text, _)| text == sql)
                && write[0].params.get(key).is_some_and(|value| keys.insert(value));
            if belongs {
                statements.push(&write[0]);
            } else {
                unbatched.push(write);
            }
            is_batched.push(belongs);
        }
        if statements.len() < 2 {
            return single_writes();
        }
        Self { batch: Some(StatementBatch { sql, key, statements }), unbatched, is_batched }
    }

    /// Returns the outcome of each write, and `true` if a write was refused after it had changed a
    /// row.
    pub(super) fn outcomes(
        &self,
        writes: &[Vec<Statement>],
        done: Vec<StatementResult>,
    ) -> Result<(Vec<WriteOutcome>, bool)> {
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
                if is_done || !write[0].expects_row {
                    WriteOutcome::Committed(Vec::new())
                } else {
                    WriteOutcome::Refused(0)
                }
            } else {
                let outcome = write_outcome(write, done.by_ref().take(write.len()).collect());
                is_undone |= write.len() > 1 && !outcome.is_committed();
                outcome
            };
            outcomes.push(outcome);
        }
        Ok((outcomes, is_undone))
    }
}

/// Returns the batch SQL of a write with a single statement, and the parameter position of its key.
fn batch_key(write: &Vec<Statement>) -> Option<(&'static str, usize)> {
    let [statement] = write.as_slice() else { return None };
    statement.batch
}

/// Returns the outcome of a write, given the results of its statements.
pub(super) fn write_outcome(write: &[Statement], mut done: Vec<StatementResult>) -> WriteOutcome {
    if let Some(refused) =
        write.iter().zip(&done).position(|(statement, (changed, _))| statement.expects_row && *changed == 0)
    {
        return WriteOutcome::Refused(refused);
    }
    WriteOutcome::Committed(done.pop().map(|(_, rows)| rows).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statement::{Statement, params};

    const SINGLE_UPDATE: &str = "UPDATE things SET at = $2 WHERE id = $1";
    const BATCH_UPDATE: &str = "UPDATE things … RETURNING id";

    fn thing(id: &str) -> Vec<Statement> {
        vec![Statement::expect_row(SINGLE_UPDATE, params![id, 1_i64]).batched(BATCH_UPDATE, 0)]
    }

    #[test]
    fn each_write_of_a_batch_has_its_own_outcome() {
        let writes = [thing("a"), vec![Statement::new("DELETE", vec![])], thing("b"), thing("c")];
        let group = WriteGroup::new(&writes);
        assert_eq!(group.batch.as_ref().unwrap().statements.len(), 3);
        let (changed, deleted) = (["c", "a"].map(|id| Row(params![id])).to_vec(), (4, Vec::new()));
        let (ended, is_undone) = group.outcomes(&writes, vec![(2, changed), deleted]).unwrap();
        let committed = || WriteOutcome::Committed(Vec::new());
        assert_eq!(ended, [committed(), committed(), WriteOutcome::Refused(0), committed()]);
        assert!(!is_undone);
    }

    #[test]
    fn second_statement_with_one_key_is_not_batched() {
        let writes = [thing("a"), thing("b"), thing("a")];
        let group = WriteGroup::new(&writes);
        assert_eq!((group.batch.unwrap().statements.len(), group.unbatched.len()), (2, 1));
        assert!(std::ptr::eq(group.unbatched[0], &raw const writes[2]));
        let writes = [thing("a"), thing("a")];
        assert!(WriteGroup::new(&writes).batch.is_none());
    }

    #[test]
    fn writes_of_several_statements_are_not_batched() {
        let with_another: Vec<Statement> =
            thing("b").into_iter().chain([Statement::new(SINGLE_UPDATE, params!["b", 2_i64])]).collect();
        assert!(WriteGroup::new(&[thing("a"), with_another]).batch.is_none());
    }

    #[test]
    fn rejected_longer_write_rolls_back_the_group() {
        let writes = [
            thing("a"),
            thing("b"),
            vec![
                Statement::new(SINGLE_UPDATE, params!["c", 1_i64]),
                Statement::expect_row(SINGLE_UPDATE, params!["d", 1_i64]),
            ],
        ];
        let both = ["a", "b"].map(|id| Row(params![id])).to_vec();
        let done = vec![(2, both), (1, Vec::new()), (0, Vec::new())];
        let (ended, is_undone) = WriteGroup::new(&writes).outcomes(&writes, done).unwrap();
        assert_eq!(ended[2], WriteOutcome::Refused(1));
        assert!(is_undone);
    }
}
