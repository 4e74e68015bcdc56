//! Source files do not import each other in a cycle. References from a file to the `mod.rs` of its folder are ignored,
//! because both form a single module.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::{Import, imports};
use super::{REMEDY, assert_none};

type Graph<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

#[test]
fn imports_have_no_cycles() {
    let (mut graph, mut imports) = (Graph::new(), imports());
    imports.retain(|import| !import.is_to_own_parent);
    for import in &imports {
        graph.entry(&import.from).or_default().insert(&import.to);
    }
    let reachable: BTreeMap<_, _> = graph.keys().map(|file| (*file, transitive_imports(&graph, file))).collect();
    let is_cycle = |from: &str, to: &str| reachable.get(to).is_some_and(|files| files.contains(from));
    let cycles = imports.iter().filter(|import| is_cycle(&import.from, &import.to));
    let found =
        cycles.map(|Import { from, line, path, .. }| format!("{from}:{line} imports {path} in a cycle{REMEDY}"));
    assert_none("import cycles", &found.collect::<Vec<_>>());
}

/// Returns the direct and transitive imports of a file.
fn transitive_imports<'a>(graph: &Graph<'a>, file: &'a str) -> BTreeSet<&'a str> {
    let (mut found, mut next) = (BTreeSet::new(), vec![file]);
    while let Some(file) = next.pop() {
        next.extend(graph.get(file).into_iter().flatten().filter(|to| found.insert(**to)));
    }
    found
}
