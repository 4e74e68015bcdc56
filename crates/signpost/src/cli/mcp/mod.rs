//! The command `signpost mcp`: runs the MCP server on standard input and output.

mod bundle;
mod install;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use clap::{Args, Subcommand};
use signpost_atm::catalogue::watch;
use signpost_atm::locator::{Deployment, Locator};
use signpost_atm::mcp;
use signpost_platform::clock::Clock;
use signpost_platform::observe::telemetry;
use signpost_store::Store;
use tokio::io::{BufReader, stdin, stdout};
use tokio_util::sync::CancellationToken;

use super::advisories::AdvisoriesFlag;
use super::{Common, Session};
use crate::config::{Config, Origin};
use crate::server::schema::SCHEMA;

#[derive(Debug, Args)]
pub(super) struct McpCommand {
    #[command(flatten)]
    flag: AdvisoriesFlag,
    /// Serve the fictional ATMs, with a notice in every reply, while the chosen database does not exist. The entries of
    /// 'mcp install' and bundles have this flag, so that the first start of a client succeeds
    #[arg(long)]
    fictional_without_data: bool,
    #[command(subcommand)]
    action: Option<McpAction>,
}

#[derive(Debug, Subcommand)]
enum McpAction {
    /// Add the locator to the assistants on this machine
    ///
    /// Clients are claude (Claude Code), codex, gemini, claude-desktop, cursor, vscode, windsurf
    /// and zed. Without CLIENT the command finds the installed clients, and asks for a selection.
    ///
    /// If the client's own command is on PATH (claude, codex, gemini, code), it adds the entry.
    /// Otherwise the configuration file of the client is edited in place: only the entry named
    /// signpost changes. The previous file is saved with the extension .bak. The entry runs this
    /// program with `mcp --data-dir` and absolute paths, and serves the fictional ATMs until that
    /// folder has data; with --url the client calls that address instead. The entry contains no key
    /// and no password. The command is idempotent.
    ///
    /// --uninstall removes the entry; if the file was not changed otherwise, it has its original
    /// content again.
    ///
    /// With --json, an array with a member for each client: `{client, file, changed, action,
    /// command}`, or `{client, error}`; `action` is added, replaced, removed or none; `command` is
    /// present if the client's own command made the change. With --print: `{client, file, text,
    /// command}`. Exit code 1 if a client could not be changed.
    Install(install::Install),
    /// Write a bundle for one-click installation in desktop clients
    ///
    /// The file (.mcpb) contains this program, a manifest and an icon, for this operating system.
    /// The client asks for the data folder. The file must not exist yet. With --json: `{file,
    /// bytes, sha256}`.
    Bundle(bundle::Bundle),
}

impl McpCommand {
    pub(super) async fn run(self, common: &Common) -> Result<()> {
        match self.action {
            None => serve(common, &self.flag, self.fictional_without_data).await,
            Some(McpAction::Install(command)) => command.run(common, &self.flag),
            Some(McpAction::Bundle(command)) => command.run(common, &self.flag),
        }
    }
}

/// Serves until standard input ends. Standard output contains only protocol messages.
async fn serve(common: &Common, flag: &AdvisoriesFlag, fictional_without_data: bool) -> Result<()> {
    let mut raw = common.raw_settings()?;
    flag.set(&mut raw);
    let session = Session { config: Config::new(&raw)?, json: common.json, api: None };
    let config = &session.config;
    let chooses_database =
        common.config.is_some() || config.database_url.is_some() || raw.origin("data_dir") != Some(&Origin::Default);
    let telemetry = telemetry::start(config.log, config.log_format, config.otlp_endpoint.as_ref())?;
    let must_exist = chooses_database && !fictional_without_data;
    let store = if must_exist || may_have_database(config) { session.store()? } else { open_samples(config)? };
    let catalogue = Arc::new(session.catalogue(&store, &Clock::System).await?);
    let server = mcp::server(catalogue.geocoder.is_some(), config.atm.card_domain.as_deref());
    let locator = Locator {
        catalogue: Arc::clone(&catalogue),
        clock: Clock::System,
        deployment: Deployment::Local,
        pages: config.public_url.as_ref().map(|url| url.as_str().trim_end_matches('/').to_owned()),
        store: Some(store.clone()),
    };
    let never = CancellationToken::new();
    let done = tokio::select! {
        done = signpost_mcp::serve_stdio(&server, &locator, BufReader::new(stdin()), stdout()) => Ok(done?),
        () = watch(&store, &catalogue, &Clock::System, &never) => Ok(()),
    };
    telemetry.end().await;
    done
}

/// Returns true if the database exists, or if this cannot be determined, because a database that cannot be read must not
/// be replaced by fictional ATMs.
fn may_have_database(config: &Config) -> bool {
    config.database_file().is_none_or(|file| file.try_exists().unwrap_or(true))
}

/// Opens a database in memory, which the catalogue fills with the fictional ATMs: a client's first start succeeds before
/// there is any data, and creates no file. If the user chose a database without the flag, a missing database is an error
/// instead: its name may be misspelt, and a real user would get fictional ATMs.
fn open_samples(config: &Config) -> Result<Store> {
    let folder = std::path::absolute(&config.data_dir).unwrap_or_else(|_| config.data_dir.clone());
    tracing::warn!(
        folder = %folder.display(),
        "no database in the folder: the ATMs are fictional, as every reply mentions. Import ATMs into this folder and \
         restart the client, or choose the folder of a server or an import with --data-dir"
    );
    Store::open("sqlite::memory:", &SCHEMA)
}

/// Returns the absolute path of this program.
fn this_program() -> Result<PathBuf> {
    let path = std::env::current_exe().context("cannot tell where this program is")?;
    // The path is not a file if the program was replaced while it was running.
    ensure!(path.is_file(), "this program was moved since its start: restart it");
    Ok(path)
}
