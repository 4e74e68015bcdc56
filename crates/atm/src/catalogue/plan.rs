//! Computes the changes of an import by comparing the rows of a document with the stored rows. All functions are pure.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

/// Maximum share of a source's ATMs that one import may remove, in percent. A higher share indicates a broken file.
const MAX_GONE_PERCENT: usize = 20;

/// The stored row of an ATM of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRecord {
    /// The record as JSON.
    pub record: String,
    /// Whether an earlier import removed the ATM.
    pub is_gone: bool,
}

/// The numbers of ATMs that an import adds, changes and removes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct ImportCounts {
    pub added: usize,
    pub changed: usize,
    pub unchanged: usize,
    pub removed: usize,
}

/// The changes that an import writes. ATMs are identified by their reference at the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The new, changed or restored records, each as reference and JSON.
    pub upserts: Vec<(String, String)>,
    /// The references of the removed ATMs.
    pub removals: Vec<String>,
    /// The number of changes.
    pub changes: ImportCounts,
    /// The number of references that were never stored before.
    pub new: usize,
}

/// The part of a source's ATMs that a document contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// The document contains all ATMs. Stored ATMs that are missing from it are removed.
    Full,
    /// The document contains only changes. Only the ATMs that it lists as removed are removed.
    Partial,
}

/// The error of an import that would remove too many ATMs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the file lacks {gone} of the source's {kept} ATMs, more than {MAX_GONE_PERCENT} %: nothing was changed; if that is \
     correct, import it again with --force"
)]
pub struct RemovalLimitExceeded {
    gone: usize,
    kept: usize,
}

/// Compares the rows of a document with the stored rows of its source by reference. `gone` contains the references that
/// the document lists as removed.
///
/// # Errors
/// If more than 20 % of the stored ATMs would be removed, unless forced.
pub fn plan(
    kept: &BTreeMap<String, StoredRecord>,
    rows: &[(String, String)],
    gone: &[String],
    extent: Coverage,
    force: bool,
) -> Result<Plan, RemovalLimitExceeded> {
    let mut changes = ImportCounts::default();
    let mut upserts = Vec::new();
    let living: BTreeSet<&String> = kept.iter().filter(|(_, kept)| !kept.is_gone).map(|(name, _)| name).collect();
    let mut gone: BTreeSet<&String> = match extent {
        Coverage::Full => living.clone(),
        Coverage::Partial => gone.iter().filter(|reference| living.contains(reference)).collect(),
    };
    let living = living.len();
    let mut new = 0;
    for (reference, record) in rows {
        gone.remove(reference);
        match kept.get(reference) {
            Some(kept) if !kept.is_gone && kept.record == *record => {
                changes.unchanged += 1;
                continue;
            }
            Some(kept) if !kept.is_gone => changes.changed += 1,
            Some(_) => changes.added += 1,
            None => {
                changes.added += 1;
                new += 1;
            }
        }
        upserts.push((reference.clone(), record.clone()));
    }
    changes.removed = gone.len();
    if !force && gone.len() * 100 > living * MAX_GONE_PERCENT {
        return Err(RemovalLimitExceeded { gone: gone.len(), kept: living });
    }
    let removals = gone.into_iter().cloned().collect();
    Ok(Plan { upserts, removals, changes, new })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(rows: &[(&str, &str, bool)]) -> BTreeMap<String, StoredRecord> {
        let kept = |(reference, record, is_gone): &(&str, &str, bool)| {
            ((*reference).to_owned(), StoredRecord { record: (*record).to_owned(), is_gone: *is_gone })
        };
        rows.iter().map(kept).collect()
    }

    fn rows(rows: &[(&str, &str)]) -> Vec<(String, String)> {
        rows.iter().map(|(reference, record)| ((*reference).to_owned(), (*record).to_owned())).collect()
    }

    #[test]
    fn repeated_import_changes_nothing() {
        let plan = plan(&kept(&[("a", "1", false)]), &rows(&[("a", "1")]), &[], Coverage::Full, false).unwrap();
        assert_eq!((plan.upserts.len(), plan.removals.len(), plan.changes.unchanged), (0, 0, 1));
    }

    #[test]
    fn rows_are_added_changed_removed_and_restored() {
        let before = kept(&[("a", "1", false), ("b", "1", false), ("c", "1", true), ("d", "1", false)]);
        let new = rows(&[("a", "2"), ("c", "1"), ("e", "1"), ("d", "1")]);
        let plan = plan(&before, &new, &[], Coverage::Full, true).unwrap();
        assert_eq!(plan.upserts, rows(&[("a", "2"), ("c", "1"), ("e", "1")]));
        assert_eq!((plan.removals, plan.new), (vec!["b".to_owned()], 1));
        assert_eq!(plan.changes, ImportCounts { added: 2, changed: 1, unchanged: 1, removed: 1 });
    }

    #[test]
    fn removal_of_more_than_a_fifth_requires_force() {
        let names: Vec<String> = (0..10).map(|number| number.to_string()).collect();
        let before: Vec<_> = names.iter().map(|name| (name.as_str(), "1", false)).collect();
        let after = |count: usize| rows(&before[..count].iter().map(|row| (row.0, row.1)).collect::<Vec<_>>());
        let whole = |count, force| plan(&kept(&before), &after(count), &[], Coverage::Full, force);
        assert!(whole(8, false).is_ok());
        assert_eq!(whole(7, false), Err(RemovalLimitExceeded { gone: 3, kept: 10 }));
        assert_eq!(whole(0, true).unwrap().changes.removed, 10);
        let part = |gone: &[String]| plan(&kept(&before), &after(0), gone, Coverage::Partial, false);
        assert_eq!(part(&names[..2]).unwrap().changes.removed, 2);
        assert_eq!(part(&names[..3]), Err(RemovalLimitExceeded { gone: 3, kept: 10 }));
    }

    #[test]
    fn partial_import_removes_only_listed_rows() {
        let before = kept(&[("a", "1", false), ("b", "1", false), ("c", "1", true)]);
        let gone = ["b", "c", "never there"].map(str::to_owned);
        let plan = plan(&before, &rows(&[("d", "1")]), &gone, Coverage::Partial, true).unwrap();
        assert_eq!((plan.upserts, plan.removals), (rows(&[("d", "1")]), vec!["b".to_owned()]));
        assert_eq!(plan.changes, ImportCounts { added: 1, changed: 0, unchanged: 0, removed: 1 });
    }
}
