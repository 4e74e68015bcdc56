//! `signpost config`

use anyhow::Result;
use clap::{Args, Subcommand};
use serde_json::json;

use super::{Common, print, say, say_json};
use crate::config::{Config, DEFAULT, Origin, ShownSetting};

/// What is shown even where nobody set it.
const ALWAYS: [&str; 5] = ["listen", "public_url", "services", "console", "data_dir"];

#[derive(Debug, Args)]
pub(super) struct ConfigCommand {
    #[command(subcommand)]
    command: Option<ConfigSubcommand>,
}

#[derive(Debug, Subcommand)]
enum ConfigSubcommand {
    /// Show which settings count and where each is from, and what is probably not meant
    ///
    /// It reads the files and variables that a server would read in this folder, and starts nothing. A setting that is unknown
    /// or not allowed ends it with exit code 2 and one line. Below the settings stand warnings, with the line to add. With
    /// --json: `{file, settings: [{key, value, origin}], warnings: [{found, mend}]}`.
    Check,
}

impl ConfigCommand {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        match self.command {
            Some(ConfigSubcommand::Check) => check(common),
            // Asked for above all by those whose own configuration is broken: nothing else is read.
            None if common.json => say_json(&serde_json::to_string_pretty(&DEFAULT.parse::<toml::Table>()?)?),
            None => say(DEFAULT.trim_end()),
        }
    }
}

fn check(common: &Common) -> Result<()> {
    let raw = common.raw_settings()?;
    let config = Config::new(&raw)?;
    let doubts = config.list_doubts();
    let is_shown = |one: &&ShownSetting| one.origin != Origin::Default || ALWAYS.contains(&&*one.key);
    let settings: Vec<_> = config.shown.iter().filter(is_shown).collect();
    let file = raw.file().map(|path| path.display().to_string());
    let rows =
        settings.iter().map(|one| json!({ "key": one.key, "value": one.value, "origin": one.origin.to_string() }));
    let warnings = doubts.iter().map(|doubt| json!({ "found": doubt.found, "mend": doubt.mend }));
    let document = json!({
        "file": file,
        "settings": rows.collect::<Vec<_>>(),
        "warnings": warnings.collect::<Vec<_>>(),
    });
    print(common.json, &document, || {
        let mut lines = vec![match &file {
            Some(file) => format!("{file}  ok"),
            None => "no file sets anything".to_owned(),
        }];
        let width = |text: fn(&ShownSetting) -> usize| settings.iter().map(|one| text(one)).max().unwrap_or(0);
        let (keys, values) = (width(|one| one.key.len()), width(|one| shown(one).chars().count()).min(48));
        for one in &settings {
            lines.push(format!("{:keys$}  {:values$}  {}", one.key, shown(one), one.origin));
        }
        lines.extend(doubts.iter().map(|doubt| format!("\nwarn  {}\n      {}", doubt.found, doubt.mend)));
        lines.join("\n")
    })
}

fn shown(setting: &ShownSetting) -> &str {
    if setting.value.is_empty() { "not set" } else { &setting.value }
}
