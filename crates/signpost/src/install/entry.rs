//! What stands in a client's file for this server: the members, by client, and which entries are ours.

use serde_json::{Value, json};
use url::Url;

use super::client::McpClient;
use super::members::{ENTRY_NAME, Members, OWN_MEMBERS};

/// What the path of the address of every such server ends in.
const MCP_PATH: &str = "/mcp";

/// How a client reaches the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerEntry {
    /// It starts this program.
    Program {
        /// The whole path of the program: clients with windows have not the `PATH` of a terminal.
        command: String,
        /// What it is started with: `mcp`, and whole paths.
        args: Vec<String>,
    },
    /// It calls an address.
    Remote(Url),
}

/// A client starts programs alone.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} reads no address from its file: choose Settings, Connectors, Add custom connector there and paste the \
     address, or leave --url out to run Signpost on this machine",
    .0.title()
)]
pub struct NoRemote(McpClient);

/// An address that is none of a server: what is wrong with it, and what to do.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadAddress(String);

impl ServerEntry {
    /// The entry for an address, such as `https://atm.example.com/mcp`. It has no name, password or query: what stands
    /// in clients' files is no place for a secret.
    ///
    /// # Errors
    /// [`BadAddress`], in words for whoever typed it.
    pub fn remote(text: &str) -> Result<Self, BadAddress> {
        let bad = |reason: String| Err(BadAddress(reason));
        let Ok(url) = Url::parse(text) else {
            return bad(format!("'{text}' is no address: write it as https://atm.example.com/mcp"));
        };
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return bad(format!("'{text}' is no address of the web: write it as https://atm.example.com/mcp"));
        }
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() || url.fragment().is_some() {
            return bad("the address has a name, a password, a query or a fragment: the server needs none of them, \
                        and a client's file is no place for a secret"
                .to_owned());
        }
        if !url.path().ends_with(MCP_PATH) {
            let whole = format!("{}{MCP_PATH}", url.as_str().trim_end_matches('/'));
            return bad(format!("the address of the server ends in {MCP_PATH}: is it {whole}?"));
        }
        Ok(Self::Remote(url))
    }

    /// What a client wants to read.
    ///
    /// # Errors
    /// [`NoRemote`] for an address and a client that starts programs alone.
    pub(super) fn members(&self, client: McpClient) -> Result<Members, NoRemote> {
        let (first, rest) = match self {
            Self::Program { command, args } => {
                let first = match client {
                    McpClient::Claude | McpClient::Vscode => Some(("type", "stdio")),
                    McpClient::Zed => Some(("source", "custom")),
                    _ => None,
                };
                (first, vec![("command", json!(command)), ("args", json!(args))])
            }
            Self::Remote(url) => {
                let (first, name) = match client {
                    McpClient::ClaudeDesktop => return Err(NoRemote(client)),
                    // Without the type it would speak the older transport of events.
                    McpClient::Claude | McpClient::Vscode | McpClient::Gemini => (Some(("type", "http")), "url"),
                    // What it is not called is passed over in silence.
                    McpClient::Windsurf => (None, "serverUrl"),
                    McpClient::Codex | McpClient::Cursor | McpClient::Zed => (None, "url"),
                };
                (first, vec![(name, json!(url.as_str()))])
            }
        };
        Ok(first.into_iter().map(|(name, value)| (name, json!(value))).chain(rest).collect())
    }
}

/// Whether an entry says exactly this of how the server is reached.
pub(super) fn says(entry: &Value, members: &[(&str, Value)]) -> bool {
    let wanted = |name: &str| members.iter().find(|(member, _)| *member == name).map(|(_, value)| value);
    OWN_MEMBERS.iter().all(|name| entry.get(name) == wanted(name))
}

/// Whether an entry is one that this program wrote: it starts Signpost, or calls an address as that of every such server.
/// Another program's of the same name is not.
pub(super) fn is_ours(entry: &Value) -> bool {
    let text = |name: &str| entry.get(name).and_then(Value::as_str);
    let is_program = |command: &str| {
        let name = command.rsplit(['/', '\\']).next().unwrap_or_default();
        let args = entry.get("args").and_then(Value::as_array);
        name.strip_suffix(".exe").unwrap_or(name) == ENTRY_NAME
            && args.is_some_and(|args| args.iter().any(|argument| argument == "mcp"))
    };
    let is_address = |url: &str| Url::parse(url).is_ok_and(|url| url.path().ends_with(MCP_PATH));
    match text("command") {
        Some(command) => is_program(command),
        None => ["url", "serverUrl", "httpUrl"].into_iter().filter_map(text).any(is_address),
    }
}

/// The members of an entry that was found, in the order that they are written in.
pub(super) fn in_order(entry: &Value) -> Option<Members> {
    let members = OWN_MEMBERS.into_iter().filter_map(|name| Some((name, entry.get(name)?.clone())));
    let members: Members = members.collect();
    (entry.as_object()?.len() == members.len()).then_some(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_that_of_a_server_and_has_no_secret() {
        for good in ["https://atm.example.com/mcp", "http://127.0.0.1:8080/mcp", "https://example.com/atms/mcp"] {
            assert_eq!(ServerEntry::remote(good).unwrap(), ServerEntry::Remote(Url::parse(good).unwrap()));
        }
        for (bad, told) in [
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
            let BadAddress(reason) = ServerEntry::remote(bad).unwrap_err();
            assert!(reason.contains(told) && !reason.contains("key=secret"), "{bad}: {reason}");
        }
    }

    #[test]
    fn an_entry_is_ours_by_what_it_starts_or_calls_and_not_by_its_name() {
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
            assert_eq!(is_ours(&entry), expected, "{entry}");
        }
    }

    #[test]
    fn an_entry_says_the_same_whatever_else_stands_in_it() {
        let members: Members = vec![("command", json!("c")), ("args", json!(["mcp"]))];
        assert!(says(&json!({ "args": ["mcp"], "command": "c", "env": { "A": "b" } }), &members));
        assert!(!says(&json!({ "args": ["mcp", "x"], "command": "c" }), &members));
        assert!(!says(&json!({ "args": ["mcp"], "command": "c", "url": "https://x/mcp" }), &members));
        assert!(!says(&json!({ "command": "c" }), &members));
    }

    #[test]
    fn no_client_is_given_an_address_that_it_does_not_read() {
        let remote = ServerEntry::remote("https://atm.example.com/mcp").unwrap();
        let without: Vec<_> = McpClient::ALL.into_iter().filter(|client| remote.members(*client).is_err()).collect();
        assert_eq!(without, [McpClient::ClaudeDesktop]);
        assert!(NoRemote(McpClient::ClaudeDesktop).to_string().contains("Add custom connector"));
    }
}
