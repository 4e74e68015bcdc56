//! The command line of the program: parses the arguments, runs a command, and prints its result.

mod advisories;
mod api;
mod atms;
mod audit;
mod backend;
mod backup;
mod clients;
mod command;
mod config;
mod conformance;
mod console;
mod deliveries;
mod demo;
mod doctor;
mod domain_filter;
mod domains;
mod examples;
mod gazetteer;
mod help;
mod keys;
mod listen;
mod mcp;
mod move_database;
mod places;
mod reports;
mod serve;
mod shell;
mod signer;
mod signing_keys;
mod status;
mod status_through_api;
mod stop_signal;
mod target;
mod trigger;
mod users;
mod wallet;
mod webhook;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Error, Result, anyhow, bail};
use clap::{Args, FromArgMatches, Parser};
use serde::Serialize;
use signpost_atm::advisories::InvalidAdvisories;
use signpost_atm::catalogue::Catalogue;
use signpost_atm::places::Places;
use signpost_atm::places::geocoder::Geocoder;
use signpost_platform::clock::Clock;
use signpost_platform::outbound::{NameResolver, Outbound};
use signpost_store::{DatabaseMissing, Store};

use self::api::ServiceApi;
use self::command::Command;
use crate::config::{Config, InvalidSetting, Origin, RawSettings};
use crate::server::schema::SCHEMA;

pub use self::help::{GROUPS, command};

/// Bitcoin ATM locator for AI assistants, and passwordless login with a wallet and a QR code.
#[derive(Debug, Parser)]
#[command(name = "signpost", version, arg_required_else_help = true)]
pub struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

/// The flags of every command.
#[derive(Debug, Args)]
struct Common {
    /// Data folder [default: ./signpost-data]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Common options")]
    data_dir: Option<String>,
    /// Database: sqlite:FILE or `postgres://…` [default: a file in the data folder]
    #[arg(long, global = true, value_name = "URL", help_heading = "Common options")]
    database_url: Option<String>,
    /// Configuration file [default: signpost.toml, if present]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Common options")]
    config: Option<PathBuf>,
    /// Print only a JSON document
    #[arg(long, global = true, help_heading = "Common options")]
    json: bool,
}

/// The settings that a command runs with, and how it prints its results.
struct Session {
    config: Config,
    json: bool,
    /// The API of a service, if it is the target instead of a database.
    api: Option<Arc<ServiceApi>>,
}

impl Cli {
    /// Parses the arguments of the process. Exits if they are wrong or ask for help.
    #[must_use]
    pub fn read() -> Self {
        Self::from_arg_matches(&command().get_matches()).unwrap_or_else(|error| error.exit())
    }

    /// Runs the command: 0 done, 1 failed, 2 usage.
    #[must_use]
    pub fn run(self) -> ExitCode {
        let Err(error) = self.run_to_end() else { return ExitCode::SUCCESS };
        // All causes are printed on a single line, for scripts and users.
        eprintln!("{}", signpost_text::clean_line(&format!("signpost: {error:#}")));
        let is_usage = error.is::<InvalidSetting>() || error.is::<Usage>() || error.is::<InvalidAdvisories>();
        ExitCode::from(if is_usage { 2 } else { 1 })
    }

    fn run_to_end(self) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let done = runtime.block_on(self.dispatch());
        // Tasks that still run on other threads are abandoned after the timeout.
        runtime.shutdown_timeout(crate::server::THREADS_TIMEOUT);
        done
    }

    #[expect(clippy::cognitive_complexity, reason = "one arm for each command")]
    async fn dispatch(self) -> Result<()> {
        let Self { common, command } = self;
        match command {
            Command::Serve(flags) => serve::run(common.session_with(|raw| flags.set(raw))?).await,
            Command::Demo(command) => command.run(&common).await,
            Command::Keys(command) => command.run(&common.session()?).await,
            Command::Domains { api, command } => command.run(&common.session_for(&api, false).await?).await,
            Command::Users { api, command } => command.run(&common.session_for(&api, false).await?).await,
            Command::Clients { api, command } => {
                let session = common.session_for(&api, command.prints_only_data()).await?;
                command.run(&session).await
            }
            Command::SigningKeys(command) => command.run(&common.session()?).await,
            Command::Deliveries { api, command } => command.run(&common.session_for(&api, false).await?).await,
            Command::Listen { api, command } => command.run(&common.session_for(&api, false).await?).await,
            Command::Trigger { command, .. } if command.is_signed_with_given_secret() => {
                command.run(&common.session()?).await
            }
            Command::Trigger { api, command } => command.run(&common.session_for(&api, false).await?).await,
            Command::Webhook(command) => command.run(&common.session()?).await,
            Command::Audit(command) => command.run(&common.session()?).await,
            Command::Console(command) => command.run(&common.session()?).await,
            Command::Backup(command) => command.run(&common.session()?),
            Command::Move(command) => command.run(&common.session()?).await,
            Command::Migrate(command) => command.run(&common.session()?).await,
            Command::Atms(command) => command.run(&common.session()?).await,
            Command::Reports(command) => command.run(&common.session()?).await,
            Command::Advisories(command) => command.run(&common),
            Command::Gazetteer(command) => command.run(&common.session()?),
            Command::Places(command) => command.run(&common.session()?).await,
            Command::Mcp(command) => command.run(&common).await,
            Command::Conformance(command) => command.run(&common.session()?).await,
            Command::Wallet(command) => command.run(&common.session()?).await,
            Command::Status { api } => status::run(&common.session_for(&api, false).await?).await,
            Command::Doctor(command) => command.run(&common.session()?).await,
            Command::Config(command) => command.run(&common),
            Command::Completions(command) => command.run(&common),
            Command::Man(command) => command.run(&common),
        }
    }
}

/// The error for wrong use of a command. The exit code is 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Usage(String);

impl Common {
    /// Reads the settings of a command that has no flags for settings.
    fn session(&self) -> Result<Session> {
        self.session_with(|_| {})
    }

    /// Reads the settings; `set_flags` adds the flags of the command, overriding all others.
    fn session_with(&self, set_flags: impl FnOnce(&mut RawSettings)) -> Result<Session> {
        let mut raw = self.raw_settings()?;
        set_flags(&mut raw);
        Ok(Session { config: Config::new(&raw)?, json: self.json, api: None })
    }

    /// Reads the files, the environment and the common flags.
    fn raw_settings(&self) -> Result<RawSettings> {
        let mut raw = RawSettings::default();
        raw.read_file(self.config.as_deref()).map_err(|error| Usage(format!("{error:#}")))?;
        #[expect(clippy::disallowed_methods, reason = "the edge: configuration is handed on from here")]
        let variables = std::env::vars_os();
        raw.read_variables(variables).map_err(|error| Usage(error.to_string()))?;
        for (key, value) in [("data_dir", &self.data_dir), ("database_url", &self.database_url)] {
            if let Some(value) = value {
                raw.set(key, value, Origin::Flag);
            }
        }
        Ok(raw)
    }
}

impl Session {
    /// Opens the database. It must exist, so that a command in the wrong folder does not create another database.
    ///
    /// # Errors
    /// Returns an error if the target is the API of a service, whose keys have no access to the database.
    fn store(&self) -> Result<Store> {
        if self.api.is_some() {
            bail!("an API key cannot do this: run the command on the server, without --api");
        }
        Store::open_existing(&self.config.database_url(), &SCHEMA).map_err(|error| self.explain_missing(error))
    }

    /// Opens the database, or creates it if it does not exist.
    fn new_store(&self) -> Result<Store> {
        if self.config.database_url.is_none() {
            crate::server::prepare_data_dir(&self.config.data_dir)?;
        }
        Store::open(&self.config.database_url(), &SCHEMA)
    }

    /// Returns true if the database exists. A database that is not a file counts as existing.
    fn has_store(&self) -> bool {
        self.config.database_file().is_none_or(|file| file.exists())
    }

    /// Adds to [`DatabaseMissing`] the folder of the database and how to choose another; returns other errors
    /// unchanged.
    fn explain_missing(&self, error: Error) -> Error {
        if !error.is::<DatabaseMissing>() {
            return error;
        }
        if self.config.database_url.is_some() {
            return anyhow!("{error}: choose another with --database-url");
        }
        let folder = &self.config.data_dir;
        let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
        anyhow!(
            "no database in the folder {}: choose another with --data-dir, or create one with 'signpost serve'",
            whole.display()
        )
    }

    /// Opens the place names.
    fn places(&self) -> Result<Places> {
        Places::open(&self.config.data_dir)
    }

    /// Opens the ATMs and the place names.
    async fn catalogue(&self, store: &Store, clock: &Clock) -> Result<Catalogue> {
        let advisories = self.config.atm.advisories.as_deref();
        Catalogue::open(store, clock, &self.config.data_dir, advisories, self.geocoder()).await
    }

    /// Returns the external geocoder, if configured.
    fn geocoder(&self) -> Option<Geocoder> {
        let settings = self.config.atm.external_geocoder.clone()?;
        Some(Geocoder::new(settings, Outbound::new(&NameResolver::System)))
    }

    /// Prints a result, as a JSON document or as text.
    fn print(&self, result: &impl Serialize, text: impl FnOnce() -> String) -> Result<()> {
        print(self.json, result, text)
    }

    /// Prints only the secret on standard output, for scripts, and a note for people on standard error; or the result
    /// as a single JSON document.
    fn print_secret(&self, result: &impl Serialize, secret: &str, note: &str) -> Result<()> {
        self.print(result, || secret.to_owned())?;
        self.print_note(note);
        Ok(())
    }

    /// Prints a note for people on standard error, unless the output is JSON.
    fn print_note(&self, note: &str) {
        if !self.json {
            eprintln!("\n{note}");
        }
    }
}

/// Prints a result, as a JSON document or as text.
fn print(json: bool, result: &impl Serialize, text: impl FnOnce() -> String) -> Result<()> {
    if json { print_json(&serde_json::to_string_pretty(result)?) } else { print_text(&text()) }
}

/// Prints the consequences of a removal, and asks for confirmation unless `yes` is set.
///
/// # Errors
/// Returns an error if the answer is no, or standard input is not a terminal.
fn confirm_removal(yes: bool, consequences: &str, question: &str) -> Result<()> {
    if confirm(yes, consequences, question)? { Ok(()) } else { bail!("nothing was removed") }
}

/// Prints the consequences of an action. Returns true if the user confirms it, or if `yes` is set.
///
/// # Errors
/// Returns an error if standard input is not a terminal.
fn confirm(yes: bool, consequences: &str, question: &str) -> Result<bool> {
    if yes {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        return Err(Usage(format!(
            "{consequences}; standard input is not a terminal: add --yes to do it without asking"
        ))
        .into());
    }
    eprintln!("{}", signpost_text::clean_line(consequences));
    ask_yes_or_no(question)
}

/// Asks a question that defaults to no. Returns true if the answer is yes.
fn ask_yes_or_no(question: &str) -> Result<bool> {
    let answer = ask(&format!("{question} [y/N] "))?;
    Ok(matches!(answer.to_lowercase().as_str(), "y" | "yes"))
}

/// Prints a question on standard error, and reads a line from standard input.
fn ask(question: &str) -> Result<String> {
    eprint!("{question}");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

/// Prints a JSON document, with control characters escaped.
fn print_json(document: &str) -> Result<()> {
    print_text(&signpost_text::escape_json(document))
}

/// Prints a text without its control characters, which may be untrusted. A closed pipe is not an error.
fn print_text(text: &str) -> Result<()> {
    match writeln!(std::io::stdout().lock(), "{}", signpost_text::clean_text(text)) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        printed => Ok(printed?),
    }
}

/// Returns a table with columns as wide as their widest text.
fn table<const N: usize>(headings: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let mut lines = vec![headings.map(str::to_owned)];
    // A line break in a cell would look like another row.
    lines.extend(rows.into_iter().map(|row| row.map(|cell| signpost_text::clean_line(&cell).into_owned())));
    let mut widths = [0; N];
    for line in &lines {
        for (width, text) in widths.iter_mut().zip(line) {
            *width = text.chars().count().max(*width);
        }
    }
    let mut table = String::new();
    for line in lines {
        let padded: Vec<_> = line.iter().zip(widths).map(|(text, width)| format!("{text:width$}")).collect();
        table.push_str(padded.join("  ").trim_end());
        table.push('\n');
    }
    table.truncate(table.len() - 1);
    table
}

/// Quotes a word for a shell.
fn shell_quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Returns lines with a label and a text; the texts are aligned.
fn labelled_lines(lines: &[(&str, String)]) -> String {
    lines.iter().map(|(label, text)| format!("{label:9} {text}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_definition_is_valid() {
        command().debug_assert();
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_text() {
        let rows = [["a".to_owned(), "b".to_owned()], ["long".to_owned(), String::new()]];
        assert_eq!(table(["id", "name"], rows), "id    name\na     b\nlong");
    }

    #[test]
    fn cell_is_one_line_of_display_width() {
        let rows = [["a\u{200b}\u{202e}".to_owned(), "b\nc\u{1b}[31m".to_owned()]];
        assert_eq!(table(["id", "name"], rows), "id  name\na   b c [31m");
    }
}
