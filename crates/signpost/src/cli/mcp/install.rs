//! `signpost mcp install`

use std::io::IsTerminal;
use std::path::Path;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde_json::{Value, json};

use super::super::advisories::AdvisoriesFlag;
use super::super::{Common, Usage, ask, print, say};
use super::this_program;
use crate::config::{Config, Origin};
use crate::install::{
    ClientChange, EntryAction, Installer, McpClient, OperatingSystem, PrintedEntry, ServerEntry, UserFolders, Wish,
};

#[derive(Debug, Args)]
pub(super) struct Install {
    /// Clients [default: those on this machine, after a question]
    #[arg(value_name = "CLIENT", value_parser = client_parser())]
    clients: Vec<McpClient>,
    /// Address of a server that clients call instead, such as `https://atm.example.com/mcp`
    #[arg(long, value_name = "URL", conflicts_with = "uninstall")]
    url: Option<String>,
    /// Print what to add by hand, and change nothing
    #[arg(long, conflicts_with_all = ["uninstall", "dry_run"])]
    print: bool,
    /// Say what would be changed, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Take the entry out
    #[arg(long)]
    uninstall: bool,
}

fn client_parser() -> impl TypedValueParser<Value = McpClient> {
    let values = McpClient::ALL.map(|client| PossibleValue::new(client.name()).aliases(client.alias()));
    PossibleValuesParser::new(values).map(|name| McpClient::of_name(&name).expect("one of the values"))
}

impl Install {
    pub(super) fn run(self, common: &Common, flag: &AdvisoriesFlag) -> Result<()> {
        let installer = installer()?;
        let (wish, hint) = match (self.uninstall, &self.url) {
            (true, _) => (Wish::Uninstall, None),
            (false, Some(url)) => {
                (Wish::Install(ServerEntry::remote(url).map_err(|error| Usage(error.to_string()))?), None)
            }
            (false, None) => {
                let (entry, hint) = program_entry(common, flag, &installer)?;
                (Wish::Install(entry), hint)
            }
        };
        let clients = self.choose(&installer, &wish)?;
        match &wish {
            Wish::Install(entry) if self.print => print_entries(common, &installer, &clients, entry),
            _ => self.carry_out(common, &installer, &clients, &wish, hint),
        }
    }

    /// The clients that were named; else those that are here, once somebody agreed.
    fn choose(&self, installer: &Installer, wish: &Wish) -> Result<Vec<McpClient>> {
        if !self.clients.is_empty() {
            let mut clients = self.clients.clone();
            clients.sort();
            clients.dedup();
            return Ok(clients);
        }
        let found = match wish {
            Wish::Uninstall => installer.find_installed(),
            // What a client cannot do is no failure where nobody named it.
            Wish::Install(entry) => {
                installer.find().into_iter().filter(|client| installer.print(*client, entry).is_ok()).collect()
            }
        };
        let names = names(&found, ", ");
        if found.is_empty() {
            let known = self::names(&McpClient::ALL, ", ");
            let told = if self.uninstall { "no client has the entry" } else { "found no client on this machine" };
            bail!("{told}: name one of {known}");
        }
        if self.print || self.dry_run {
            return Ok(found);
        }
        if !std::io::stdin().is_terminal() {
            let (option, listed) = (if self.uninstall { "--uninstall " } else { "" }, self::names(&found, " "));
            let told = format!(
                "found {names}; standard input is not a terminal: name those that you mean, as in 'signpost mcp install \
                 {option}{listed}'"
            );
            return Err(Usage(told).into());
        }
        eprintln!("Found {names}.");
        chosen(&ask("Which ones? Names, Enter for all, n for none: ")?, &found)
    }

    fn carry_out(
        &self,
        common: &Common,
        installer: &Installer,
        clients: &[McpClient],
        wish: &Wish,
        hint: Option<String>,
    ) -> Result<()> {
        let done: Vec<_> =
            clients.iter().map(|client| (*client, installer.carry_out(*client, wish, self.dry_run))).collect();
        let failed = done.iter().filter_map(|(client, done)| Some((client.title(), done.as_ref().err()?)));
        let failed: Vec<_> = failed.map(|(title, error)| format!("{title}: {error:#}")).collect();
        let changed = done.iter().filter_map(|(client, done)| Some((*client, done.as_ref().ok()?)));
        let told: Vec<_> = changed.map(|(client, change)| tell(client, change, self.dry_run)).collect();
        if common.json || !told.is_empty() {
            let document: Vec<_> = done.iter().map(|(client, done)| document(*client, done)).collect();
            print(common.json, &document, || told.into_iter().chain(hint).collect::<Vec<_>>().join("\n"))?;
        }
        if failed.is_empty() { Ok(()) } else { Err(anyhow!("{}", failed.join("; "))) }
    }
}

/// Where this person's clients are, by the environment.
fn installer() -> Result<Installer> {
    #[expect(clippy::disallowed_methods, reason = "the edge: the folders are computed from what is read here")]
    let variables: std::collections::HashMap<_, _> = std::env::vars_os().collect();
    let variable = |name: &str| variables.get(std::ffi::OsStr::new(name)).cloned();
    let system = OperatingSystem::here();
    let folders = UserFolders::of(system, variable)?;
    Ok(Installer { system, folders, path: variable("PATH").unwrap_or_default() })
}

/// The entry that starts this program, with whole paths: clients start it in folders of their own, without the variables
/// of this terminal. With it what is still to be done before it answers, if anything is.
fn program_entry(
    common: &Common,
    flag: &AdvisoriesFlag,
    installer: &Installer,
) -> Result<(ServerEntry, Option<String>)> {
    let mut raw = common.raw_settings()?;
    flag.set(&mut raw);
    let config = Config::new(&raw)?;
    if matches!(raw.origin("database_url"), Some(Origin::Flag | Origin::Variable)) {
        let told = "a database's URL may have a password, which no client's file shall have: write database_url into a \
                    configuration file and name that with --config";
        return Err(Usage(told.to_owned()).into());
    }
    let mut args = vec!["mcp".to_owned(), "--data-dir".to_owned(), whole(&config.data_dir)?];
    for (option, file) in [("--config", raw.file()), ("--advisories", flag.file())] {
        if let Some(file) = file {
            args.extend([option.to_owned(), whole(file)?]);
        }
    }
    let is_empty = config.database_file().is_some_and(|file| !file.exists());
    let folder = whole(&config.data_dir)?;
    let hint = format!(
        "The folder {folder} has no data yet: run 'signpost serve' or 'signpost atms import' on it before you start the \
         client."
    );
    let program = installer.stable_program(&this_program()?);
    Ok((ServerEntry::Program { command: whole(&program)?, args }, is_empty.then_some(hint)))
}

/// A path from the root, as text.
fn whole(path: &Path) -> Result<String> {
    let whole = std::path::absolute(path)?;
    let shown = whole.display().to_string();
    whole
        .into_os_string()
        .into_string()
        .map_err(|_| anyhow!("{shown} is not UTF-8, which clients' files are written in"))
}

fn names(clients: &[McpClient], between: &str) -> String {
    clients.iter().map(|client| client.name()).collect::<Vec<_>>().join(between)
}

/// The clients that an answer names, out of those that were found.
fn chosen(answer: &str, found: &[McpClient]) -> Result<Vec<McpClient>> {
    match answer.to_lowercase().as_str() {
        "" | "y" | "yes" | "all" => return Ok(found.to_vec()),
        "n" | "no" | "none" => bail!("nothing was changed"),
        _ => {}
    }
    let words = answer.split([' ', ',']).filter(|word| !word.is_empty());
    let named = words.map(|word| {
        let client = McpClient::of_name(&word.to_lowercase()).filter(|client| found.contains(client));
        client.ok_or_else(|| anyhow!("'{word}' is none of {}", names(found, ", ")))
    });
    named.collect()
}

fn tell(client: McpClient, change: &ClientChange, is_rehearsal: bool) -> String {
    let title = client.title();
    let file = change.file.display();
    let by = change.command.as_ref().map(|command| format!(" by '{}'", command.join(" "))).unwrap_or_default();
    let would = if is_rehearsal { "would be " } else { "" };
    match change.action {
        EntryAction::None => format!("{title}: nothing to change in {file}"),
        EntryAction::Added => format!("{title}: {would}added to {file}{by}"),
        EntryAction::Replaced => format!("{title}: {would}changed in {file}"),
        EntryAction::Removed => format!("{title}: {would}removed from {file}{by}"),
    }
}

fn document(client: McpClient, done: &Result<ClientChange>) -> Value {
    match done {
        Ok(change) => json!(change),
        Err(error) => json!({ "client": client.name(), "changed": false, "error": format!("{error:#}") }),
    }
}

fn print_entries(common: &Common, installer: &Installer, clients: &[McpClient], entry: &ServerEntry) -> Result<()> {
    let printed = clients.iter().map(|client| Ok((*client, installer.print(*client, entry)?)));
    let printed = printed.collect::<Result<Vec<_>>>()?;
    if common.json {
        return print(true, &printed.iter().map(|(_, entry)| entry).collect::<Vec<_>>(), String::new);
    }
    let text = |(client, entry): &(McpClient, PrintedEntry)| {
        let command =
            entry.command.as_ref().map(|words| format!("\nOr run: {}\n", in_shell(words))).unwrap_or_default();
        format!("{}: {}\n\n{}\n{command}", client.title(), entry.file.display(), entry.text.trim_end())
    };
    say(printed.iter().map(text).collect::<Vec<_>>().join("\n").trim_end())
}

/// Words as a shell reads them.
fn in_shell(words: &[String]) -> String {
    let quoted = words.iter().map(|word| {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@".contains(letter);
        if word.chars().all(is_plain) { word.clone() } else { format!("'{}'", word.replace('\'', "'\\''")) }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_names_clients_that_were_found() {
        use McpClient::{Claude, Cursor, Zed};
        let found = [Claude, Cursor, Zed];
        for (answer, expected) in [
            ("", &found[..]),
            ("all", &found),
            ("Y", &found),
            ("cursor", &[Cursor]),
            ("zed, claude-code", &[Zed, Claude]),
        ] {
            assert_eq!(chosen(answer, &found).unwrap(), expected, "{answer}");
        }
        for (answer, told) in
            [("n", "nothing was changed"), ("codex", "'codex' is none of claude, cursor, zed"), ("emacs", "'emacs'")]
        {
            assert!(chosen(answer, &found).unwrap_err().to_string().contains(told), "{answer}");
        }
    }

    #[test]
    fn a_printed_command_can_be_pasted_into_a_shell() {
        let words = ["code", "--add-mcp", "{\"a\":\"it's\"}"].map(str::to_owned);
        assert_eq!(in_shell(&words), "code --add-mcp '{\"a\":\"it'\\''s\"}'");
    }
}
