//! `signpost atms import`

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use signpost_locator::import::{self, Format, Listed, Options};

use super::super::{Session, Usage};
use crate::atms::{Changes, SAMPLE, Source, plan};
use crate::clock::Clock;
use crate::store::Store;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 1 << 30;
/// How many skipped rows and doubtful cells are printed for people.
const PRINTED: usize = 20;
/// The steps that the progress bar counts: read, understand, compare, write.
const STEPS: u64 = 4;

#[derive(Debug, Args)]
pub(in crate::cli) struct Import {
    /// The file
    file: PathBuf,
    /// How it is written
    #[arg(long, value_enum, default_value_t = Written::Auto)]
    format: Written,
    /// The name of the source; an import replaces what the source of this name had [default: the file's name]
    #[arg(long)]
    source: Option<String>,
    /// What the source's licence wants to be said in every reply [default: the source's name]
    #[arg(long, value_name = "TEXT")]
    attribution: Option<String>,
    /// Which column holds which field, such as name=title,lat=y: lat lon name ref address street city region
    /// postcode country operator status hours phone website. Others are guessed from the header
    #[arg(long, value_name = "FIELD=COLUMN", value_delimiter = ',')]
    map: Vec<String>,
    /// Only rows whose column has this value; all of several
    #[arg(long = "where", value_name = "COLUMN=VALUE")]
    only: Vec<String>,
    /// Report, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Import even if more than 20 % of the source's machines would be gone
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Written {
    /// By the first line
    Auto,
    /// Separated by commas
    Csv,
    /// Separated by tabs
    Tsv,
}

impl Import {
    pub(super) async fn run(self, session: &Session, store: &Store) -> Result<()> {
        let progress = progress(session.json);
        let source = Source { name: self.source_name()?, attribution: String::new(), imported_at: Clock::System.now() };
        let attribution = self.attribution.clone().unwrap_or_else(|| source.name.clone());
        let source = Source { attribution, ..source };
        progress.set_message("reading");
        let bytes = self.read()?;
        progress.inc(1);
        progress.set_message("understanding");
        let import = import::read(&bytes, &self.options()?);
        let mut import = import.with_context(|| format!("{}", self.file.display()))?;
        progress.inc(1);
        progress.set_message("comparing");
        let rows = std::mem::take(&mut import.rows).into_iter();
        let rows = rows.map(|row| Ok((row.key, serde_json::to_string(&row.record)?))).collect::<Result<Vec<_>>>()?;
        let version = store.catalogue_version().await?;
        let plan = plan(&store.kept(&source.name).await?, rows, self.force)?;
        let changes = plan.changes;
        progress.inc(1);
        progress.set_message("writing");
        if !self.dry_run {
            store.import(&source, plan, version).await?;
        }
        progress.finish_and_clear();
        self.report(session, &source.name, changes, &import)
    }

    fn source_name(&self) -> Result<String> {
        let stem = || self.file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = self.source.clone().or_else(stem).unwrap_or_default();
        let is_fit = (1..=64).contains(&name.chars().count()) && !name.chars().any(char::is_control);
        if !is_fit {
            return Err(Usage("--source must have 1 to 64 characters".to_owned()).into());
        }
        if name == SAMPLE {
            return Err(Usage(format!("--source {SAMPLE} is the name of the built-in machines")).into());
        }
        Ok(name)
    }

    fn read(&self) -> Result<Vec<u8>> {
        let shown = self.file.display();
        let size = fs::metadata(&self.file).with_context(|| format!("cannot read {shown}"))?.len();
        anyhow::ensure!(size <= LARGEST, "{shown} has {size} bytes; the most that is read is {LARGEST}");
        fs::read(&self.file).with_context(|| format!("cannot read {shown}"))
    }

    fn options(&self) -> Result<Options> {
        let pair = |flag: &str, text: &str| {
            let pair = text.split_once('=').map(|(left, right)| (left.trim().to_owned(), right.trim().to_owned()));
            pair.ok_or_else(|| Usage(format!("{flag} '{text}' lacks a '='")))
        };
        let map = self.map.iter().map(|text| {
            let (field, column) = pair("--map", text)?;
            Ok((field.parse().map_err(|error| Usage(format!("--map: {error}")))?, column))
        });
        let only = self.only.iter().map(|text| Ok(pair("--where", text)?)).collect::<Result<_>>()?;
        let format = match self.format {
            Written::Auto => Format::Auto,
            Written::Csv => Format::Csv,
            Written::Tsv => Format::Tsv,
        };
        Ok(Options { format, map: map.collect::<Result<_>>()?, only, country: None })
    }

    fn report(&self, session: &Session, source: &str, changes: Changes, import: &import::Import) -> Result<()> {
        let Changes { added, changed, unchanged, removed } = changes;
        let import::Import { skipped, doubts, filtered, columns, .. } = import;
        let columns: serde_json::Map<String, Value> =
            columns.iter().map(|(field, column)| (field.to_string(), column.as_str().into())).collect();
        let document = json!({
            "source": source, "dry_run": self.dry_run,
            "added": added, "changed": changed, "unchanged": unchanged, "removed": removed, "filtered": filtered,
            "skipped": { "total": skipped.total, "first": skipped.first.iter().map(|row| {
                json!({ "line": row.line, "reason": row.reason })
            }).collect::<Vec<_>>() },
            "doubts": { "total": doubts.total, "first": doubts.first.iter().map(|doubt| {
                json!({ "line": doubt.line, "field": doubt.field.to_string(), "value": doubt.value,
                        "reason": doubt.reason })
            }).collect::<Vec<_>>() },
            "columns": columns,
        });
        session.print(&document, || {
            let head = if self.dry_run { "would import" } else { "imported" };
            let mut lines = vec![format!(
                "{head} {source}: {added} added, {changed} changed, {unchanged} unchanged, {removed} removed; \
                 {filtered} filtered out"
            )];
            let read = columns.iter().map(|(field, column)| format!("{field}={}", column.as_str().unwrap_or_default()));
            lines.push(format!("read as: {}", read.collect::<Vec<_>>().join(", ")));
            list(&mut lines, "rows skipped", skipped, |row| format!("line {}: {}", row.line, row.reason));
            list(&mut lines, "values not understood", doubts, |doubt| {
                format!("line {}: {} '{}' {}", doubt.line, doubt.field, doubt.value, doubt.reason)
            });
            lines.join("\n")
        })
    }
}

fn list<T>(lines: &mut Vec<String>, what: &str, listed: &Listed<T>, text: impl Fn(&T) -> String) {
    if listed.total == 0 {
        return;
    }
    lines.push(format!("{what}: {}", listed.total));
    lines.extend(listed.first.iter().take(PRINTED).map(|item| format!("  {}", text(item))));
    if listed.total > PRINTED {
        lines.push(format!("  … and {} more (--json lists more of them)", listed.total - PRINTED));
    }
}

/// Draws itself only where standard error is a terminal.
fn progress(hidden: bool) -> ProgressBar {
    if hidden {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}").expect("the template is well-formed");
    ProgressBar::new(STEPS).with_style(style)
}
