//! The command `signpost config`: prints the default and the effective settings.

use anyhow::Result;
use clap::{Args, Subcommand};
use serde_json::json;

use super::{Common, print, print_json, print_text};
use crate::config::{Config, DEFAULT, Origin, ShownSetting};

/// Settings that are always shown, even with their default values.
const ALWAYS_SHOWN: [&str; 5] = ["listen", "public_url", "services", "console", "data_dir"];

#[derive(Debug, Args)]
pub(super) struct ConfigCommand {
    #[command(subcommand)]
    command: Option<ConfigSubcommand>,
}

#[derive(Debug, Subcommand)]
enum ConfigSubcommand {
    /// Show the effective settings with their origin, and warnings
    ///
    /// Reads the files and environment variables that a server in this folder would read. An
    /// unknown setting or an invalid value is an error, with exit code 2. Warnings follow the
    /// settings, with the line to add. With --json: `{file, settings: [{key, value, origin}],
    /// warnings: [{found, mend}]}`.
    Check,
}

impl ConfigCommand {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        match self.command {
            Some(ConfigSubcommand::Check) => check(common),
            // Reads no configuration, so that it works if the configuration is broken.
            None if common.json => print_json(&serde_json::to_string_pretty(&DEFAULT.parse::<toml::Table>()?)?),
            None => print_text(DEFAULT.trim_end()),
        }
    }
}

fn check(common: &Common) -> Result<()> {
    let raw = common.raw_settings()?;
    let config = Config::new(&raw)?;
    let warnings = config.warnings();
    let mut settings: Vec<_> = config.shown.iter().collect();
    settings.retain(|setting| setting.origin != Origin::Default || ALWAYS_SHOWN.contains(&&*setting.key));
    let file = raw.file().map(|path| path.display().to_string());
    let rows =
        settings.iter().map(|one| json!({ "key": one.key, "value": one.value, "origin": one.origin.to_string() }));
    let listed = warnings.iter().map(|warning| json!({ "found": warning.found, "mend": warning.remedy }));
    let document = json!({
        "file": file,
        "settings": rows.collect::<Vec<_>>(),
        "warnings": listed.collect::<Vec<_>>(),
    });
    print(common.json, &document, || {
        let mut lines = vec![match &file {
            Some(file) => format!("{file}  ok"),
            None => "no file sets anything".to_owned(),
        }];
        let keys = settings.iter().map(|one| one.key.len()).max().unwrap_or(0);
        let values = settings.iter().map(|one| shown(one).chars().count()).max().unwrap_or(0).min(48);
        for one in &settings {
            lines.push(format!("{:keys$}  {:values$}  {}", one.key, shown(one), one.origin));
        }
        lines.extend(warnings.iter().map(|warning| format!("\nwarn  {}\n      {}", warning.found, warning.remedy)));
        lines.join("\n")
    })
}

fn shown(setting: &ShownSetting) -> &str {
    if setting.value.is_empty() { "not set" } else { &setting.value }
}
