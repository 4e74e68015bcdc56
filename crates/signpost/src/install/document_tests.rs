//! Tests edits of realistic configuration files: an added entry is at the right position, all other
//! text is unchanged, and removing the entry restores every byte.

use serde_json::json;

use super::client::McpClient;
use super::document::FileFormat;
use super::edit_error::EditError;
use super::entry::ServerEntry;
use super::members::Members;

fn program() -> ServerEntry {
    let args = ["mcp", "--data-dir", "/home/ann/signpost-data"].map(str::to_owned).to_vec();
    ServerEntry::Program { command: "/usr/bin/signpost".to_owned(), args }
}

fn remote() -> ServerEntry {
    ServerEntry::remote("https://atm.example.com/mcp").unwrap()
}

fn members(client: McpClient, entry: &ServerEntry) -> Members {
    entry.members(client).unwrap()
}

fn set(client: McpClient, entry: &ServerEntry, text: &str) -> String {
    client.format().set(text, &members(client, entry)).unwrap()
}

const CLAUDE_DESKTOP: &str = r#"{
  "globalShortcut": "Ctrl+Space",
  "mcpServers": {
    "files": { "command": "npx", "args": ["-y", "files", "/home/ann"] }
  }
}
"#;

const CURSOR: &str = r#"{
    // Servers of the whole machine.
    "mcpServers": {
        "docs": {"url": "https://docs.example/mcp"}, // theirs
    },
    /* Unknown to us. */
    "zeta": [1, 2.50, null],
    "alpha": "é \u00e9"
}"#;

const VSCODE: &str = "{\r\n\t// asked once\r\n\t\"inputs\": [\r\n\t\t{ \"id\": \"token\", \"type\": \"promptString\" },\r\n\t],\r\n\t\
                      \"servers\": {\r\n\t\t\"docs\": { \"type\": \"http\", \"url\": \"https://docs.example/mcp\" },\r\n\t},\r\n}\r\n";

const WINDSURF: &str = "{\"mcpServers\":{\"docs\":{\"serverUrl\":\"https://docs.example/mcp\"}},\"b\":1,\"a\":2}";

const ZED: &str = r#"// Zed settings
{
  "theme": {
    "mode": "system", // by the clock
    "light": "One Light",
  },
  "ui_font_size": 16,
}
"#;

const CODEX: &str = "# Codex\nmodel = \"o\" # the newest\n\n[mcp_servers.docs] # theirs\nurl = 'https://docs.example/mcp'\n\n\
                     [profiles.\"a b\"]\nmodel = \"p\"\n\n# the end\n";

/// The entry of a program and of an address in each file, before and after.
#[test]
fn added_entry_preserves_the_rest() {
    for (client, entry, before, added) in [
        (
            McpClient::ClaudeDesktop,
            program(),
            CLAUDE_DESKTOP,
            &[
                "\"/home/ann\"] },\n    \"signpost\": {\n      \"command\": \"/usr/bin/signpost\",\n      \"args\": [\"mcp\", \
               \"--data-dir\", \"/home/ann/signpost-data\"]\n    }\n  }\n}\n",
            ][..],
        ),
        (
            McpClient::Cursor,
            remote(),
            CURSOR,
            &[
                "// theirs\n        \"signpost\": {\n            \"url\": \"https://atm.example.com/mcp\",\n        },\n    },\n    /* Unknown",
            ],
        ),
        (
            McpClient::Vscode,
            remote(),
            VSCODE,
            &[
                "\t\t\"signpost\": {\r\n\t\t\t\"type\": \"http\",\r\n\t\t\t\"url\": \"https://atm.example.com/mcp\",\r\n\t\t},\r\n\t},",
            ],
        ),
        (
            McpClient::Windsurf,
            remote(),
            WINDSURF,
            &["\"signpost\": {\n      \"serverUrl\": \"https://atm.example.com/mcp\"\n"],
        ),
        (
            McpClient::Zed,
            program(),
            ZED,
            &[
                "  \"context_servers\": {\n    \"signpost\": {\n      \"source\": \"custom\",\n      \"command\": \"/usr/bin/signpost\",",
            ],
        ),
        (
            McpClient::Codex,
            program(),
            CODEX,
            &[
                "[mcp_servers.signpost]\ncommand = \"/usr/bin/signpost\"\nargs = [\"mcp\", \"--data-dir\", \"/home/ann/signpost-data\"]\n",
            ],
        ),
    ] {
        let after = set(client, &entry, before);
        assert!(added.iter().all(|part| after.contains(part)), "{after}");
        // The previous text is still present in its order, around the new text.
        let mut rest = after.chars();
        let letters = before.chars().filter(|letter| !letter.is_whitespace());
        assert!(letters.into_iter().all(|letter| rest.any(|other| other == letter)), "{after}");
        assert_eq!(set(client, &entry, &after), after, "a second time changes nothing");
    }
}

#[test]
fn entry_is_removed_from_a_changed_file() {
    for (client, before) in [
        (McpClient::ClaudeDesktop, CLAUDE_DESKTOP),
        (McpClient::Cursor, CURSOR),
        (McpClient::Vscode, VSCODE),
        (McpClient::Codex, CODEX),
    ] {
        let after = set(client, &program(), before).replace("docs.example", "other.example");
        let without = client.format().remove(&after).unwrap();
        assert_eq!(without, before.replace("docs.example", "other.example"), "{}", client.name());
    }
}

#[test]
fn user_members_of_the_entry_are_preserved() {
    let before = "{\"mcpServers\": {\n  \"signpost\": {\n    // off for now\n    \"disabled\": true,\n    \"command\": \
                  \"/old/signpost\", \"args\": [\"mcp\"]\n  }\n}}";
    let after = set(McpClient::Cursor, &remote(), before);
    assert!(after.contains("// off for now\n    \"disabled\": true,"), "{after}");
    let found = McpClient::Cursor.format().find(&after).unwrap().unwrap();
    assert_eq!(found, json!({ "disabled": true, "url": "https://atm.example.com/mcp" }));
    let before =
        "[mcp_servers.signpost]\ncommand = '/usr/bin/signpost' # ours\nargs = ['mcp']\nenabled = false # off\n";
    let after = set(McpClient::Codex, &program(), before);
    assert!(
        after.contains("command = '/usr/bin/signpost' # ours\n") && after.contains("enabled = false # off\n"),
        "{after}"
    );
}

#[test]
fn windows_path_is_escaped() {
    let args = vec!["mcp".to_owned(), "--data-dir".to_owned(), r"C:\Users\ann\data".to_owned()];
    let entry = ServerEntry::Program { command: r"C:\Program Files\signpost.exe".to_owned(), args };
    let text = set(McpClient::ClaudeDesktop, &entry, "");
    assert!(text.contains(r#""C:\\Program Files\\signpost.exe""#) && text.ends_with("\n}\n"), "{text}");
    for client in McpClient::ALL {
        let found = client.format().find(&set(client, &entry, "")).unwrap().unwrap();
        assert_eq!(found["command"], r"C:\Program Files\signpost.exe", "{}", client.name());
    }
}

#[test]
fn byte_order_mark_is_preserved() {
    let text = set(McpClient::Cursor, &remote(), "\u{feff}{}\r\n");
    assert!(text.starts_with("\u{feff}{") && text.ends_with("}\r\n"), "{text:?}");
}

#[test]
fn entry_is_added_to_any_table_syntax() {
    for before in [
        "",
        "[mcp_servers]\n",
        "mcp_servers = { docs = { url = \"u\" } }\n",
        "mcp_servers.docs.url = \"u\"\nmodel = \"o\"\n",
        "[mcp_servers.docs]\nurl = \"u\"",
        "[[list]]\na = 1\n",
    ] {
        let after = set(McpClient::Codex, &remote(), before);
        let found = McpClient::Codex.format().find(&after).unwrap().unwrap();
        assert_eq!(found, json!({ "url": "https://atm.example.com/mcp" }), "{after}");
        assert!(after.contains("[mcp_servers.signpost]") || before.contains('{'), "{after}");
    }
}

#[test]
fn unparsable_file_is_unchanged() {
    for (client, text, expected) in [
        (McpClient::Cursor, "{\n  \"a\": 1\n  \"b\": 2\n}", "line 2, column 9: expected comma"),
        (McpClient::ClaudeDesktop, "{\n  \"a\": 1,\n}", "line 2, column 9: trailing commas are not allowed"),
        (McpClient::Zed, "{ 'a': 1 }", "line 1, column 3: "),
        (McpClient::Vscode, "{", "line 1, column 1: unterminated object"),
        (McpClient::Vscode, "[]", "the file is no object"),
        (McpClient::Vscode, "{\"servers\": []}", "\"servers\" is no object"),
        (McpClient::Cursor, "{\"mcpServers\": null}", "\"mcpServers\" is no object"),
        (McpClient::Cursor, "{\"mcpServers\": {}, \"mcpServers\": {}}", "\"mcpServers\" is there twice"),
        (McpClient::Cursor, "{\"mcpServers\": {\"signpost\": {}, \"signpost\": {}}}", "\"signpost\" is there twice"),
        (McpClient::Codex, "a = 1\nb = \n", "line 2, column 5: "),
        (McpClient::Codex, "mcp_servers = 1\n", "\"mcp_servers\" is no object"),
    ] {
        let found = client.format().set(text, &members(client, &program()));
        assert!(matches!(&found, Err(EditError(reason)) if reason.starts_with(expected)), "{text}: {found:?}");
    }
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(McpClient::Cursor.format().find(&deep).is_err());
}

#[test]
fn empty_file_gets_an_entry() {
    for client in McpClient::ALL {
        for text in ["", "\n", "  "] {
            let after = set(client, &program(), text);
            assert!(client.format().find(&after).unwrap().is_some(), "{after}");
        }
    }
    let FileFormat::Json { container, .. } = McpClient::Vscode.format() else { panic!("JSON") };
    assert_eq!(container, "servers", "another name is passed over in silence");
}
