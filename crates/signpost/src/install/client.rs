//! The programs that people talk to models in, by the names that they are typed by.

use super::document::FileFormat;

/// A client of the Model Context Protocol: a program in which people talk to a model, and which starts or calls servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum McpClient {
    /// Claude Code, in a terminal.
    Claude,
    /// Codex, in a terminal.
    Codex,
    /// Gemini CLI, in a terminal.
    Gemini,
    /// Claude's program for desktops.
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
    /// All that are known.
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

    /// What is typed: the client's own command where it has one.
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

    /// What else is typed for it.
    #[must_use]
    pub fn alias(self) -> Option<&'static str> {
        match self {
            Self::Claude => Some("claude-code"),
            Self::Gemini => Some("gemini-cli"),
            Self::Vscode => Some("code"),
            _ => None,
        }
    }

    /// The client of a name.
    #[must_use]
    pub fn of_name(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.name() == text || client.alias() == Some(text))
    }

    /// What its makers call it.
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

    /// The program whose command adds a server, found on `PATH`.
    pub(super) fn program(self) -> Option<&'static str> {
        match self {
            Self::Claude | Self::Codex | Self::Gemini => Some(self.name()),
            Self::Vscode => Some("code"),
            _ => None,
        }
    }

    /// How its file is written, and under which key its servers stand. Where the client itself reads no comma behind a
    /// last member, one there is an error: it would leave all servers out and say nothing.
    pub(super) fn format(self) -> FileFormat {
        let json = |container, trailing_commas| FileFormat::Json { container, trailing_commas };
        match self {
            Self::Codex => FileFormat::Toml { container: "mcp_servers" },
            Self::Vscode => json("servers", true),
            Self::Zed => json("context_servers", true),
            Self::Cursor => json("mcpServers", true),
            Self::Claude | Self::Gemini | Self::ClaudeDesktop | Self::Windsurf => json("mcpServers", false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_found_by_each_of_its_names_and_no_name_has_two() {
        let names = McpClient::ALL.into_iter().flat_map(|client| {
            [Some(client.name()), client.alias()].into_iter().flatten().map(move |name| (name, client))
        });
        let names: Vec<_> = names.collect();
        for (name, client) in &names {
            assert_eq!(McpClient::of_name(name), Some(*client), "{name}");
            assert_eq!(names.iter().filter(|(other, _)| other == name).count(), 1, "{name}");
        }
        assert_eq!(McpClient::of_name("emacs"), None);
    }
}
