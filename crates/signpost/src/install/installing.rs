//! Adds the entry of the server to MCP clients, and removes it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde_json::Value;

use super::client::McpClient;
use super::client_command;
use super::config_file::{ConcurrentChange, ConfigFile};
use super::entry::{ServerEntry, is_signpost_entry, matches_members, ordered_members};
use super::folders::{OperatingSystem, UserFolders};
use super::members::{ENTRY_NAME, Members};

/// Maximum number of attempts if other programs write the file concurrently.
const MAX_ATTEMPTS: usize = 3;

/// Installs the server in the MCP clients of a user, and uninstalls it.
#[derive(Clone, Debug)]
pub struct Installer {
    /// The operating system of the user.
    pub system: OperatingSystem,
    /// The folders of the clients' files.
    pub folders: UserFolders,
    /// The `PATH` for the clients' own commands.
    pub path: OsString,
}

/// A change of a client's configuration.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Sets the entry of the server.
    Install(ServerEntry),
    /// Removes the entry of the server.
    Uninstall,
}

/// The result of an operation, or of its dry run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClientChange {
    /// The client's name.
    pub client: &'static str,
    /// The file with its servers.
    pub file: PathBuf,
    /// Whether the file changed.
    pub changed: bool,
    /// The change of the entry.
    pub action: EntryAction,
    /// The client's own command, if it made the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
}

/// The change of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryAction {
    /// The entry was added; there was none before.
    Added,
    /// The entry was replaced; there was another entry of this program.
    Replaced,
    /// The entry was removed.
    Removed,
    /// Nothing changed.
    None,
}

/// An entry to be added by hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PrintedEntry {
    /// The client's name.
    pub client: &'static str,
    /// The file with its servers.
    pub file: PathBuf,
    /// The content of a file with only this entry.
    pub text: String,
    /// The client's own command, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
}

impl Installer {
    /// Returns the clients on this machine: their command is on `PATH`, or their folder or file exists.
    #[must_use]
    pub fn find(&self) -> Vec<McpClient> {
        let mut clients = McpClient::ALL.to_vec();
        clients.retain(|client| self.is_installed(*client));
        clients
    }

    fn is_installed(&self, client: McpClient) -> bool {
        self.command(client).is_some()
            || self.folders.places(client).iter().any(|place| place.marker.is_dir() || place.file.exists())
    }

    /// Returns the clients with an entry of this program in a readable file.
    #[must_use]
    pub fn find_installed(&self) -> Vec<McpClient> {
        let mut clients = McpClient::ALL.to_vec();
        clients.retain(|client| match ConfigFile::read(&self.file(*client)) {
            Ok(file) => find_entry(*client, &file).is_ok_and(|found| found.as_ref().is_some_and(is_signpost_entry)),
            Err(_) => false,
        });
        clients
    }

    /// Returns the file with a client's servers: in the first location with an existing folder, else in the usual
    /// location.
    #[must_use]
    pub fn file(&self, client: McpClient) -> PathBuf {
        let places = self.folders.places(client);
        let place = places.iter().find(|place| place.marker.is_dir()).unwrap_or(&places[0]);
        place.file.clone()
    }

    /// Returns a path of the program that stays valid after an upgrade: the path of the program on `PATH`, if it is a
    /// link to `program`.
    #[must_use]
    pub fn stable_program(&self, program: &Path) -> PathBuf {
        if let Some(found) = client_command::find_program(self.system, ENTRY_NAME, &self.path)
            && let Ok(target) = found.canonicalize()
            && program.canonicalize().is_ok_and(|program| program == target)
        {
            return found;
        }
        program.to_owned()
    }

    /// Returns the entry to be added by hand.
    ///
    /// # Errors
    /// Returns an error if the client does not support the entry.
    pub fn print(&self, client: McpClient, entry: &ServerEntry) -> Result<PrintedEntry> {
        let members = entry.members(client)?;
        let text = client.format().set("", &members)?;
        let command = client.program().map(|program| {
            std::iter::once(program.to_owned())
                .chain(client_command::arguments_to_add(client, entry, &members))
                .collect()
        });
        Ok(PrintedEntry { client: client.name(), file: self.file(client), text, command })
    }

    /// Applies an operation. A dry run changes nothing.
    ///
    /// # Errors
    /// Returns an error if the client's file cannot be parsed or written, if an entry of another program has this name,
    /// or if the client's own command fails.
    pub fn apply(&self, client: McpClient, operation: &Operation, dry_run: bool) -> Result<ClientChange> {
        for _ in 1..MAX_ATTEMPTS {
            match self.attempt(client, operation, dry_run) {
                Err(error) if error.is::<ConcurrentChange>() => {}
                done => return done,
            }
        }
        self.attempt(client, operation, dry_run)
    }

    fn attempt(&self, client: McpClient, operation: &Operation, dry_run: bool) -> Result<ClientChange> {
        let file = ConfigFile::read(&self.file(client))?;
        let found = find_entry(client, &file)?;
        let edit = ClientEdit { installer: self, client, file, dry_run };
        match (operation, found) {
            (Operation::Install(entry), found) => edit.install(entry, found.as_ref()),
            (Operation::Uninstall, None) => Ok(edit.change(EntryAction::None, None)),
            (Operation::Uninstall, Some(found)) => edit.uninstall(&found),
        }
    }

    /// Returns the path of the client's own program.
    fn command(&self, client: McpClient) -> Option<PathBuf> {
        client_command::find_program(self.system, client.program()?, &self.path)
    }
}

/// Returns the entry with this name in a client's file.
fn find_entry(client: McpClient, file: &ConfigFile) -> Result<Option<Value>> {
    let text = file.text.as_deref().unwrap_or_default();
    client.format().find(text).with_context(|| file.path.display().to_string())
}

/// A change of a client's file.
struct ClientEdit<'a> {
    installer: &'a Installer,
    client: McpClient,
    file: ConfigFile,
    dry_run: bool,
}

impl ClientEdit<'_> {
    fn install(&self, entry: &ServerEntry, found: Option<&Value>) -> Result<ClientChange> {
        let members = entry.members(self.client)?;
        match found {
            Some(found) if matches_members(found, &members) => Ok(self.change(EntryAction::None, None)),
            // The client's command is not used, so that the user's own members are preserved.
            Some(found) if is_signpost_entry(found) => {
                self.write(&members)?;
                Ok(self.change(EntryAction::Replaced, None))
            }
            Some(_) => bail!(
                "{} has another server named \"{ENTRY_NAME}\": rename or remove that first",
                self.file.path.display()
            ),
            None => {
                let arguments = client_command::arguments_to_add(self.client, entry, &members);
                let command =
                    self.run(arguments, |found| found.is_some_and(|found| matches_members(found, &members)))?;
                if command.is_none() {
                    self.write(&members)?;
                }
                Ok(self.change(EntryAction::Added, command))
            }
        }
    }

    fn uninstall(&self, found: &Value) -> Result<ClientChange> {
        if !is_signpost_entry(found) {
            bail!(
                "the server named \"{ENTRY_NAME}\" in {} is a different server and is not changed",
                self.file.path.display()
            );
        }
        let command = match client_command::arguments_to_remove(self.client) {
            Some(arguments) => self.run(arguments, |found| found.is_none())?,
            None => None,
        };
        if command.is_none() && !self.dry_run {
            self.remove(found)?;
        }
        Ok(self.change(EntryAction::Removed, command))
    }

    fn write(&self, members: &Members) -> Result<()> {
        let text = self.file.text.as_deref().unwrap_or_default();
        let text = self.client.format().set(text, members).with_context(|| self.file.path.display().to_string())?;
        if self.dry_run { Ok(()) } else { self.file.replace(&text) }
    }

    /// Removes the entry. If the file is unchanged since the installation, the original file is restored.
    fn remove(&self, found: &Value) -> Result<()> {
        let format = self.client.format();
        let text = self.file.text.as_deref().unwrap_or_default();
        if let Some(members) = ordered_members(found) {
            for (path, original) in self.file.backups() {
                let has_no_entry = format.find(&original).is_ok_and(|found| found.is_none());
                if has_no_entry && format.set(&original, &members).is_ok_and(|installed| installed == text) {
                    return self.file.restore(&path, &original);
                }
            }
            if format.set("", &members).is_ok_and(|installed| installed == text) {
                return self.file.delete();
            }
        }
        let rest = format.remove(text).with_context(|| self.file.path.display().to_string())?;
        self.file.replace(&rest)
    }

    /// Runs the client's own command, and checks its result. `None` if the command is not on this machine.
    fn run(&self, arguments: Vec<String>, is_done: impl Fn(Option<&Value>) -> bool) -> Result<Option<Vec<String>>> {
        let Some(program) = self.installer.command(self.client) else { return Ok(None) };
        if !self.dry_run {
            client_command::run(&program, &arguments, self.installer.folders.home())?;
            let file = ConfigFile::read(&self.file.path)?;
            if !is_done(find_entry(self.client, &file)?.as_ref()) {
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
