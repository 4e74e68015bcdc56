//! The entry of this server in a client's configuration file.

use serde_json::{Value, json};
use url::Url;

use super::client::McpClient;
use super::members::{ENTRY_NAME, Members, SERVER_MEMBERS, find_member};

/// The end of the path of an MCP server's address.
const MCP_PATH: &str = "/mcp";

/// An entry: how a client connects to the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerEntry {
    /// The client starts this program.
    Program {
        /// The absolute path of the program: desktop clients do not have the `PATH` of a terminal.
        command: String,
        /// The arguments: `mcp`, and absolute paths.
        args: Vec<String>,
    },
    /// The client calls this address.
    Remote(Url),
}

/// The error for a client that can only start programs.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} reads no address from its file: choose Settings, Connectors, Add custom connector there and paste the \
     address, or leave --url out to run Signpost on this machine",
    .0.title()
)]
pub struct RemoteUnsupported(McpClient);

/// The error for an invalid address of a server: the reason, and the fix.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidAddress(String);

impl ServerEntry {
    /// Parses an address such as `https://atm.example.com/mcp`. It must have no user name, password or query, because
    /// clients' files must not contain secrets.
    ///
    /// # Errors
    /// Returns [`InvalidAddress`] if the address cannot belong to an MCP server.
    pub fn remote(text: &str) -> Result<Self, InvalidAddress> {
        let Ok(url) = Url::parse(text) else {
            return Err(InvalidAddress(format!("'{text}' is no address: write it as https://atm.example.com/mcp")));
        };
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            let reason = format!("'{text}' is no address of the web: write it as https://atm.example.com/mcp");
            return Err(InvalidAddress(reason));
        }
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() || url.fragment().is_some() {
            let reason = "the address has a name, a password, a query or a fragment: the server needs none of them, \
                          and a client's file is no place for a secret";
            return Err(InvalidAddress(reason.to_owned()));
        }
        if !url.path().ends_with(MCP_PATH) {
            let whole = format!("{}{MCP_PATH}", url.as_str().trim_end_matches('/'));
            return Err(InvalidAddress(format!("the address of the server ends in {MCP_PATH}: is it {whole}?")));
        }
        Ok(Self::Remote(url))
    }

    /// Returns the members of the entry, in the format of the client.
    ///
    /// # Errors
    /// Returns [`RemoteUnsupported`] if the entry is an address and the client can only start programs.
    pub(super) fn members(&self, client: McpClient) -> Result<Members, RemoteUnsupported> {
        let mut members = Members::new();
        match self {
            Self::Program { command, args } => {
                match client {
                    McpClient::Claude | McpClient::Vscode => members.push(("type", json!("stdio"))),
                    McpClient::Zed => members.push(("source", json!("custom"))),
                    _ => {}
                }
                members.extend([("command", json!(command)), ("args", json!(args))]);
            }
            Self::Remote(url) => {
                let mut name = "url";
                match client {
                    McpClient::ClaudeDesktop => return Err(RemoteUnsupported(client)),
                    // Without the type, these clients would use the older SSE transport.
                    McpClient::Claude | McpClient::Vscode | McpClient::Gemini => members.push(("type", json!("http"))),
                    // Windsurf silently ignores other names.
                    McpClient::Windsurf => name = "serverUrl",
                    McpClient::Codex | McpClient::Cursor | McpClient::Zed => {}
                }
                members.push((name, json!(url.as_str())));
            }
        }
        Ok(members)
    }
}

/// Returns true if the entry describes the server with exactly these members. Other members are ignored.
pub(super) fn matches_members(entry: &Value, members: &[(&'static str, Value)]) -> bool {
    SERVER_MEMBERS.iter().all(|name| entry.get(name) == find_member(members, name))
}

/// Returns true if this program wrote the entry: it starts Signpost, or calls an address that ends in `/mcp`. Another
/// program may have written an entry of this name.
pub(super) fn is_signpost_entry(entry: &Value) -> bool {
    if let Some(command) = entry["command"].as_str() {
        let name = command.rsplit(['/', '\\']).next().unwrap_or_default();
        let has_argument = entry["args"].as_array().is_some_and(|args| args.iter().any(|argument| argument == "mcp"));
        return name.strip_suffix(".exe").unwrap_or(name) == ENTRY_NAME && has_argument;
    }
    ["url", "serverUrl", "httpUrl"].into_iter().any(|name| {
        let url = entry[name].as_str().unwrap_or_default();
        Url::parse(url).is_ok_and(|url| url.path().ends_with(MCP_PATH))
    })
}

/// Returns the members of an entry in their usual order. `None` if the entry has other members.
pub(super) fn ordered_members(entry: &Value) -> Option<Members> {
    let members = SERVER_MEMBERS.into_iter().filter_map(|name| Some((name, entry.get(name)?.clone())));
    let members: Members = members.collect();
    (entry.as_object()?.len() == members.len()).then_some(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_must_not_contain_a_secret() {
        for good in ["https://atm.example.com/mcp", "http://127.0.0.1:8080/mcp", "https://example.com/atms/mcp"] {
            assert_eq!(ServerEntry::remote(good).unwrap(), ServerEntry::Remote(Url::parse(good).unwrap()));
        }
        for (bad, phrase) in [
            ("atm.example.com", "write it as"),
            ("", "write it as"),
            ("file:///mcp", "no address of the web"),
            ("https://atm.example.com", "is it https://atm.example.com/mcp?"),
            ("https://atm.example.com/", "is it https://atm.example.com/mcp?"),
            ("https://atm.example.com/sse", "ends in /mcp"),
            ("https://ann:secret@atm.example.com/mcp", "no place for a secret"),
            ("https://atm.example.com/mcp?key=secret", "no place for a secret"),
            ("https://atm.example.com/mcp#a", "no place for a secret"),
        ] {
            let InvalidAddress(reason) = ServerEntry::remote(bad).unwrap_err();
            assert!(reason.contains(phrase) && !reason.contains("key=secret"), "{bad}: {reason}");
        }
    }

    #[test]
    fn entry_is_recognized_by_its_target() {
        for (entry, expected) in [
            (json!({ "command": "/usr/bin/signpost", "args": ["mcp", "--data-dir", "/d"] }), true),
            (json!({ "command": r"C:\Signpost\signpost.exe", "args": ["mcp"], "disabled": true }), true),
            (json!({ "command": "signpost", "args": ["serve"] }), false),
            (json!({ "command": "signpost" }), false),
            (json!({ "command": "npx", "args": ["signpost", "mcp"] }), false),
            (json!({ "command": "/usr/bin/not-signpost", "args": ["mcp"] }), false),
            (json!({ "url": "https://atm.example.com/mcp" }), true),
            (json!({ "serverUrl": "https://atm.example.com/mcp" }), true),
            (json!({ "url": "https://signs.example/sse" }), false),
            (json!({ "url": "mcp" }), false),
            (json!({ "command": "npx", "args": [], "url": "https://atm.example.com/mcp" }), false),
            (json!({}), false),
            (json!("signpost mcp"), false),
            (json!(null), false),
        ] {
            assert_eq!(is_signpost_entry(&entry), expected, "{entry}");
        }
    }

    #[test]
    fn extra_members_do_not_affect_matching() {
        let members: Members = vec![("command", json!("c")), ("args", json!(["mcp"]))];
        assert!(matches_members(&json!({ "args": ["mcp"], "command": "c", "env": { "A": "b" } }), &members));
        assert!(!matches_members(&json!({ "args": ["mcp", "x"], "command": "c" }), &members));
        assert!(!matches_members(&json!({ "args": ["mcp"], "command": "c", "url": "https://x/mcp" }), &members));
        assert!(!matches_members(&json!({ "command": "c" }), &members));
    }

    #[test]
    fn unsupported_remote_entry_is_an_error() {
        let remote = ServerEntry::remote("https://atm.example.com/mcp").unwrap();
        let without: Vec<_> = McpClient::ALL.into_iter().filter(|client| remote.members(*client).is_err()).collect();
        assert_eq!(without, [McpClient::ClaudeDesktop]);
        assert!(RemoteUnsupported(McpClient::ClaudeDesktop).to_string().contains("Add custom connector"));
    }
}
