//! The supported MCP clients, and their names on the command line.

use super::document::FileFormat;

/// A client of the Model Context Protocol: an assistant that starts or calls servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum McpClient {
    /// Claude Code, in a terminal.
    Claude,
    /// Codex, in a terminal.
    Codex,
    /// Gemini CLI, in a terminal.
    Gemini,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Cursor, an editor.
    Cursor,
    /// Visual Studio Code.
    Vscode,
    /// Windsurf, an editor.
    Windsurf,
    /// Zed, an editor.
    Zed,
}

impl McpClient {
    /// All clients.
    pub const ALL: [Self; 8] = [
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::ClaudeDesktop,
        Self::Cursor,
        Self::Vscode,
        Self::Windsurf,
        Self::Zed,
    ];

    /// Returns the name on the command line: the client's own command, if any.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Cursor => "cursor",
            Self::Vscode => "vscode",
            Self::Windsurf => "windsurf",
            Self::Zed => "zed",
        }
    }

    /// Returns the other name on the command line.
    #[must_use]
    pub fn alias(self) -> Option<&'static str> {
        match self {
            Self::Claude => Some("claude-code"),
            Self::Gemini => Some("gemini-cli"),
            Self::Vscode => Some("code"),
            _ => None,
        }
    }

    /// Returns the client with this name or alias.
    #[must_use]
    pub fn from_name(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.name() == text || client.alias() == Some(text))
    }

    /// Returns the product name.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cursor => "Cursor",
            Self::Vscode => "VS Code",
            Self::Windsurf => "Windsurf",
            Self::Zed => "Zed",
        }
    }

    /// Returns the name of the program that can add a server.
    pub(super) fn program(self) -> Option<&'static str> {
        match self {
            Self::Claude | Self::Codex | Self::Gemini => Some(self.name()),
            Self::Vscode => Some("code"),
            _ => None,
        }
    }

    /// Returns the format of the configuration file, and its key for the servers. For clients that do not accept a
    /// trailing comma, it is an error, because they would silently ignore all servers.
    pub(super) fn format(self) -> FileFormat {
        match self {
            Self::Codex => FileFormat::Toml { container: "mcp_servers" },
            Self::Vscode => FileFormat::Json { container: "servers", trailing_commas: true },
            Self::Zed => FileFormat::Json { container: "context_servers", trailing_commas: true },
            Self::Cursor => FileFormat::Json { container: "mcpServers", trailing_commas: true },
            Self::Claude | Self::Gemini | Self::ClaudeDesktop | Self::Windsurf => {
                FileFormat::Json { container: "mcpServers", trailing_commas: false }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_names_are_unique() {
        let names = McpClient::ALL.into_iter().flat_map(|client| {
            [Some(client.name()), client.alias()].into_iter().flatten().map(move |name| (name, client))
        });
        let names: Vec<_> = names.collect();
        for (name, client) in &names {
            assert_eq!(McpClient::from_name(name), Some(*client), "{name}");
            assert_eq!(names.iter().filter(|(other, _)| other == name).count(), 1, "{name}");
        }
        assert_eq!(McpClient::from_name("emacs"), None);
    }
}
