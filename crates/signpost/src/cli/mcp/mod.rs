//! `signpost mcp`

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
use tokio::io::{BufReader, stdin, stdout};
use tokio_util::sync::CancellationToken;

use super::advisories::AdvisoriesFlag;
use super::{Common, Session};

#[derive(Debug, Args)]
pub(super) struct McpCommand {
    #[command(flatten)]
    flag: AdvisoriesFlag,
    #[command(subcommand)]
    action: Option<McpAction>,
}

#[derive(Debug, Subcommand)]
enum McpAction {
    /// Add the locator to the assistants on this machine
    ///
    /// Clients are claude (Claude Code), codex, gemini, claude-desktop, cursor, vscode, windsurf and zed. Without CLIENT
    /// it finds those that are here, and asks which.
    ///
    /// The client's own command adds the entry where that is on PATH (claude, codex, gemini, code); else the file of the
    /// client is changed in place: one entry, named signpost, and nothing around it. What was there stays beside it as
    /// a file ending in .bak. The entry starts this program with `mcp --data-dir` and whole paths; with --url the
    /// client calls that address instead. No key and no password is written. Run again, it changes nothing.
    ///
    /// --uninstall takes the entry out; where nobody else changed the file since, every byte is as before.
    ///
    /// With --json, an array with a member for each client: `{client, file, changed, action, command}`, or
    /// `{client, error}`; `action` is added, replaced, removed or none; `command` is there where the client's own did it.
    /// With --print: `{client, file, text, command}`. Exit code 1 if a client could not be changed.
    Install(install::Install),
    /// Write a bundle that desktop clients install by a click
    ///
    /// The file (.mcpb) contains this program, a manifest and an icon, for the system that it is written on. The client
    /// asks for the data folder. The file must not exist yet. With --json: `{file, bytes, sha256}`.
    Bundle(bundle::Bundle),
}

impl McpCommand {
    pub(super) async fn run(self, common: &Common) -> Result<()> {
        match self.action {
            None => serve(&common.session_with(|raw| self.flag.set(raw))?).await,
            Some(McpAction::Install(command)) => command.run(common, &self.flag),
            Some(McpAction::Bundle(command)) => command.run(common, &self.flag),
        }
    }
}

/// Serves until standard input ends. Standard output contains only protocol messages.
async fn serve(session: &Session) -> Result<()> {
    let config = &session.config;
    let telemetry = telemetry::start(config.log, config.log_format, config.otlp_endpoint.as_ref())?;
    let store = session.store()?;
    let catalogue = Arc::new(session.catalogue(&store, &Clock::System).await?);
    let server = mcp::server(catalogue.geocoder.is_some(), config.atm.card_domain.as_deref());
    let locator = Locator {
        catalogue: Arc::clone(&catalogue),
        clock: Clock::System,
        deployment: Deployment::Local,
        public_url: config.public_url.clone(),
    };
    let never = CancellationToken::new();
    let done = tokio::select! {
        done = signpost_mcp::serve_stdio(&server, &locator, BufReader::new(stdin()), stdout()) => Ok(done?),
        () = watch(&store, &catalogue, &Clock::System, &never) => Ok(()),
    };
    telemetry.end().await;
    done
}

/// Returns the absolute path of this program.
fn this_program() -> Result<PathBuf> {
    let path = std::env::current_exe().context("cannot tell where this program is")?;
    // False if the program was replaced while it was running.
    ensure!(path.is_file(), "this program is no longer where it was started from: start it anew");
    Ok(path)
}
