//! The command `signpost atms export`: writes ATMs to a file.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use serde_json::json;
use signpost_atm::catalogue::{self, Snapshot, StoredCatalogue};
use signpost_locator::{Record, export};
use signpost_platform::clock::Clock;
use signpost_store::Store;

use crate::cli::{Session, print_text};

#[derive(Debug, Args)]
pub(in crate::cli) struct Export {
    /// Output file [default: standard output]
    file: Option<PathBuf>,
    /// File format [default: from the file name, else geojson]
    #[arg(long, value_enum)]
    format: Option<OutputFormat>,
    /// Only records of this source, before merging
    #[arg(long)]
    source: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// GeoJSON features, with the attribution of every source
    Geojson,
    /// Comma-separated values, with a header
    Csv,
}

/// An ATM in the output.
struct Line {
    id: u64,
    record: Box<Record>,
    attribution: String,
}

impl Export {
    pub(super) async fn run(self, session: &Session, store: &Store) -> Result<()> {
        let stored = catalogue::sql::read_catalogue(store, Clock::System.now()).await?;
        let lines = match &self.source {
            Some(source) => source_lines(stored, source)?,
            None => merged(&Snapshot::build(stored)),
        };
        let text = match self.format() {
            OutputFormat::Csv => {
                let rows = lines.iter().map(|line| (line.id, &*line.record, line.attribution.clone()));
                String::from_utf8(export::csv(rows))?
            }
            OutputFormat::Geojson => geojson(&lines),
        };
        let Some(file) = &self.file else { return print_text(text.trim_end()) };
        let shown = file.display().to_string();
        fs::write(file, text).with_context(|| format!("cannot write {shown}"))?;
        session.print(&json!({ "file": shown, "machines": lines.len() }), || {
            format!("wrote {} ATMs to {shown}; check the licences of their sources", lines.len())
        })
    }

    fn format(&self) -> OutputFormat {
        if let Some(format) = self.format {
            return format;
        }
        match self.file.as_ref().and_then(|file| file.extension()) {
            Some(extension) if extension.eq_ignore_ascii_case("csv") => OutputFormat::Csv,
            _ => OutputFormat::Geojson,
        }
    }
}

/// Returns the merged ATMs that searches find.
fn merged(snapshot: &Snapshot) -> Vec<Line> {
    let mut lines = Vec::with_capacity(snapshot.len());
    for entry in snapshot.entries() {
        let sources = entry.atm.claims.iter().filter_map(|claim| snapshot.source(&claim.source));
        let mut attributions: Vec<&str> = sources.map(|source| source.attribution.as_str()).collect();
        attributions.dedup();
        let attribution = attributions.join("; ");
        lines.push(Line { id: entry.atm.id.get(), record: entry.atm.record.clone(), attribution });
    }
    lines
}

fn source_lines(stored: StoredCatalogue, name: &str) -> Result<Vec<Line>> {
    let source = stored.sources.iter().find(|source| source.name == name);
    let attribution = source.with_context(|| format!("no source is named {name}"))?.attribution.clone();
    let rows = stored.atms.into_iter().filter(|atm| &*atm.source == name);
    Ok(rows.map(|atm| Line { id: atm.id.get(), record: atm.record, attribution: attribution.clone() }).collect())
}

fn geojson(lines: &[Line]) -> String {
    let mut attributions: Vec<&str> = lines.iter().map(|line| line.attribution.as_str()).collect();
    attributions.sort_unstable();
    attributions.dedup();
    // The file has one feature per line, so that it can be read, compared and edited by hand.
    let features: Vec<String> = lines.iter().map(|line| export::feature(line.id, &line.record).to_string()).collect();
    format!(
        "{{\"type\":\"FeatureCollection\",\"attribution\":{},\"features\":[\n{}\n]}}\n",
        json!(attributions),
        features.join(",\n")
    )
}
