//! The command line.

mod atms;
mod audit;
mod backup;
mod conformance;
mod deliveries;
mod demo;
mod domains;
mod gazetteer;
mod keys;
mod mcp;
mod moving;
mod places;
mod serve;
mod users;
mod wallet;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Error, Result, anyhow};
use clap::{Args, Parser, Subcommand};
use serde::Serialize;
use signpost_atm::catalogue::Catalogue;
use signpost_atm::places::Places;
use signpost_atm::places::geocoder::Geocoder;
use signpost_platform::clock::Clock;
use signpost_platform::outbound::{Names, Outbound};
use signpost_store::{Missing, Store};

use crate::config::{BadSetting, Config, DEFAULT, Origin, RawSettings};
use crate::server::schema::SCHEMA;

/// Bitcoin ATM locator for AI assistants, and passwordless login with a wallet and a QR code.
#[derive(Debug, Parser)]
#[command(name = "signpost", version, arg_required_else_help = true)]
#[command(after_help = "Start with 'signpost demo' to look around, or 'signpost serve'. Neither needs configuration.")]
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

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the server
    ///
    /// Prints its addresses, the location of its data, and commands to try next. With --json it prints `{version,
    /// listen, data, public_address, mcp, sse, health, live, sandbox}`.
    ///
    /// SIGTERM or SIGINT stops it: no new connections, up to 10 seconds for running requests, everything written, exit
    /// code 0.
    Serve(serve::Serve),
    /// Try the login: a server with sample data and a shop, without any configuration
    ///
    /// Reads no configuration and no variables. The data is in memory, and nothing is left behind; with --data-dir it is
    /// kept there. The shop listens on the next free port, logs people in on the server's login page, and shows its own
    /// code. With --json: `{server, shop, wallet, mcp}` on one line; `wallet` is null.
    ///
    /// Stops like 'signpost serve'.
    Demo(demo::DemoCommand),
    /// Manage API keys
    #[command(subcommand)]
    Keys(keys::Keys),
    /// Manage domains and their signing secrets
    #[command(subcommand)]
    Domains(domains::Domains),
    /// Manage the users of hosted domains, and the keys that log them in
    #[command(subcommand)]
    Users(users::Users),
    /// Inspect and retry deliveries of events
    #[command(subcommand)]
    Deliveries(deliveries::Deliveries),
    /// Read the audit log: who did what to keys, domains and secrets
    #[command(subcommand)]
    Audit(audit::Audit),
    /// Back up the embedded database, even while a server is running
    ///
    /// The copy is complete and consistent. It gets its name once it is on disk. The file must not exist yet. With
    /// --json: `{file, bytes}`.
    Backup(backup::Backup),
    /// Copy a database into an empty one, for example from SQLite to PostgreSQL
    ///
    /// Counts the rows on both sides. No server may run on either database. If interrupted, run it again to continue;
    /// until it has finished, no server starts on the new database. The old database is not changed. URLs are as
    /// in --database-url, such as sqlite:signpost-data/signpost.sqlite.
    Move(moving::Move),
    /// Update the database schema; a server also does this at start
    ///
    /// With --json: `{from, to, waiting}`.
    Migrate(moving::Migrate),
    /// Import, search and check ATMs
    #[command(subcommand)]
    Atms(atms::Atms),
    /// Manage the place names behind location search
    #[command(subcommand)]
    Gazetteer(gazetteer::GazetteerCommand),
    /// Show which place a text resolves to
    ///
    /// Exit code 1 if it resolves to none.
    Places(places::PlacesCommand),
    /// Run the MCP server on standard input and output, for one client on this machine
    ///
    /// Standard output has messages only. The mode is `local`, as `signpost://coverage` shows.
    Mcp,
    /// Test a site's login endpoints, whatever language it is written in
    ///
    /// The kit plays the service: set the site's API URL to the address of --api-listen, with any key and any prefix.
    /// It opens the login page, keeps its cookies, finds `qr_data` and the `sid` on it, answers as wallets do,
    /// correctly and incorrectly, polls, and posts events. It prints a line for each rule, with what was expected and
    /// what came. Exit code 1 if a rule is broken.
    ///
    /// With --json: `{holds, broken, not_tested, checks: [{rule, verdict, expected, got}]}`.
    Conformance(Box<conformance::Conformance>),
    /// Use a wallet from the terminal, for logins and tests
    #[command(subcommand)]
    Wallet(wallet::WalletCommand),
    /// Print the default configuration, with comments
    ///
    /// It reads no configuration, so it works if yours is broken. With --json it prints the settings without comments.
    Config,
}

/// What a command works with.
struct Session {
    config: Config,
    json: bool,
}

impl Cli {
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
                ExitCode::from(if error.is::<BadSetting>() || error.is::<Usage>() { 2 } else { 1 })
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
            Command::Deliveries(command) => command.run(&session()?).await,
            Command::Audit(command) => command.run(&session()?).await,
            Command::Backup(command) => command.run(&session()?),
            Command::Move(command) => command.run(&session()?).await,
            Command::Migrate(command) => command.run(&session()?).await,
            Command::Atms(command) => command.run(&session()?).await,
            Command::Gazetteer(command) => command.run(&session()?),
            Command::Places(command) => command.run(&session()?).await,
            Command::Mcp => mcp::run(&session()?).await,
            Command::Conformance(command) => command.run(&session()?).await,
            Command::Wallet(command) => command.run(&session()?).await,
            // Asked for above all by those whose own configuration is broken: nothing else is read.
            Command::Config if common.json => {
                say_json(&serde_json::to_string_pretty(&DEFAULT.parse::<toml::Table>()?)?)
            }
            Command::Config => say(DEFAULT.trim_end()),
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
        Catalogue::open(store, clock, &self.config.data_dir, self.geocoder()).await
    }

    /// The external geocoder, where the operator named one.
    fn geocoder(&self) -> Option<Geocoder> {
        let settings = self.config.atm.external_geocoder.clone()?;
        Some(Geocoder::new(settings, Outbound::new(&Names::System)))
    }

    /// Prints a result: as one JSON document, or as people read it.
    fn print(&self, result: &impl Serialize, text: impl FnOnce() -> String) -> Result<()> {
        if self.json { say_json(&serde_json::to_string_pretty(result)?) } else { say(&text()) }
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
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
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
