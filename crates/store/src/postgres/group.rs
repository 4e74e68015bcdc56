//! Writes of many requests in one transaction: which of their steps one statement does, and how each write ended.

use std::collections::HashSet;

use anyhow::{Context, Result};

use crate::row::{Row, Value};
use crate::step::{Step, WriteOutcome};

/// How many rows a step changed, and the rows it gave.
pub(super) type Done = (u64, Vec<Row>);

/// Steps that one statement does together. No two of them have the same key.
pub(super) struct Alike<'a> {
    pub(super) sql: &'static str,
    key: usize,
    pub(super) steps: Vec<&'a Step>,
}

/// The writes of a transaction.
pub(super) struct Group<'a> {
    /// Where there is more than one such step.
    pub(super) alike: Option<Alike<'a>>,
    /// The writes beside them, step by step.
    pub(super) others: Vec<&'a Vec<Step>>,
    /// Of each write, whether it is among those that are alike.
    is_alike: Vec<bool>,
}

impl<'a> Group<'a> {
    pub(super) fn of(writes: &'a [Vec<Step>]) -> Self {
        let apart = || Self { alike: None, others: writes.iter().collect(), is_alike: vec![false; writes.len()] };
        let Some((sql, key)) = writes.iter().find_map(alike_text) else { return apart() };
        let mut keys = HashSet::with_capacity(writes.len());
        let mut is_new = |write: &'a Vec<Step>| write[0].params.get(key).is_some_and(|value| keys.insert(value));
        let is_alike: Vec<bool> = writes
            .iter()
            .map(|write| alike_text(write).is_some_and(|(text, _)| text == sql) && is_new(write))
            .collect();
        let of =
            |alike: bool| writes.iter().zip(&is_alike).filter(move |(_, is)| **is == alike).map(|(write, _)| write);
        let steps: Vec<&Step> = of(true).flatten().collect();
        if steps.len() < 2 {
            return apart();
        }
        let others = of(false).collect();
        Self { alike: Some(Alike { sql, key, steps }), others, is_alike }
    }

    /// How each write ended, and whether one was refused after it had changed something.
    pub(super) fn written(&self, writes: &[Vec<Step>], done: Vec<Done>) -> Result<(Vec<WriteOutcome>, bool)> {
        let mut done = done.into_iter();
        let (key, rows) = match &self.alike {
            Some(alike) => (alike.key, done.next().context("they were answered")?.1),
            None => (0, Vec::new()),
        };
        let changed: HashSet<&Value> = rows.iter().filter_map(|row| row.0.first()).collect();
        let (mut ended, mut is_undone) = (Vec::with_capacity(writes.len()), false);
        for (write, is_alike) in writes.iter().zip(&self.is_alike) {
            ended.push(if *is_alike {
                let is_done = write[0].params.get(key).is_some_and(|value| changed.contains(value));
                if is_done || !write[0].must { WriteOutcome::Committed(Vec::new()) } else { WriteOutcome::Refused(0) }
            } else {
                let own = written(write, done.by_ref().take(write.len()).collect());
                is_undone |= write.len() > 1 && !own.is_committed();
                own
            });
        }
        Ok((ended, is_undone))
    }
}

/// The text that does a write together with others like it.
fn alike_text(write: &Vec<Step>) -> Option<(&'static str, usize)> {
    let [step] = write.as_slice() else { return None };
    step.alike
}

/// How a write ended whose steps ended so.
pub(super) fn written(write: &[Step], done: Vec<Done>) -> WriteOutcome {
    let refused = write.iter().zip(&done).position(|(step, (changed, _))| step.must && *changed == 0);
    refused.map_or_else(
        || WriteOutcome::Committed(done.into_iter().next_back().map(|(_, rows)| rows).unwrap_or_default()),
        WriteOutcome::Refused,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::{must, params, step};

    const ONE: &str = "UPDATE things SET at = $2 WHERE id = $1";
    const MANY: &str = "UPDATE things … RETURNING id";

    fn thing(id: &str) -> Vec<Step> {
        vec![must(ONE, params![id, 1_i64]).alike(MANY, 0)]
    }

    #[test]
    fn each_is_told_what_became_of_its_own_row() {
        let writes = [thing("a"), vec![step("DELETE", vec![])], thing("b"), thing("c")];
        let group = Group::of(&writes);
        assert_eq!(group.alike.as_ref().unwrap().steps.len(), 3);
        let (changed, deleted) = (["c", "a"].map(|id| Row(params![id])).to_vec(), (4, Vec::new()));
        let (ended, is_undone) = group.written(&writes, vec![(2, changed), deleted]).unwrap();
        let committed = || WriteOutcome::Committed(Vec::new());
        assert_eq!(ended, [committed(), committed(), WriteOutcome::Refused(0), committed()]);
        assert!(!is_undone);
    }

    #[test]
    fn of_two_with_one_key_the_second_runs_by_itself() {
        let writes = [thing("a"), thing("b"), thing("a")];
        let group = Group::of(&writes);
        assert_eq!((group.alike.unwrap().steps.len(), group.others.len()), (2, 1));
        assert!(std::ptr::eq(group.others[0], &raw const writes[2]));
        let writes = [thing("a"), thing("a")];
        assert!(Group::of(&writes).alike.is_none());
    }

    #[test]
    fn what_is_alone_or_has_steps_beside_it_goes_with_no_other() {
        let with_another: Vec<Step> = thing("b").into_iter().chain([step(ONE, params!["b", 2_i64])]).collect();
        assert!(Group::of(&[thing("a"), with_another]).alike.is_none());
    }

    #[test]
    fn a_refused_write_of_several_steps_undoes_the_group() {
        let writes = [thing("a"), thing("b"), vec![step(ONE, params!["c", 1_i64]), must(ONE, params!["d", 1_i64])]];
        let both = ["a", "b"].map(|id| Row(params![id])).to_vec();
        let done = vec![(2, both), (1, Vec::new()), (0, Vec::new())];
        let (ended, is_undone) = Group::of(&writes).written(&writes, done).unwrap();
        assert_eq!(ended[2], WriteOutcome::Refused(1));
        assert!(is_undone);
    }
}
