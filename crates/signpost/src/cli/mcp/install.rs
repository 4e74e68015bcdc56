//! The command `signpost mcp install`: adds the locator to MCP clients on this machine.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::IsTerminal;
use std::path::Path;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde_json::json;

use super::this_program;
use crate::cli::advisories::AdvisoriesFlag;
use crate::cli::{Common, Usage, ask, print, shell_quoted};
use crate::config::{Config, Origin};
use crate::install::{
    ClientChange, EntryAction, FICTIONAL_WITHOUT_DATA, Installer, McpClient, OperatingSystem, Operation, ServerEntry,
    UserFolders,
};

#[derive(Debug, Args)]
pub(super) struct Install {
    /// Clients [default: the clients on this machine, after a confirmation]
    #[arg(value_name = "CLIENT", value_parser = client_parser())]
    clients: Vec<McpClient>,
    /// URL of a server that clients call instead, such as `https://atm.example.com/mcp`
    #[arg(long, value_name = "URL", conflicts_with = "uninstall")]
    url: Option<String>,
    /// Print the entry to add manually, and change nothing
    #[arg(long, conflicts_with_all = ["uninstall", "dry_run"])]
    print: bool,
    /// Dry run: print the changes without making them
    #[arg(long)]
    dry_run: bool,
    /// Remove the entry
    #[arg(long)]
    uninstall: bool,
}

fn client_parser() -> impl TypedValueParser<Value = McpClient> {
    let values = McpClient::ALL.map(|client| PossibleValue::new(client.name()).aliases(client.alias()));
    PossibleValuesParser::new(values).map(|name| McpClient::from_name(&name).expect("one of the values"))
}

impl Install {
    pub(super) fn run(self, common: &Common, flag: &AdvisoriesFlag) -> Result<()> {
        let installer = installer()?;
        let mut hint = None;
        let operation = match &self.url {
            _ if self.uninstall => Operation::Uninstall,
            Some(url) => Operation::Install(ServerEntry::remote(url).map_err(|error| Usage(error.to_string()))?),
            None => {
                let (entry, missing_data) = program_entry(common, flag, &installer)?;
                hint = missing_data;
                Operation::Install(entry)
            }
        };
        let clients = self.choose(&installer, &operation)?;
        match &operation {
            Operation::Install(entry) if self.print => print_entries(common, &installer, &clients, entry),
            _ => self.apply(common, &installer, &clients, &operation, hint),
        }
    }

    /// Returns the named clients, or those on this machine that the user confirms.
    fn choose(&self, installer: &Installer, operation: &Operation) -> Result<Vec<McpClient>> {
        if !self.clients.is_empty() {
            let mut clients = self.clients.clone();
            clients.sort();
            clients.dedup();
            return Ok(clients);
        }
        let found = match operation {
            Operation::Uninstall => installer.find_installed(),
            // Leaves out clients that do not support the entry.
            Operation::Install(entry) => {
                installer.find().into_iter().filter(|client| installer.print(*client, entry).is_ok()).collect()
            }
        };
        if found.is_empty() {
            let known = names(&McpClient::ALL, ", ");
            let reason = if self.uninstall { "no client has the entry" } else { "found no client on this machine" };
            bail!("{reason}: name one of {known}");
        }
        if self.print || self.dry_run {
            return Ok(found);
        }
        let listed = names(&found, ", ");
        if !std::io::stdin().is_terminal() {
            let option = if self.uninstall { "--uninstall " } else { "" };
            let reason = format!(
                "found {listed}; standard input is not a terminal: name the clients, as in 'signpost mcp install \
                 {option}{}'",
                names(&found, " ")
            );
            return Err(Usage(reason).into());
        }
        eprintln!("Found {listed}.");
        parse_choice(&ask("Which ones? Names, Enter for all, n for none: ")?, &found)
    }

    fn apply(
        &self,
        common: &Common,
        installer: &Installer,
        clients: &[McpClient],
        operation: &Operation,
        hint: Option<String>,
    ) -> Result<()> {
        let mut documents = Vec::new();
        let mut lines = Vec::new();
        let mut failed = Vec::new();
        for client in clients {
            match installer.apply(*client, operation, self.dry_run) {
                Ok(change) => {
                    lines.push(describe(*client, &change, self.dry_run));
                    documents.push(json!(change));
                }
                Err(error) => {
                    failed.push(format!("{}: {error:#}", client.title()));
                    let error = format!("{error:#}");
                    documents.push(json!({ "client": client.name(), "changed": false, "error": error }));
                }
            }
        }
        if common.json || !lines.is_empty() {
            lines.extend(hint);
            print(common.json, &documents, || lines.join("\n"))?;
        }
        if failed.is_empty() { Ok(()) } else { Err(anyhow!("{}", failed.join("; "))) }
    }
}

/// Finds the user's folders by the environment.
fn installer() -> Result<Installer> {
    #[expect(clippy::disallowed_methods, reason = "the edge: the environment determines the folders")]
    let mut variables: HashMap<_, _> = std::env::vars_os().collect();
    let system = OperatingSystem::current();
    let folders = UserFolders::from_environment(system, |name| variables.get(OsStr::new(name)).cloned())?;
    Ok(Installer { system, folders, path: variables.remove(OsStr::new("PATH")).unwrap_or_default() })
}

/// Returns the entry that starts this program, and a hint if there is no data yet. All paths are absolute, because
/// clients start programs in other folders and without the variables of this terminal.
fn program_entry(
    common: &Common,
    flag: &AdvisoriesFlag,
    installer: &Installer,
) -> Result<(ServerEntry, Option<String>)> {
    let mut raw = common.raw_settings()?;
    flag.set(&mut raw);
    let config = Config::new(&raw)?;
    if matches!(raw.origin("database_url"), Some(Origin::Flag | Origin::Variable)) {
        let reason = "a database's URL may have a password, which must not be in client files: write database_url into a \
                      configuration file and name that with --config";
        return Err(Usage(reason.to_owned()).into());
    }
    let folder = absolute(&config.data_dir)?;
    let mut args = vec!["mcp".to_owned(), "--data-dir".to_owned(), folder.clone()];
    for (option, file) in [("--config", raw.file()), ("--advisories", flag.file())] {
        if let Some(file) = file {
            args.extend([option.to_owned(), absolute(file)?]);
        }
    }
    args.push(FICTIONAL_WITHOUT_DATA.to_owned());
    let mut hint = None;
    if config.database_file().is_some_and(|file| !file.exists()) {
        hint = Some(format!(
            "The folder {folder} has no data yet, so the client gets fictional ATMs. Run 'signpost serve' or 'signpost \
             atms import' on it, and restart the client."
        ));
    }
    let program = installer.stable_program(&this_program()?);
    Ok((ServerEntry::Program { command: absolute(&program)?, args }, hint))
}

/// Returns the absolute path as text.
fn absolute(path: &Path) -> Result<String> {
    let absolute = std::path::absolute(path)?;
    let Some(text) = absolute.to_str() else {
        bail!("{} is not UTF-8, which clients' files are written in", absolute.display());
    };
    Ok(text.to_owned())
}

fn names(clients: &[McpClient], between: &str) -> String {
    clients.iter().map(|client| client.name()).collect::<Vec<_>>().join(between)
}

/// Returns the clients in an answer, limited to the clients that were found.
fn parse_choice(answer: &str, found: &[McpClient]) -> Result<Vec<McpClient>> {
    match answer.to_lowercase().as_str() {
        "" | "y" | "yes" | "all" => return Ok(found.to_vec()),
        "n" | "no" | "none" => bail!("nothing was changed"),
        _ => {}
    }
    let mut clients = Vec::new();
    for word in answer.split([' ', ',']).filter(|word| !word.is_empty()) {
        match McpClient::from_name(&word.to_lowercase()) {
            Some(client) if found.contains(&client) => clients.push(client),
            _ => bail!("'{word}' is none of {}", names(found, ", ")),
        }
    }
    Ok(clients)
}

fn describe(client: McpClient, change: &ClientChange, dry_run: bool) -> String {
    let title = client.title();
    let file = change.file.display();
    let by = change.command.as_ref().map(|command| format!(" by '{}'", command.join(" "))).unwrap_or_default();
    let would = if dry_run { "would be " } else { "" };
    match change.action {
        EntryAction::None => format!("{title}: nothing to change in {file}"),
        EntryAction::Added => format!("{title}: {would}added to {file}{by}"),
        EntryAction::Replaced => format!("{title}: {would}changed in {file}"),
        EntryAction::Removed => format!("{title}: {would}removed from {file}{by}"),
    }
}

fn print_entries(common: &Common, installer: &Installer, clients: &[McpClient], entry: &ServerEntry) -> Result<()> {
    let mut entries = Vec::new();
    let mut texts = Vec::new();
    for client in clients {
        let entry = installer.print(*client, entry)?;
        let command = entry.command.as_ref().map(|words| format!("\nOr run: {}\n", shell_command(words)));
        let command = command.unwrap_or_default();
        texts.push(format!("{}: {}\n\n{}\n{command}", client.title(), entry.file.display(), entry.text.trim_end()));
        entries.push(entry);
    }
    print(common.json, &entries, || texts.join("\n").trim_end().to_owned())
}

/// Returns a command line for a shell.
fn shell_command(words: &[String]) -> String {
    let quoted = words.iter().map(|word| {
        let needs_quotes = word.contains(|letter: char| !letter.is_ascii_alphanumeric() && !"-_./:=@".contains(letter));
        if needs_quotes { shell_quoted(word) } else { word.clone() }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selection_is_limited_to_found_clients() {
        use McpClient::{Claude, Cursor, Zed};
        let found = [Claude, Cursor, Zed];
        for (answer, expected) in [
            ("", &found[..]),
            ("all", &found),
            ("Y", &found),
            ("cursor", &[Cursor]),
            ("zed, claude-code", &[Zed, Claude]),
        ] {
            assert_eq!(parse_choice(answer, &found).unwrap(), expected, "{answer}");
        }
        for (answer, phrase) in
            [("n", "nothing was changed"), ("codex", "'codex' is none of claude, cursor, zed"), ("emacs", "'emacs'")]
        {
            assert!(parse_choice(answer, &found).unwrap_err().to_string().contains(phrase), "{answer}");
        }
    }

    #[test]
    fn printed_command_is_quoted_for_a_shell() {
        let words = ["code", "--add-mcp", "{\"a\":\"it's\"}"].map(str::to_owned);
        assert_eq!(shell_command(&words), "code --add-mcp '{\"a\":\"it'\\''s\"}'");
    }
}
