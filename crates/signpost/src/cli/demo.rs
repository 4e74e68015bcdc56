//! The command `signpost demo`: runs a server with sample data and a shop.

use anyhow::Result;
use clap::Args;
use serde_json::json;

use super::serve::program;
use super::stop_signal::stop_signal;
use super::{Common, Usage, print_text};
use crate::config::{Config, Origin, RawSettings};
use crate::demo::{Demo, free_address};

#[derive(Debug, Args)]
pub(super) struct DemoCommand {
    /// Listen address on this machine [default: 127.0.0.1:8080, or the next free port]; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
}

impl DemoCommand {
    pub(super) async fn run(self, common: &Common) -> Result<()> {
        let config = self.config(common)?;
        let stop = stop_signal()?;
        let is_kept = config.database_url.is_none();
        let demo = Demo::start(config).await?;
        if common.json {
            println!("{}", links(&demo));
        } else {
            print_text(&banner(&demo, is_kept))?;
        }
        demo.run(stop).await
    }

    /// Returns the default settings, without the operator's files and variables: a demo must not use their data.
    fn config(&self, common: &Common) -> Result<Config> {
        for (flag, is_given) in
            [("--config", common.config.is_some()), ("--database-url", common.database_url.is_some())]
        {
            if is_given {
                let reason = format!("{flag} is not for the demo, which takes no configuration; use 'signpost serve'");
                return Err(Usage(reason).into());
            }
        }
        let mut raw = RawSettings::default();
        // The terminal shows only the banner and problems; people use the browser.
        raw.set("log", "warn", Origin::Flag);
        match &common.data_dir {
            Some(folder) => raw.set("data_dir", folder, Origin::Flag),
            None => raw.set("database_url", "sqlite::memory:", Origin::Flag),
        }
        if let Some(listen) = &self.listen {
            raw.set("listen", listen, Origin::Flag);
        }
        let mut config = Config::new(&raw)?;
        if !config.public_address(config.listen).starts_with("http://localhost:") {
            let reason = "--listen: the demo is for this machine alone; allowed is 127.0.0.1:PORT or [::1]:PORT";
            return Err(Usage(reason.to_owned()).into());
        }
        if self.listen.is_none() {
            config.listen = free_address(config.listen)?;
        }
        Ok(config)
    }
}

/// Returns the addresses as a line of JSON.
fn links(demo: &Demo) -> serde_json::Value {
    json!({ "server": demo.server, "shop": demo.shop, "wallet": demo.wallet, "mcp": demo.mcp })
}

fn banner(demo: &Demo, is_kept: bool) -> String {
    let Demo { server, shop, wallet, mcp, .. } = demo;
    let version = env!("CARGO_PKG_VERSION");
    let program = program();
    let kept = if is_kept { "kept in the data folder" } else { "in memory, lost when it stops" };
    format!(
        "signpost {version} demo: everything is a sandbox, {kept}

  Shop     {shop}        log in or create an account there
  Wallet   {wallet}        keeps your keys in this browser
  Server   {server}        what runs here: the login service and sample ATMs
  MCP      {mcp}    the address of the ATM locator, for your assistant

The login page takes passkeys, the wallet in this browser, Lightning wallets and wallets that read its code. A second
terminal can play a wallet, with what the page shows: copy the link of the code, and type the number that stands beside it.

  {program} wallet new
  {program} wallet scan 'svc://…'
  {program} wallet lnurl 'lightning:lnurl1…'    the same, as a Lightning wallet

Stop with Ctrl-C."
    )
}
