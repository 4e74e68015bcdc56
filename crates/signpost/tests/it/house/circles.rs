//! Source files do not import each other in a cycle. References from a file to the `mod.rs` of its folder are ignored,
//! because both are one module.

use std::collections::{BTreeMap, BTreeSet};

use super::arrows::arrows;
use super::{MEND, none};

type Graph<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

#[test]
fn no_files_import_each_other_in_a_loop() {
    let (mut graph, mut arrows) = (Graph::new(), arrows());
    arrows.retain(|arrow| !arrow.is_to_own_parent);
    for arrow in &arrows {
        graph.entry(&arrow.from).or_default().insert(&arrow.to);
    }
    let behind: BTreeMap<_, _> = graph.keys().map(|file| (*file, reached(&graph, file))).collect();
    let is_tied = |from: &str, to: &str| behind.get(to).is_some_and(|behind| behind.contains(from));
    let ties = arrows.iter().filter(|arrow| is_tied(&arrow.from, &arrow.to));
    let told = ties.map(|tie| format!("{}:{} imports {}, which leads back to it{MEND}", tie.from, tie.line, tie.path));
    none("files in a circle", &told.collect::<Vec<_>>());
}

/// Returns the direct and transitive imports of a file.
fn reached<'a>(graph: &Graph<'a>, file: &'a str) -> BTreeSet<&'a str> {
    let (mut found, mut next) = (BTreeSet::new(), vec![file]);
    while let Some(file) = next.pop() {
        next.extend(graph.get(file).into_iter().flatten().filter(|to| found.insert(**to)));
    }
    found
}
