//! Determines the location of each client's configuration file, as a pure function of the operating
//! system and the environment variables.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::client::McpClient;

/// An operating system that clients run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatingSystem {
    /// Linux, and all others that follow the XDG Base Directory Specification.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

/// The folders of a user's configuration files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserFolders {
    system: OperatingSystem,
    home: PathBuf,
    /// `XDG_CONFIG_HOME`, `Application Support` or `%APPDATA%`.
    settings: PathBuf,
    /// The folders of Claude Code, Codex and Gemini CLI, if environment variables set them.
    overrides: [Option<PathBuf>; 3],
}

/// The error for a missing home folder. It names the environment variable to set.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot tell where your programs have their files: set {0} to the whole path of your home folder")]
pub struct NoHome(&'static str);

/// A possible location of a client's configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientLocation {
    /// A folder that exists if the client is installed.
    pub marker: PathBuf,
    /// The configuration file with the client's servers.
    pub file: PathBuf,
}

impl OperatingSystem {
    /// Returns the system that this program runs on.
    #[must_use]
    pub fn current() -> Self {
        match std::env::consts::OS {
            "macos" => Self::MacOs,
            "windows" => Self::Windows,
            _ => Self::Linux,
        }
    }
}

impl UserFolders {
    /// Returns the folders of the environment's variables.
    ///
    /// # Errors
    /// Returns [`NoHome`] if no absolute path of the home folder is set.
    pub fn from_environment(
        system: OperatingSystem,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, NoHome> {
        let folder = |name: &str| variable(name).map(PathBuf::from).filter(|path| is_absolute(system, path));
        let name = if system == OperatingSystem::Windows { "USERPROFILE" } else { "HOME" };
        let home = folder(name).ok_or(NoHome(name))?;
        let settings = match system {
            OperatingSystem::Linux => folder("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
            OperatingSystem::MacOs => home.join("Library/Application Support"),
            OperatingSystem::Windows => folder("APPDATA").unwrap_or_else(|| home.join("AppData").join("Roaming")),
        };
        let gemini = folder("GEMINI_CLI_HOME").map(|folder| folder.join(".gemini"));
        let overrides = [folder("CLAUDE_CONFIG_DIR"), folder("CODEX_HOME"), gemini];
        Ok(Self { system, home, settings, overrides })
    }

    /// Returns the user's home folder.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Returns the possible locations of a client's file: the usual location, then the location of a flatpak.
    #[must_use]
    pub fn places(&self, client: McpClient) -> Vec<ClientLocation> {
        let home = &self.home;
        let [claude, codex, gemini] = &self.overrides;
        match client {
            McpClient::Claude => match claude {
                Some(folder) => vec![place(folder.clone(), ".claude.json")],
                None => vec![ClientLocation { marker: home.join(".claude"), file: home.join(".claude.json") }],
            },
            McpClient::Codex => vec![place(codex.clone().unwrap_or_else(|| home.join(".codex")), "config.toml")],
            McpClient::Gemini => vec![place(gemini.clone().unwrap_or_else(|| home.join(".gemini")), "settings.json")],
            McpClient::ClaudeDesktop => vec![place(self.settings.join("Claude"), "claude_desktop_config.json")],
            McpClient::Cursor => vec![place(home.join(".cursor"), "mcp.json")],
            McpClient::Windsurf => vec![place(home.join(".codeium").join("windsurf"), "mcp_config.json")],
            McpClient::Vscode => {
                let settings = std::iter::once(self.settings.clone()).chain(self.flatpak("com.visualstudio.code"));
                settings.map(|settings| place(settings.join("Code").join("User"), "mcp.json")).collect()
            }
            McpClient::Zed => {
                let usual = match self.system {
                    OperatingSystem::Linux => self.settings.join("zed"),
                    OperatingSystem::MacOs => home.join(".config").join("zed"),
                    OperatingSystem::Windows => self.settings.join("Zed"),
                };
                let flatpak = self.flatpak("dev.zed.Zed").map(|settings| settings.join("zed"));
                std::iter::once(usual).chain(flatpak).map(|folder| place(folder, "settings.json")).collect()
            }
        }
    }

    /// Returns the settings folder of a flatpak.
    fn flatpak(&self, name: &str) -> Option<PathBuf> {
        if self.system != OperatingSystem::Linux {
            return None;
        }
        Some(self.home.join(".var").join("app").join(name).join("config"))
    }
}

fn place(folder: PathBuf, file: &str) -> ClientLocation {
    ClientLocation { file: folder.join(file), marker: folder }
}

/// Returns true if the path is absolute on `system`, even if this program runs on another system.
fn is_absolute(system: OperatingSystem, path: &Path) -> bool {
    let text = path.to_string_lossy();
    match system {
        OperatingSystem::Windows => {
            text.get(1..3).is_some_and(|root| [":\\", ":/"].contains(&root)) || text.starts_with("\\\\")
        }
        _ => text.starts_with('/'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(system: OperatingSystem, client: McpClient, variables: &[(&str, &str)]) -> String {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        };
        let places = UserFolders::from_environment(system, variable).unwrap().places(client);
        // The tests of all three systems run on a single system, with a slash as its separator.
        places[0].file.to_string_lossy().replace('/', if system == OperatingSystem::Windows { "\\" } else { "/" })
    }

    #[test]
    fn each_client_has_its_file_on_linux() {
        for (client, expected) in [
            (McpClient::Claude, "/home/ann/.claude.json"),
            (McpClient::Codex, "/home/ann/.codex/config.toml"),
            (McpClient::Gemini, "/home/ann/.gemini/settings.json"),
            (McpClient::ClaudeDesktop, "/home/ann/.config/Claude/claude_desktop_config.json"),
            (McpClient::Cursor, "/home/ann/.cursor/mcp.json"),
            (McpClient::Vscode, "/home/ann/.config/Code/User/mcp.json"),
            (McpClient::Windsurf, "/home/ann/.codeium/windsurf/mcp_config.json"),
            (McpClient::Zed, "/home/ann/.config/zed/settings.json"),
        ] {
            assert_eq!(file(OperatingSystem::Linux, client, &[("HOME", "/home/ann")]), expected);
        }
    }

    #[test]
    fn each_client_has_its_file_on_macos() {
        for (client, expected) in [
            (McpClient::Claude, "/Users/ann/.claude.json"),
            (McpClient::Codex, "/Users/ann/.codex/config.toml"),
            (McpClient::Gemini, "/Users/ann/.gemini/settings.json"),
            (McpClient::ClaudeDesktop, "/Users/ann/Library/Application Support/Claude/claude_desktop_config.json"),
            (McpClient::Cursor, "/Users/ann/.cursor/mcp.json"),
            (McpClient::Vscode, "/Users/ann/Library/Application Support/Code/User/mcp.json"),
            (McpClient::Windsurf, "/Users/ann/.codeium/windsurf/mcp_config.json"),
            (McpClient::Zed, "/Users/ann/.config/zed/settings.json"),
        ] {
            assert_eq!(file(OperatingSystem::MacOs, client, &[("HOME", "/Users/ann")]), expected);
        }
    }

    #[test]
    fn each_client_has_its_file_on_windows() {
        let home = ("USERPROFILE", r"C:\Users\ann");
        let roaming = ("APPDATA", r"D:\Roaming");
        for (client, expected) in [
            (McpClient::Claude, r"C:\Users\ann\.claude.json"),
            (McpClient::Codex, r"C:\Users\ann\.codex\config.toml"),
            (McpClient::Gemini, r"C:\Users\ann\.gemini\settings.json"),
            (McpClient::ClaudeDesktop, r"D:\Roaming\Claude\claude_desktop_config.json"),
            (McpClient::Cursor, r"C:\Users\ann\.cursor\mcp.json"),
            (McpClient::Vscode, r"D:\Roaming\Code\User\mcp.json"),
            (McpClient::Windsurf, r"C:\Users\ann\.codeium\windsurf\mcp_config.json"),
            (McpClient::Zed, r"D:\Roaming\Zed\settings.json"),
        ] {
            assert_eq!(file(OperatingSystem::Windows, client, &[home, roaming]), expected);
        }
        let usual = file(OperatingSystem::Windows, McpClient::Zed, &[home]);
        assert_eq!(usual, r"C:\Users\ann\AppData\Roaming\Zed\settings.json");
    }

    #[test]
    fn folder_variables_are_respected() {
        let home = ("HOME", "/home/ann");
        for (client, variable, value, expected) in [
            (McpClient::Claude, "CLAUDE_CONFIG_DIR", "/c", "/c/.claude.json"),
            (McpClient::Codex, "CODEX_HOME", "/c", "/c/config.toml"),
            (McpClient::Gemini, "GEMINI_CLI_HOME", "/c", "/c/.gemini/settings.json"),
            (McpClient::Zed, "XDG_CONFIG_HOME", "/c", "/c/zed/settings.json"),
            (McpClient::Vscode, "XDG_CONFIG_HOME", "/c", "/c/Code/User/mcp.json"),
            // The specification requires such a path to be ignored.
            (McpClient::Zed, "XDG_CONFIG_HOME", "c", "/home/ann/.config/zed/settings.json"),
            (McpClient::Codex, "CODEX_HOME", "", "/home/ann/.codex/config.toml"),
        ] {
            assert_eq!(file(OperatingSystem::Linux, client, &[home, (variable, value)]), expected);
        }
    }

    #[test]
    fn flatpak_is_second_on_linux_only() {
        let folders = |system| {
            UserFolders::from_environment(system, |name| (name == "HOME").then(|| "/home/ann".into())).unwrap()
        };
        let files: Vec<_> =
            folders(OperatingSystem::Linux).places(McpClient::Zed).into_iter().map(|place| place.file).collect();
        let boxed = PathBuf::from("/home/ann/.var/app/dev.zed.Zed/config/zed/settings.json");
        assert_eq!(files[1..], [boxed]);
        assert_eq!(folders(OperatingSystem::MacOs).places(McpClient::Zed).len(), 1);
    }

    #[test]
    fn relative_home_is_an_error() {
        for (system, value, named) in [
            (OperatingSystem::Linux, None, "HOME"),
            (OperatingSystem::Linux, Some(""), "HOME"),
            (OperatingSystem::Linux, Some("ann"), "HOME"),
            (OperatingSystem::Windows, Some("/home/ann"), "USERPROFILE"),
            (OperatingSystem::Windows, Some("C:ann"), "USERPROFILE"),
        ] {
            let variable = |name: &str| value.filter(|_| ["HOME", "USERPROFILE"].contains(&name)).map(OsString::from);
            assert_eq!(UserFolders::from_environment(system, variable), Err(NoHome(named)), "{value:?}");
        }
    }
}
