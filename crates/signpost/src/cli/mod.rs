//! The command line.

mod advisories;
mod atms;
mod audit;
mod backup;
mod clients;
mod command;
mod config;
mod conformance;
mod console;
mod deliveries;
mod demo;
mod doctor;
mod domains;
mod examples;
mod gazetteer;
mod help;
mod keys;
mod listen;
mod mcp;
mod moving;
mod places;
mod reports;
mod serve;
mod shell;
mod signer;
mod signing_keys;
mod status;
mod stop_signal;
mod trigger;
mod users;
mod wallet;
mod webhook;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Error, Result, anyhow, bail};
use clap::{Args, FromArgMatches, Parser};
use serde::Serialize;
use signpost_atm::advisories::BadAdvisories;
use signpost_atm::catalogue::Catalogue;
use signpost_atm::places::Places;
use signpost_atm::places::geocoder::Geocoder;
use signpost_platform::clock::Clock;
use signpost_platform::outbound::{Names, Outbound};
use signpost_store::{Missing, Store};

use self::command::Command;
use crate::config::{BadSetting, Config, Origin, RawSettings};
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

/// What every command takes.
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
    /// Print one JSON document and nothing else
    #[arg(long, global = true, help_heading = "Common options")]
    json: bool,
}

/// What a command works with.
struct Session {
    config: Config,
    json: bool,
}

impl Cli {
    /// What was typed. Where that is not understood, or asks for help, the program ends here.
    #[must_use]
    pub fn read() -> Self {
        Self::from_arg_matches(&command().get_matches()).unwrap_or_else(|error| error.exit())
    }

    /// Runs the command: 0 done, 1 failed, 2 usage.
    #[must_use]
    pub fn run(self) -> ExitCode {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let done = runtime.map_err(Into::into).and_then(|runtime| {
            let done = runtime.block_on(self.dispatch());
            // What still runs on other threads has nobody who waits for it.
            runtime.shutdown_timeout(crate::server::LEAVE);
            done
        });
        match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                // The causes on one line: a script and a person both read it.
                eprintln!("{}", signpost_text::line(&format!("signpost: {error:#}")));
                let is_usage = error.is::<BadSetting>() || error.is::<Usage>() || error.is::<BadAdvisories>();
                ExitCode::from(if is_usage { 2 } else { 1 })
            }
        }
    }

    async fn dispatch(self) -> Result<()> {
        let Self { common, command } = self;
        let session = || Session::new(&common.raw_settings()?, common.json);
        match command {
            Command::Serve(flags) => {
                let mut raw = common.raw_settings()?;
                flags.set(&mut raw);
                serve::run(Session::new(&raw, common.json)?).await
            }
            Command::Demo(command) => command.run(&common).await,
            Command::Keys(command) => command.run(&session()?).await,
            Command::Domains(command) => command.run(&session()?).await,
            Command::Users(command) => command.run(&session()?).await,
            Command::Clients(command) => command.run(&session()?).await,
            Command::SigningKeys(command) => command.run(&session()?).await,
            Command::Deliveries(command) => command.run(&session()?).await,
            Command::Listen(command) => command.run(&session()?).await,
            Command::Trigger(command) => command.run(&session()?).await,
            Command::Webhook(command) => command.run(&session()?).await,
            Command::Audit(command) => command.run(&session()?).await,
            Command::Console(command) => command.run(&session()?).await,
            Command::Backup(command) => command.run(&session()?),
            Command::Move(command) => command.run(&session()?).await,
            Command::Migrate(command) => command.run(&session()?).await,
            Command::Atms(command) => command.run(&session()?).await,
            Command::Reports(command) => command.run(&session()?).await,
            Command::Advisories(command) => {
                let mut raw = common.raw_settings()?;
                command.set(&mut raw);
                command.run(&Session::new(&raw, common.json)?)
            }
            Command::Gazetteer(command) => command.run(&session()?),
            Command::Places(command) => command.run(&session()?).await,
            Command::Mcp(command) => command.run(&common).await,
            Command::Conformance(command) => command.run(&session()?).await,
            Command::Wallet(command) => command.run(&session()?).await,
            Command::Status => status::run(&session()?).await,
            Command::Doctor(command) => command.run(&session()?).await,
            Command::Config(command) => command.run(&common),
            Command::Completions(command) => command.run(&common),
            Command::Man(command) => command.run(&common),
        }
    }
}

/// Wrong use of a command: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Usage(String);

impl Common {
    /// What the files, the environment and the common flags say.
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
    fn new(raw: &RawSettings, json: bool) -> Result<Self> {
        Ok(Self { config: Config::new(raw)?, json })
    }

    /// The database, which must be there: a command that is run in the wrong folder shall not make another one.
    fn store(&self) -> Result<Store> {
        Store::open_existing(&self.config.database_url(), &SCHEMA).map_err(|error| self.where_from(error))
    }

    /// The database, made where there is none yet.
    fn new_store(&self) -> Result<Store> {
        if self.config.database_url.is_none() {
            crate::server::prepare_data_dir(&self.config.data_dir)?;
        }
        Store::open(&self.config.database_url(), &SCHEMA)
    }

    /// Whether there is a database, as far as a look into the folder tells.
    fn has_store(&self) -> bool {
        self.config.database_file().is_none_or(|file| file.exists())
    }

    /// Says of a database that is not there in which folder it was looked for, and how to name another.
    fn where_from(&self, error: Error) -> Error {
        if !error.is::<Missing>() {
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

    /// The place names.
    fn places(&self) -> Result<Places> {
        Places::open(&self.config.data_dir)
    }

    /// The machines and the places.
    async fn catalogue(&self, store: &Store, clock: &Clock) -> Result<Catalogue> {
        let advisories = self.config.atm.advisories.as_deref();
        Catalogue::open(store, clock, &self.config.data_dir, advisories, self.geocoder()).await
    }

    /// The external geocoder, where the operator named one.
    fn geocoder(&self) -> Option<Geocoder> {
        let settings = self.config.atm.external_geocoder.clone()?;
        Some(Geocoder::new(settings, Outbound::new(&Names::System)))
    }

    /// Prints a result: as one JSON document, or as people read it.
    fn print(&self, result: &impl Serialize, text: impl FnOnce() -> String) -> Result<()> {
        print(self.json, result, text)
    }

    /// Prints a secret alone, so that a script can keep what is printed, and what a person should know of it on standard
    /// error; or all of it as one JSON document.
    fn hand_over(&self, result: &impl Serialize, secret: &str, words: &str) -> Result<()> {
        self.print(result, || secret.to_owned())?;
        if !self.json {
            eprintln!("\n{words}");
        }
        Ok(())
    }
}

/// Prints a result: as one JSON document, or as people read it.
fn print(json: bool, result: &impl Serialize, text: impl FnOnce() -> String) -> Result<()> {
    if json { say_json(&serde_json::to_string_pretty(result)?) } else { say(&text()) }
}

/// Tells what is lost, and asks for a yes; with `yes` it asks nobody.
fn confirm_loss(yes: bool, lost: &str, question: &str) -> Result<()> {
    if is_agreed(yes, lost, question)? { Ok(()) } else { bail!("nothing was removed") }
}

/// Tells what follows, and asks for a yes; with `yes` it asks nobody.
fn is_agreed(yes: bool, told: &str, question: &str) -> Result<bool> {
    if yes {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        return Err(
            Usage(format!("{told}; standard input is not a terminal: add --yes to do it without asking")).into()
        );
    }
    eprintln!("{}", signpost_text::line(told));
    let answer = ask(&format!("{question} [y/N] "))?;
    Ok(matches!(answer.to_lowercase().as_str(), "y" | "yes"))
}

/// What a person at the terminal types.
fn ask(question: &str) -> Result<String> {
    eprint!("{question}");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

/// Prints a document: a program reads what it says, and a terminal only shows it.
fn say_json(document: &str) -> Result<()> {
    say(&signpost_text::json(document))
}

/// Prints a result, without what a stranger may have written into it to move a terminal. A reader that went away wanted
/// no more.
fn say(text: &str) -> Result<()> {
    match writeln!(std::io::stdout().lock(), "{}", signpost_text::lines(text)) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        printed => Ok(printed?),
    }
}

/// Rows under headings, in columns as wide as their widest text.
fn table<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> String {
    // A cell that began a line of its own would look like another row.
    let rows: Vec<_> = rows.iter().map(|row| row.each_ref().map(|cell| signpost_text::line(cell))).collect();
    let mut widths = headings.map(str::len);
    for row in &rows {
        for (width, text) in widths.iter_mut().zip(row) {
            *width = text.chars().count().max(*width);
        }
    }
    let line = |texts: [&str; N]| {
        let padded: Vec<_> = texts.iter().zip(widths).map(|(text, width)| format!("{text:width$}")).collect();
        padded.join("  ").trim_end().to_owned()
    };
    let rows = rows.iter().map(|row| line(row.each_ref().map(AsRef::as_ref)));
    std::iter::once(line(headings)).chain(rows).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_text() {
        let rows = [["a".to_owned(), "b".to_owned()], ["long".to_owned(), String::new()]];
        assert_eq!(table(["id", "name"], &rows), "id    name\na     b\nlong");
    }

    #[test]
    fn a_cell_is_one_line_and_as_wide_as_it_looks() {
        let rows = [["a\u{200b}\u{202e}".to_owned(), "b\nc\u{1b}[31m".to_owned()]];
        assert_eq!(table(["id", "name"], &rows), "id  name\na   b c [31m");
    }
}
