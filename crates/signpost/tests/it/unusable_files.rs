//! Imports with nothing usable, and the suggestions of the summary (docs/locator.md, Values).

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::CommandOutput;
use crate::program::{command, document};

const KINDS: &str = "ref,lat,lon,category,visited\n1,30.2,-97.7,shop,11/20/2026\n2,30.3,-97.7,ATM,11/21/2026\n\
                     3,30.4,-97.7,atm,\n4,30.5,-97.7,,\n";

fn import(folder: &Path, file: &str, more: &[&str]) -> CommandOutput {
    fs::write(folder.join("machines.csv"), file).unwrap();
    command(folder, &[&["atms", "import", "machines.csv"], more].concat()).run()
}

/// Returns the error line of an import with exit code 1.
fn error(output: &CommandOutput) -> &str {
    assert_eq!(output.code, Some(1), "{} {}", output.out, output.err);
    let line = output.err.strip_prefix("signpost: machines.csv: nothing in the file can be used: ");
    line.unwrap_or_else(|| panic!("{}", output.err)).trim_end()
}

#[test]
fn import_with_nothing_usable_fails() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows = "1,,\n2,0,0\n".repeat(24);
    let output = import(folder, &format!("ref,lat,lon\n{rows}49,x,y\n"), &[]);
    assert_eq!(error(&output), "49 rows are skipped, the first is line 2 (no coordinates)");
    assert!(output.out.starts_with("nothing imported from machines: 0 filtered out\n"), "{}", output.out);
    assert!(output.out.contains("\nskipped: 49\n  line 2: no coordinates\n"), "{}", output.out);
    assert!(!folder.join("data").exists(), "no database is created");
    let output = import(folder, &format!("ref,lat,lon\n{rows}"), &["--json", "--partial"]);
    error(&output);
    let printed: Value = serde_json::from_str(&output.out).unwrap();
    assert_eq!((&printed["added"], &printed["skipped"]["total"]), (&json!(0), &json!(48)));
}

#[test]
fn import_with_nothing_usable_removes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert_eq!(import(folder, KINDS, &[]).code, Some(0));
    error(&import(folder, "ref,lat,lon\n1,,\n", &["--force"]));
    error(&import(folder, KINDS, &["--force", "--where", "category=btm"]));
    assert_eq!(document(folder, &["atms", "stats"])["total"], 4);
}

#[test]
fn unmatched_filter_lists_the_values_of_its_column() {
    let folder = tempfile::tempdir().unwrap();
    let output = import(folder.path(), KINDS, &["--where", "Category=btm"]);
    let values = "(blank) (1), ATM (1), atm (1), shop (1)";
    assert_eq!(error(&output), format!("no row has category=btm; the values of category are: {values}"));
    let output = import(folder.path(), KINDS, &["--where", "kind=atm"]);
    assert!(output.failed(1).contains("there is no column \"kind\""), "{}", output.err);
}

#[test]
fn summary_suggests_a_filter_and_names_dates() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let output = import(folder, KINDS, &[]);
    for line in [
        "2 of 4 rows have category=ATM; to import only these: --where category=ATM",
        "columns with dates that are not used: visited; if they date the records, map one, such as --map \
         verified_at=visited",
    ] {
        assert!(output.out.lines().any(|printed| printed == line), "{}", output.out);
    }
    let output = import(folder, KINDS, &["--where", "category=ATM", "--force"]);
    assert!(
        output.out.lines().any(|line| line == "filtered out: category is blank (1), category=shop (1)"),
        "{}",
        output.out
    );
    assert!(!output.out.contains("--where"), "{}", output.out);
    let printed = document(folder, &["atms", "import", "machines.csv", "--force"]);
    let suggested = json!({ "column": "category", "value": "ATM", "rows": 2, "total": 4 });
    assert_eq!((&printed["suggested_filter"], &printed["unused_dates"]), (&suggested, &json!(["visited"])));
    let printed = document(folder, &["atms", "import", "machines.csv", "--force", "--where", "category=atm"]);
    assert_eq!(printed["filtered_by"], json!({ "category=shop": 1, "category is blank": 1 }));
    assert_eq!((&printed["filtered"], printed.get("suggested_filter")), (&json!(2), None));
}
