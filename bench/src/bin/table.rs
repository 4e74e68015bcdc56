//! Prints the summary table of a run from the output of its measurements: `table FILE`. Fails if
//! any measurement failed.

use anyhow::{Context, Result, ensure};
use signpost_bench::goals::{failed, table};

fn main() -> Result<()> {
    let file = std::env::args().nth(1).context("table FILE")?;
    let printed = std::fs::read_to_string(file)?;
    println!("{}", table(&printed)?);
    let failed = failed(&printed);
    ensure!(failed.is_empty(), "failed: {}", failed.join(", "));
    Ok(())
}
