//! `signpost mcp install`: the configuration files of MCP clients before and after installation and removal.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::thread;

use serde_json::{Value, json};

use crate::harness::Program;

/// Configuration file of each client without an install command, with entries of other programs.
const FILES: [(&str, &str, &str); 5] = [
    (
        "claude-desktop",
        ".config/Claude/claude_desktop_config.json",
        "{\n  \"globalShortcut\": \"\",\n  \"mcpServers\": {\n    \"files\": {\"command\": \"npx\"}\n  }\n}\n",
    ),
    (
        "cursor",
        ".cursor/mcp.json",
        "{\n\t// mine\n\t\"mcpServers\": {\n\t\t\"docs\": {\"url\": \"u\"},\n\t},\n\t\"z\": 1.50\n}",
    ),
    (
        "vscode",
        ".config/Code/User/mcp.json",
        "{\r\n  \"servers\": {}, // none yet\r\n  \"inputs\": [\r\n    {\"id\": \"a\"},\r\n  ],\r\n}\r\n",
    ),
    (
        "windsurf",
        ".codeium/windsurf/mcp_config.json",
        "{\"mcpServers\":{\"docs\":{\"serverUrl\":\"u\"}},\"b\":1,\"a\":2}",
    ),
    ("zed", ".config/zed/settings.json", "// Settings\n{\n  \"theme\": \"One\", /* dark */\n  \"tabs\": {},\n}\n"),
];

/// A home folder with the configuration file of a client.
struct Home(tempfile::TempDir);

impl Home {
    fn empty() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn with(file: &str, text: &str) -> Self {
        let home = Self::empty();
        fs::create_dir_all(home.at(file).parent().unwrap()).unwrap();
        fs::write(home.at(file), text).unwrap();
        home
    }

    fn at(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    fn text(&self, file: &str) -> String {
        fs::read_to_string(self.at(file)).unwrap()
    }

    /// Prepares `signpost mcp install` with these arguments.
    fn install(&self, arguments: &[&str]) -> Program {
        let all = [&["mcp", "install", "--data-dir", "data"], arguments].concat();
        Program::within(self.0.path(), &all).env("HOME", self.0.path().to_str().unwrap())
    }

    fn done(&self, arguments: &[&str]) -> Value {
        self.install(&[arguments, &["--json"]].concat()).run().json()
    }

    /// Returns the file names in the folder of a file.
    fn names(&self, file: &str) -> Vec<String> {
        let entries = fs::read_dir(self.at(file).parent().unwrap()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn install_and_remove_restore_each_file() {
    for (client, file, before) in FILES {
        let home = Home::with(file, before);
        fs::set_permissions(home.at(file), Permissions::from_mode(0o640)).unwrap();
        let done = home.done(&[client]);
        assert_eq!((&done[0]["client"], &done[0]["action"]), (&json!(client), &json!("added")));
        assert_eq!((&done[0]["changed"], &done[0]["file"]), (&json!(true), &json!(home.at(file))));
        let after = home.text(file);
        let data = home.at("data").display().to_string();
        assert!(after.contains(&format!("\"--data-dir\", \"{data}\"")), "{after}");
        assert!(after.contains(&format!("\"command\": \"{}\"", env!("CARGO_BIN_EXE_signpost"))), "{after}");
        assert_eq!(home.text(&format!("{file}.bak")), before);
        assert_eq!((mode(&home.at(file)), mode(&home.at(&format!("{file}.bak")))), (0o640, 0o640));

        assert_eq!(home.done(&[client])[0]["changed"], false);
        assert_eq!(home.text(file), after, "a second time nothing is written");
        assert_eq!(home.done(&[client, "--uninstall"])[0]["action"], "removed");
        assert_eq!((home.text(file).as_str(), mode(&home.at(file))), (before, 0o640));
        assert_eq!(home.names(file).len(), 1, "no backup of unchanged content");
        assert_eq!(home.done(&[client, "--uninstall"])[0]["changed"], false);
    }
}

#[test]
fn install_creates_missing_files() {
    let home = Home::empty();
    let url = "https://atm.example.com/mcp";
    for client in ["claude", "codex", "gemini", "claude-desktop", "cursor", "vscode", "windsurf", "zed"] {
        let how: &[&str] = if client == "claude-desktop" { &[] } else { &["--url", url] };
        let done = home.done(&[&[client], how].concat());
        let file = PathBuf::from(done[0]["file"].as_str().unwrap());
        assert_eq!(mode(&file), 0o600, "{client}");
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(if how.is_empty() { "\"mcp\"" } else { url }), "{client}: {text}");
        assert_eq!(home.done(&[client, "--uninstall"])[0]["action"], "removed");
        assert!(!file.exists(), "{client}");
    }
}

#[test]
fn new_address_replaces_only_the_address() {
    let home = Home::with(".cursor/mcp.json", "{}");
    home.done(&["cursor"]);
    let entry =
        || serde_json::from_str::<Value>(&home.text(".cursor/mcp.json")).unwrap()["mcpServers"]["signpost"].take();
    let text = home.text(".cursor/mcp.json").replace("\"command\"", "\"env\": {\"A\": \"b\"}, \"command\"");
    fs::write(home.at(".cursor/mcp.json"), text).unwrap();
    let done = home.done(&["cursor", "--url", "https://atm.example.com/mcp"]);
    assert_eq!(done[0]["action"], "replaced");
    assert_eq!(entry(), json!({ "env": { "A": "b" }, "url": "https://atm.example.com/mcp" }));
    home.done(&["cursor", "--uninstall"]);
    assert!(!home.text(".cursor/mcp.json").contains("signpost"));
}

#[test]
fn foreign_entry_with_our_name_is_unchanged() {
    let before = "{\"mcpServers\": {\"signpost\": {\"command\": \"npx\", \"args\": [\"signposts\"]}}}";
    let home = Home::with(".cursor/mcp.json", before);
    for (arguments, expected) in [
        (&["cursor"][..], "another server named"),
        (&["cursor", "--uninstall"], "is a different server and is not changed"),
    ] {
        assert!(home.install(arguments).run().failed(1).contains(expected));
        assert_eq!(home.text(".cursor/mcp.json"), before);
    }
}

#[test]
fn unreadable_file_is_unchanged() {
    let file = ".cursor/mcp.json";
    for (text, expected) in [
        ("{\n  \"mcpServers\": {\n    \"a\": }\n}", "mcp.json: line 3, column 10: "),
        ("{\"mcpServers\": 7}", "\"mcpServers\" is no object"),
        ("null", "the file is no object"),
    ] {
        let home = Home::with(file, text);
        for arguments in [&["cursor"][..], &["cursor", "--uninstall"], &["cursor", "--dry-run"]] {
            assert!(home.install(arguments).run().failed(1).contains(expected), "{text}");
        }
        assert_eq!((home.text(file).as_str(), home.names(file)), (text, vec!["mcp.json".to_owned()]));
    }
    let home = Home::with(".codex/config.toml", "a = 1\nb = = 2\n");
    assert!(home.install(&["codex"]).run().failed(1).contains("config.toml: line 2, column 5: "));
}

#[test]
fn special_files_are_rejected() {
    let file = ".cursor/mcp.json";
    let home = Home::with(file, "{}");
    let response = |home: &Home| home.install(&["cursor"]).run().failed(1).to_owned();
    fs::set_permissions(home.at(file), Permissions::from_mode(0o444)).unwrap();
    assert!(response(&home).contains("is read-only"));
    assert_eq!(home.text(file), "{}");

    let home = Home::empty();
    fs::create_dir_all(home.at(file)).unwrap();
    assert!(response(&home).contains("mcp.json is no file"));

    let home = Home::with(file, "");
    fs::OpenOptions::new().write(true).open(home.at(file)).unwrap().set_len((16 << 20) + 1).unwrap();
    assert!(response(&home).contains("more than 16 MiB"));

    let home = Home::empty();
    fs::create_dir_all(home.at(".cursor")).unwrap();
    fs::write(home.at(file), [0xff, 0xfe, b'{']).unwrap();
    assert!(response(&home).contains("is not UTF-8"));
    fs::remove_file(home.at(file)).unwrap();
    symlink("mcp.json", home.at(file)).unwrap();
    assert!(response(&home).contains("leads in a circle"));
}

#[test]
fn symbolic_link_is_followed_and_preserved() {
    let file = ".cursor/mcp.json";
    for text in [Some("{\"a\": 1}"), None] {
        let home = Home::empty();
        fs::create_dir_all(home.at(".cursor")).unwrap();
        fs::create_dir_all(home.at("dotfiles")).unwrap();
        if let Some(text) = text {
            fs::write(home.at("dotfiles/cursor.json"), text).unwrap();
        }
        symlink("../dotfiles/cursor.json", home.at(file)).unwrap();
        home.done(&["cursor"]);
        assert!(home.at(file).is_symlink());
        assert!(home.text("dotfiles/cursor.json").contains("signpost"));
        home.done(&["cursor", "--uninstall"]);
        assert!(home.at(file).is_symlink());
        assert_eq!(fs::read_to_string(home.at("dotfiles/cursor.json")).ok().as_deref(), text);
    }
}

#[test]
fn concurrent_installs_leave_one_entry() {
    let (client, file, before) = FILES[1];
    let home = Home::with(file, before);
    thread::scope(|scope| {
        let all: Vec<_> = (0..8).map(|_| scope.spawn(|| home.install(&[client, "--json"]).run().json())).collect();
        let done: Vec<_> = all.into_iter().map(|one| one.join().unwrap()).collect();
        assert!(done.iter().any(|done| done[0]["action"] == "added"));
    });
    let text = home.text(file);
    assert_eq!((text.matches("\"signpost\"").count(), text.matches("// mine").count()), (1, 1), "{text}");
    assert_eq!(home.names(file), ["mcp.json", "mcp.json.bak"], "nothing half-written is left");
    home.done(&[client, "--uninstall"]);
    assert_eq!(home.text(file), before);
}

#[test]
fn install_without_a_client_lists_found_clients() {
    let home = Home::empty();
    assert!(home.install(&[]).run().failed(1).contains("name one of claude, codex, gemini, claude-desktop"));
    for folder in [".cursor", ".config/zed"] {
        fs::create_dir_all(home.at(folder)).unwrap();
    }
    let response = home.install(&[]).run();
    assert!(
        response.failed(2).contains("found cursor, zed; ")
            && response.err.contains("'signpost mcp install cursor zed'")
    );
    let rehearsed = home.done(&["--dry-run"]);
    let rehearsed: Vec<_> = rehearsed.as_array().unwrap().iter().map(|one| (&one["client"], &one["changed"])).collect();
    assert_eq!(rehearsed, [(&json!("cursor"), &json!(true)), (&json!("zed"), &json!(true))]);
    let printed = home.done(&["--print", "--url", "https://atm.example.com/mcp"]);
    assert!(printed[1]["text"].as_str().unwrap().contains("\"context_servers\""), "{printed}");
    assert_eq!((home.names(".cursor/x"), home.names(".config/zed/x")), (vec![], vec![]), "nothing was written");
    assert!(home.install(&["--uninstall"]).run().failed(1).contains("no client has the entry"));
}

#[test]
fn failed_client_does_not_stop_the_others() {
    let home = Home::with(".cursor/mcp.json", "{");
    let ended = home.install(&["cursor", "zed", "--json"]).run();
    let done: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!((ended.code, &done[1]["action"]), (Some(1), &json!("added")));
    assert!(done[0]["error"].as_str().unwrap().contains("line 1, column 1"), "{done}");
    assert!(ended.err.starts_with("signpost: Cursor: "), "{}", ended.err);
}

#[test]
fn secrets_are_not_written_to_files() {
    let home = Home::empty();
    let response = home.install(&["cursor"]).env("SIGNPOST_DATABASE_URL", "postgres://ann:secret@db/x").run();
    assert!(
        response.failed(2).contains("may have a password") && !response.err.contains("secret@"),
        "{}",
        response.err
    );
    for url in ["https://ann:secret@atm.example.com/mcp", "https://atm.example.com/mcp?key=secret"] {
        assert!(home.install(&["cursor", "--url", url]).run().failed(2).contains("no place for a secret"));
    }
    assert!(!home.at(".cursor").exists());
    home.install(&["cursor"]).env("SIGNPOST_SEAL_KEY", &"5e".repeat(32)).run();
    assert!(!home.text(".cursor/mcp.json").contains("5e5e"));
}

#[test]
fn client_gets_absolute_file_paths() {
    let home = Home::empty();
    fs::write(home.at("my.toml"), "data_dir = \"elsewhere\"\n").unwrap();
    let all = ["mcp", "--config", "my.toml", "install", "cursor", "--advisories", "law.toml", "--json"];
    let home_path = home.0.path().to_str().unwrap();
    Program::within(home.0.path(), &all).env("HOME", home_path).run().json();
    let whole: Value = serde_json::from_str(&home.text(".cursor/mcp.json")).unwrap();
    let at = |name: &str| home.at(name).display().to_string();
    let expected = ["mcp", "--data-dir", &at("elsewhere"), "--config", &at("my.toml"), "--advisories", &at("law.toml")];
    let expected = [&expected[..], &["--fictional-without-data"]].concat();
    assert_eq!(whole["mcpServers"]["signpost"]["args"], json!(expected));
}

#[test]
fn missing_data_prints_the_import_command() {
    let home = Home::empty();
    let response = home.install(&["cursor"]).run();
    assert_eq!((response.code, response.err.as_str()), (Some(0), ""));
    assert!(
        response.out.starts_with("Cursor: added to /") && response.out.contains("has no data yet"),
        "{}",
        response.out
    );
    let response = home.install(&["cursor", "--url", "https://atm.example.com/mcp"]).run();
    assert!(!response.out.contains("no data"), "{}", response.out);
}

#[test]
fn install_without_a_home_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for home in [None, Some(""), Some("relative")] {
        let program = Program::within(folder.path(), &["mcp", "install", "cursor"]);
        let program = home.into_iter().fold(program, |program, home| program.env("HOME", home));
        assert!(program.run().failed(1).contains("set HOME"));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn stdio_only_client_rejects_an_address() {
    let home = Home::empty();
    let response = home.install(&["claude-desktop", "--url", "https://atm.example.com/mcp"]).run();
    assert!(response.failed(1).contains("Add custom connector"));
    assert!(home.install(&["emacs"]).run().err.contains("possible values: claude, codex, gemini"));
}

/// Creates the command of a client as a shell script. Returns the search path with its folder. Another process creates
/// the executable file: if this process had it open for writing while another test starts a program, that program would
/// inherit it for a moment, and the script could not be run ("Text file busy").
fn with_command(home: &Home, name: &str, script: &str) -> String {
    fs::create_dir_all(home.at("bin")).unwrap();
    let source = home.at("script");
    fs::write(&source, format!("#!/bin/sh\n{script}\n")).unwrap();
    let mut install = std::process::Command::new("install");
    install.args(["-m", "755"]).arg(&source).arg(home.at("bin").join(name));
    assert!(install.status().unwrap().success());
    fs::remove_file(source).unwrap();
    format!("{}:/usr/bin:/bin", home.at("bin").display())
}

#[test]
fn client_command_is_preferred_and_verified() {
    let home = Home::empty();
    let url = "https://atm.example.com/mcp";
    let writes = format!(
        "echo \"$@\" >> told; printf '{{\"mcpServers\":{{\"signpost\":{{\"type\":\"http\",\"url\":\"{url}\"}}}}}}' > .claude.json"
    );
    let path = with_command(&home, "claude", &writes);
    let install = |more: &[&str]| home.install(&[&["claude"], more].concat()).env("PATH", &path).run();
    let done = install(&["--url", url, "--json"]).json();
    assert_eq!(done[0]["command"][1], "mcp");
    assert_eq!(home.text("told"), format!("mcp add -s user --transport http signpost {url}\n"));
    assert_eq!(install(&["--url", url, "--json"]).json()[0]["changed"], false);
    assert_eq!(home.text("told").lines().count(), 1, "it does not run if nothing changes");

    with_command(&home, "claude", "echo 'no such scope' >&2; exit 1");
    let response = install(&["--uninstall"]);
    assert!(response.failed(1).ends_with("failed: no such scope"), "{}", response.err);
    with_command(&home, "claude", "exit 0");
    assert!(install(&["--uninstall"]).failed(1).contains("shows nothing of it"));
    with_command(&home, "claude", "echo '{}' > .claude.json");
    assert_eq!(install(&["--uninstall", "--json"]).json()[0]["action"], "removed");
}

#[test]
fn bundle_has_the_name_that_clients_expect() {
    let home = Home::empty();
    let bundle = |arguments: &[&str]| Program::within(home.0.path(), &[&["mcp", "bundle"], arguments].concat()).run();
    assert!(bundle(&["signpost.zip"]).failed(2).contains("end in .mcpb"));
    assert!(bundle(&["signpost.mcpb", "--advisories", "law.toml"]).failed(2).contains("built-in advisories"));
    fs::write(home.at("signpost.mcpb"), "mine").unwrap();
    assert!(bundle(&["signpost.mcpb"]).failed(1).contains("cannot create signpost.mcpb"));
    assert_eq!(home.text("signpost.mcpb"), "mine");
}
