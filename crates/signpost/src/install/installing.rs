//! Into which clients the server is put, and what is changed for it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde_json::Value;

use super::client::McpClient;
use super::config_file::{ChangedMeanwhile, ConfigFile};
use super::entry::{ServerEntry, in_order, is_ours, says};
use super::folders::{OperatingSystem, UserFolders};
use super::members::{ENTRY_NAME, Members};
use super::own_command;

/// How often a file is read anew because another program wrote it meanwhile.
const MOST_ATTEMPTS: usize = 3;

/// Puts the server into clients of one person, and takes it out.
#[derive(Clone, Debug)]
pub struct Installer {
    /// The system.
    pub system: OperatingSystem,
    /// Where the clients have their files.
    pub folders: UserFolders,
    /// The `PATH` on which their own commands are looked for.
    pub path: OsString,
}

/// What is wanted of a client.
#[derive(Clone, Debug)]
pub enum Wish {
    /// To reach the server like this.
    Install(ServerEntry),
    /// To know nothing of it.
    Uninstall,
}

/// What was done to a client, or would be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClientChange {
    /// The client's name.
    pub client: &'static str,
    /// The file with its servers.
    pub file: PathBuf,
    /// Whether anything is other than before, or would be.
    pub changed: bool,
    /// What became of the entry.
    pub action: EntryAction,
    /// The client's own command, where that did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
}

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryAction {
    /// There was none.
    Added,
    /// There was another one of ours.
    Replaced,
    /// It is gone.
    Removed,
    /// All was as wished.
    None,
}

/// What a reader can put into place by hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PrintedEntry {
    /// The client's name.
    pub client: &'static str,
    /// The file with its servers.
    pub file: PathBuf,
    /// What would stand in it if nothing else did.
    pub text: String,
    /// The client's own command, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
}

impl Installer {
    /// The clients that this person has: their command is on `PATH`, or their folder is there.
    #[must_use]
    pub fn find(&self) -> Vec<McpClient> {
        let is_here = |client: &McpClient| {
            self.command(*client).is_some()
                || self.folders.places(*client).iter().any(|place| place.sign.is_dir() || place.file.exists())
        };
        McpClient::ALL.into_iter().filter(is_here).collect()
    }

    /// The clients in whose files an entry of ours stands. A file that cannot be read has none that could be removed.
    #[must_use]
    pub fn find_installed(&self) -> Vec<McpClient> {
        let has_ours = |client: &McpClient| {
            let file = ConfigFile::read(&self.file(*client)).ok();
            let found = file.and_then(|file| client.format().find(&file.text?).ok().flatten());
            found.as_ref().is_some_and(is_ours)
        };
        McpClient::ALL.into_iter().filter(has_ours).collect()
    }

    /// The file with a client's servers: where the client is, else where it usually is.
    #[must_use]
    pub fn file(&self, client: McpClient) -> PathBuf {
        let places = self.folders.places(client);
        let here = places.iter().find(|place| place.sign.is_dir()).unwrap_or(&places[0]);
        here.file.clone()
    }

    /// The path of a program that outlives its next version: where the one on `PATH` is a link to it, the link.
    #[must_use]
    pub fn stable_program(&self, program: &Path) -> PathBuf {
        let found = own_command::find_program(self.system, ENTRY_NAME, &self.path);
        let is_it =
            |found: &PathBuf| found.canonicalize().is_ok_and(|found| program.canonicalize().ok() == Some(found));
        found.filter(is_it).unwrap_or_else(|| program.to_owned())
    }

    /// What to put where by hand.
    ///
    /// # Errors
    /// Where the client cannot reach the server like this.
    pub fn print(&self, client: McpClient, entry: &ServerEntry) -> Result<PrintedEntry> {
        let members = entry.members(client)?;
        let text = client.format().set("", &members)?;
        let command = client.program().map(|program| {
            std::iter::once(program.to_owned()).chain(own_command::arguments_to_add(client, entry, &members)).collect()
        });
        Ok(PrintedEntry { client: client.name(), file: self.file(client), text, command })
    }

    /// Does what is wished, or says what it would do.
    ///
    /// # Errors
    /// Where the client's file is not understood or cannot be written, where somebody else's entry has our name, where the
    /// client's own command fails.
    pub fn carry_out(&self, client: McpClient, wish: &Wish, is_rehearsal: bool) -> Result<ClientChange> {
        for _ in 1..MOST_ATTEMPTS {
            match self.attempt(client, wish, is_rehearsal) {
                Err(error) if error.is::<ChangedMeanwhile>() => {}
                done => return done,
            }
        }
        self.attempt(client, wish, is_rehearsal)
    }

    fn attempt(&self, client: McpClient, wish: &Wish, is_rehearsal: bool) -> Result<ClientChange> {
        let file = ConfigFile::read(&self.file(client))?;
        let found = entry_in(client, &file)?;
        let turn = Turn { installer: self, client, file, is_rehearsal };
        match (wish, found) {
            (Wish::Install(entry), found) => turn.install(entry, found.as_ref()),
            (Wish::Uninstall, None) => Ok(turn.change(EntryAction::None, None)),
            (Wish::Uninstall, Some(found)) => turn.uninstall(&found),
        }
    }

    /// The client's own program.
    fn command(&self, client: McpClient) -> Option<PathBuf> {
        own_command::find_program(self.system, client.program()?, &self.path)
    }
}

/// The entry of our name in a client's file.
fn entry_in(client: McpClient, file: &ConfigFile) -> Result<Option<Value>> {
    let text = file.text.as_deref().unwrap_or_default();
    client.format().find(text).with_context(|| file.path.display().to_string())
}

/// One client, with its file as it was read.
struct Turn<'a> {
    installer: &'a Installer,
    client: McpClient,
    file: ConfigFile,
    is_rehearsal: bool,
}

impl Turn<'_> {
    fn install(&self, entry: &ServerEntry, found: Option<&Value>) -> Result<ClientChange> {
        let members = entry.members(self.client)?;
        match found {
            Some(found) if says(found, &members) => Ok(self.change(EntryAction::None, None)),
            // In place, and not by the command: what people put into the entry stays.
            Some(found) if is_ours(found) => {
                self.write(&members)?;
                Ok(self.change(EntryAction::Replaced, None))
            }
            Some(_) => bail!(
                "{} has another server named \"{ENTRY_NAME}\": rename or remove that first",
                self.file.path.display()
            ),
            None => {
                let arguments = own_command::arguments_to_add(self.client, entry, &members);
                let command = self.run(Some(arguments), |found| found.is_some_and(|found| says(found, &members)))?;
                if command.is_none() {
                    self.write(&members)?;
                }
                Ok(self.change(EntryAction::Added, command))
            }
        }
    }

    fn uninstall(&self, found: &Value) -> Result<ClientChange> {
        if !is_ours(found) {
            bail!("the server named \"{ENTRY_NAME}\" in {} is another one and stays there", self.file.path.display());
        }
        let command = self.run(own_command::arguments_to_remove(self.client), |found| found.is_none())?;
        if command.is_none() && !self.is_rehearsal {
            self.remove(found)?;
        }
        Ok(self.change(EntryAction::Removed, command))
    }

    fn write(&self, members: &Members) -> Result<()> {
        let text = self.file.text.as_deref().unwrap_or_default();
        let text = self.client.format().set(text, members).with_context(|| self.file.path.display().to_string())?;
        if self.is_rehearsal { Ok(()) } else { self.file.replace(&text) }
    }

    /// Takes the entry out. Where nobody else changed the file since it was put in, every byte is as before.
    fn remove(&self, found: &Value) -> Result<()> {
        let format = self.client.format();
        let text = self.file.text.as_deref().unwrap_or_default();
        let is_from = |before: &str| {
            let members = in_order(found);
            members.is_some_and(|members| format.set(before, &members).is_ok_and(|made| made == text))
        };
        let has_none = |before: &str| format.find(before).is_ok_and(|found| found.is_none());
        let backup = self.file.backups().into_iter().find(|(_, before)| has_none(before) && is_from(before));
        if let Some((path, before)) = backup {
            return self.file.restore(&path, &before);
        }
        if is_from("") {
            return self.file.delete();
        }
        let rest = format.remove(text).with_context(|| self.file.path.display().to_string())?;
        self.file.replace(&rest)
    }

    /// Runs the client's own command, if it has one here, and looks whether it did what it should.
    fn run(
        &self,
        arguments: Option<Vec<String>>,
        is_done: impl Fn(Option<&Value>) -> bool,
    ) -> Result<Option<Vec<String>>> {
        let (Some(program), Some(arguments)) = (self.installer.command(self.client), arguments) else {
            return Ok(None);
        };
        if !self.is_rehearsal {
            own_command::run(&program, &arguments, self.installer.folders.home())?;
            let file = ConfigFile::read(&self.file.path)?;
            if !is_done(entry_in(self.client, &file)?.as_ref()) {
                bail!(
                    "'{} {}' ended well, but {} shows nothing of it: add the entry by hand, as --print shows it",
                    program.display(),
                    arguments.join(" "),
                    self.file.path.display()
                );
            }
        }
        Ok(Some(std::iter::once(program.display().to_string()).chain(arguments).collect()))
    }

    fn change(&self, action: EntryAction, command: Option<Vec<String>>) -> ClientChange {
        let file = self.file.path.clone();
        let changed = action != EntryAction::None;
        ClientChange { client: self.client.name(), file, changed, action, command }
    }
}
