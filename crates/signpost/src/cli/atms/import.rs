//! The command `signpost atms import`: imports ATMs from a file.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use indicatif::{ProgressBar, ProgressStyle};
use jiff::Timestamp;
use signpost_atm::catalogue::{
    Coverage, FileContents, ImportCounts, ImportRules, SAMPLE, Source, apply, describe_import,
};
use signpost_locator::import::{self, FormatChoice, NothingUsable, Options, parse_data_date};
use signpost_platform::bounded_file;
use signpost_platform::clock::Clock;
use signpost_store::Store;

use crate::cli::atms::import_summary;
use crate::cli::{Session, Usage};
use crate::server::schema::SCHEMA;

/// Maximum size of an imported file, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 30;
/// Number of steps of the progress bar: read, parse, compare and write.
const STEPS: u64 = 3;

#[derive(Debug, Args)]
pub(in crate::cli) struct ImportCommand {
    /// File to import, also compressed with gzip or zip
    file: PathBuf,
    /// File format
    #[arg(long, value_parser = formats(), default_value = FormatChoice::Auto.name())]
    format: FormatChoice,
    /// The file contains only changes: ATMs that are not in it are not removed
    #[arg(long)]
    partial: bool,
    /// Source name; an import replaces the ATMs of this source [default: the file name]
    #[arg(long)]
    source: Option<String>,
    /// Attribution that the source's licence requires in every response [default: the source name]
    #[arg(long, value_name = "TEXT")]
    attribution: Option<String>,
    /// Override detected columns (of a document: properties), such as name=title,lat=y. Fields: lat
    /// lon name ref address street city region postcode country operator status hours phone website
    /// and others; the error for an unknown field lists all
    #[arg(long, value_name = "FIELD=COLUMN", value_delimiter = ',')]
    map: Vec<String>,
    /// Import only rows with this value in the column, in any case; can be repeated, all must match
    #[arg(long = "where", value_name = "COLUMN=VALUE")]
    only: Vec<String>,
    /// Date of the records that have none: a day, month or year. Without it, the status of an ATM without a date is
    /// unknown
    #[arg(long, value_name = "DATE")]
    as_of: Option<String>,
    /// Dry run: report the changes without storing them
    #[arg(long)]
    dry_run: bool,
    /// Import even if more than 20 % of the source's ATMs would be removed
    #[arg(long)]
    force: bool,
}

impl ImportCommand {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        let progress = progress(session.json);
        let now = Clock::System.now();
        let name = self.source_name()?;
        let attribution = self.attribution.clone().unwrap_or_else(|| name.clone());
        let source = Source { name, attribution, imported_at: now };
        progress.set_message("reading");
        let bytes = self.read()?;
        progress.inc(1);
        progress.set_message("understanding");
        let contents = FileContents::from_bytes(&bytes, &self.options(now)?, &session.places()?.now());
        let contents = contents.with_context(|| format!("{}", self.file.display()))?;
        progress.inc(1);
        // A document with only changes may be empty.
        let must_be_usable = !self.partial || contents.import.skipped.total > 0;
        if must_be_usable && let Err(reason) = contents.check_usable() {
            progress.finish_and_clear();
            return self.refuse(session, &source.name, &contents.import, reason);
        }
        progress.set_message("comparing and writing");
        let extent = if self.partial { Coverage::Partial } else { Coverage::Full };
        let rules = ImportRules { extent, force: self.force, dry_run: self.dry_run, max_atms: usize::MAX };
        let store = self.store(session)?;
        let changes = apply(&store, &source, &contents, rules).await?;
        progress.finish_and_clear();
        self.report(session, &source.name, changes, &contents.import)
    }

    /// Opens the database. Called after the file was read, so that a bad file creates no database.
    fn store(&self, session: &Session) -> Result<Store> {
        if !self.dry_run {
            session.new_store()
        } else if session.has_store() {
            session.store()
        } else {
            // A dry run on a new folder uses a database in memory.
            Store::open("sqlite::memory:", &SCHEMA)
        }
    }

    fn source_name(&self) -> Result<String> {
        if let Some(name) = &self.source {
            return source_name(name);
        }
        source_name(import::file_stem(&self.file.file_name().unwrap_or_default().to_string_lossy()))
    }

    fn read(&self) -> Result<Vec<u8>> {
        bounded_file::read(&self.file, MAX_FILE_BYTES).with_context(|| format!("cannot read {}", self.file.display()))
    }

    fn options(&self, now: Timestamp) -> Result<Options> {
        let as_of = self.as_of.as_deref().map(|text| parse_as_of(text, now)).transpose()?;
        let only = self.only.iter().map(|text| split_pair("--where", text)).collect::<Result<_>>()?;
        let map = self.map.iter().map(|text| {
            let (field, column) = split_pair("--map", text)?;
            Ok((field.parse().map_err(|error| Usage(format!("--map: {error}")))?, column))
        });
        let map = map.collect::<Result<_>>()?;
        Ok(Options {
            format: self.format,
            map,
            only,
            partial: self.partial,
            as_of,
            now: Some(now),
            ..Options::default()
        })
    }

    fn report(&self, session: &Session, source: &str, changes: ImportCounts, import: &import::Import) -> Result<()> {
        let document = describe_import(source, changes, import, self.dry_run);
        session.print(&document, || {
            let head = if self.dry_run { "would import" } else { "imported" };
            let ImportCounts { added, changed, unchanged, removed } = changes;
            let mut lines = vec![format!(
                "{head} {source}: {added} added, {changed} changed, {unchanged} unchanged, {removed} removed; \
                 {} filtered out",
                import.filtered
            )];
            lines.extend(import_summary::lines(import));
            lines.join("\n")
        })
    }

    /// Prints the summary of a file without usable ATMs, and returns its error. The source is not changed.
    fn refuse(&self, session: &Session, source: &str, import: &import::Import, reason: NothingUsable) -> Result<()> {
        let document = describe_import(source, ImportCounts::default(), import, self.dry_run);
        session.print(&document, || {
            let mut lines = vec![format!("nothing imported from {source}: {} filtered out", import.filtered)];
            lines.extend(import_summary::lines(import));
            lines.join("\n")
        })?;
        Err(reason).with_context(|| format!("{}", self.file.display()))
    }
}

fn parse_as_of(text: &str, now: Timestamp) -> Result<Timestamp> {
    Ok(parse_data_date(text, Some(now)).map_err(|error| Usage(format!("--as-of '{text}' is {error}")))?)
}

/// Splits an argument `LEFT=RIGHT`.
fn split_pair(flag: &str, text: &str) -> Result<(String, String)> {
    let Some((left, right)) = text.split_once('=') else {
        return Err(Usage(format!("{flag} '{text}' needs a '='")).into());
    };
    Ok((left.trim().to_owned(), right.trim().to_owned()))
}

/// Checks the name of a source.
pub(super) fn source_name(name: &str) -> Result<String> {
    let is_fit = (1..=64).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    if !is_fit {
        return Err(Usage("the name of a source must have 1 to 64 characters".to_owned()).into());
    }
    if name == SAMPLE {
        return Err(Usage(format!("{SAMPLE} is the name of the built-in ATMs; choose another source name")).into());
    }
    Ok(name.to_owned())
}

/// Returns the parser of `--format`.
pub(super) fn formats() -> impl TypedValueParser<Value = FormatChoice> {
    PossibleValuesParser::new(FormatChoice::all().map(FormatChoice::name)).try_map(|name| name.parse::<FormatChoice>())
}

/// Creates the progress bar, which is drawn only if standard error is a terminal.
fn progress(hidden: bool) -> ProgressBar {
    if hidden {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}").expect("the template is well-formed");
    ProgressBar::new(STEPS).with_style(style)
}
