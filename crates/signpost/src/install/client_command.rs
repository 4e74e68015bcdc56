//! Runs a client's own command for changing its configuration.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use super::client::McpClient;
use super::entry::ServerEntry;
use super::folders::OperatingSystem;
use super::members::{ENTRY_NAME, Members};

/// Timeout of a command. Clients start a separate runtime.
const TIMEOUT: Duration = Duration::from_mins(1);
/// Maximum bytes that are read of a command's error output.
const MAX_ERROR_BYTES: u64 = 16 << 10;

/// Returns the arguments that add the entry.
pub(super) fn arguments_to_add(client: McpClient, entry: &ServerEntry, members: &Members) -> Vec<String> {
    if client == McpClient::Vscode {
        let mut named: Map<String, Value> = Map::from_iter([("name".to_owned(), json!(ENTRY_NAME))]);
        named.extend(members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        return vec!["--add-mcp".to_owned(), Value::Object(named).to_string()];
    }
    let mut words = vec!["mcp", "add"];
    match (client, entry) {
        (McpClient::Claude, ServerEntry::Program { command, .. }) => {
            words.extend(["-s", "user", ENTRY_NAME, "--", command]);
        }
        (McpClient::Claude, ServerEntry::Remote(url)) => {
            words.extend(["-s", "user", "--transport", "http", ENTRY_NAME, url.as_str()]);
        }
        (McpClient::Gemini, ServerEntry::Program { command, .. }) => words.extend(["-s", "user", ENTRY_NAME, command]),
        (McpClient::Gemini, ServerEntry::Remote(url)) => {
            words.extend(["-s", "user", "-t", "http", ENTRY_NAME, url.as_str()]);
        }
        (_, ServerEntry::Program { command, .. }) => words.extend([ENTRY_NAME, "--", command]),
        (_, ServerEntry::Remote(url)) => words.extend([ENTRY_NAME, "--url", url.as_str()]),
    }
    if let ServerEntry::Program { args, .. } = entry {
        words.extend(args.iter().map(String::as_str));
    }
    words.into_iter().map(str::to_owned).collect()
}

/// Returns the arguments that remove the entry. `None` if the client has no command for that, such as VS Code.
pub(super) fn arguments_to_remove(client: McpClient) -> Option<Vec<String>> {
    let words: &[&str] = match client {
        McpClient::Claude | McpClient::Gemini => &["mcp", "remove", "-s", "user", ENTRY_NAME],
        McpClient::Codex => &["mcp", "remove", ENTRY_NAME],
        _ => return None,
    };
    Some(words.iter().map(ToString::to_string).collect())
}

/// Finds a program on `PATH`. Scripts of Windows are not programs, because a shell would parse their arguments.
pub(super) fn find_program(system: OperatingSystem, name: &str, path: &OsStr) -> Option<PathBuf> {
    let name = if system == OperatingSystem::Windows { format!("{name}.exe") } else { name.to_owned() };
    // Excludes programs in the working directory.
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(&name)).find(|file| is_program(file))
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

/// Runs a client's command and waits for its end. It runs in a folder without project settings.
pub(super) fn run(program: &Path, arguments: &[String], folder: &Path) -> Result<()> {
    let shown = format!("'{} {}'", program.display(), arguments.join(" "));
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| anyhow::anyhow!("cannot run {shown}: {error}"))?;
    let (sender, errors) = mpsc::channel();
    if let Some(stderr) = child.stderr.take() {
        thread::spawn(move || {
            let mut text = Vec::new();
            // After an error, the text before it is reported.
            let _ = stderr.take(MAX_ERROR_BYTES).read_to_end(&mut text);
            let _ = sender.send(String::from_utf8_lossy(&text).into_owned());
        });
    }
    let status = wait(&mut child).with_context(|| format!("{shown} did not end"))?;
    if status.success() {
        return Ok(());
    }
    // A child process of the command may leave the pipe open.
    let errors = errors.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
    let line = errors.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it says nothing");
    bail!("{shown} failed: {}", signpost_text::clean_line(line))
}

fn wait(child: &mut std::process::Child) -> Result<ExitStatus> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if begun.elapsed() > TIMEOUT {
            child.kill()?;
            child.wait()?;
            bail!("it was stopped after {} s", TIMEOUT.as_secs());
        }
        thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(client: McpClient, entry: &ServerEntry) -> String {
        arguments_to_add(client, entry, &entry.members(client).unwrap()).join(" ")
    }

    #[test]
    fn commands_have_the_client_arguments() {
        let args = ["mcp", "--data-dir", "/d"].map(str::to_owned).to_vec();
        let program = ServerEntry::Program { command: "/p/signpost".to_owned(), args };
        let remote = ServerEntry::remote("https://a.example/mcp").unwrap();
        for (client, entry, expected) in [
            (McpClient::Claude, &program, "mcp add -s user signpost -- /p/signpost mcp --data-dir /d"),
            (McpClient::Claude, &remote, "mcp add -s user --transport http signpost https://a.example/mcp"),
            (McpClient::Codex, &program, "mcp add signpost -- /p/signpost mcp --data-dir /d"),
            (McpClient::Codex, &remote, "mcp add signpost --url https://a.example/mcp"),
            (McpClient::Gemini, &program, "mcp add -s user signpost /p/signpost mcp --data-dir /d"),
            (McpClient::Gemini, &remote, "mcp add -s user -t http signpost https://a.example/mcp"),
            (
                McpClient::Vscode,
                &remote,
                "--add-mcp {\"name\":\"signpost\",\"type\":\"http\",\"url\":\"https://a.example/mcp\"}",
            ),
        ] {
            assert_eq!(added(client, entry), expected);
        }
    }

    #[cfg(unix)]
    #[test]
    fn programs_are_found_in_absolute_folders() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("codex");
        std::fs::write(&file, "#!/bin/sh\n").unwrap();
        let path = std::env::join_paths(["", ".", "/nowhere", folder.path().to_str().unwrap()]).unwrap();
        let find = || find_program(OperatingSystem::Linux, "codex", &path);
        assert_eq!(find(), None);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(find(), Some(file));
    }

    #[cfg(unix)]
    #[test]
    fn command_error_has_its_output() {
        let shell = Path::new("/bin/sh");
        let run_script = |script: &str| run(shell, &["-c".to_owned(), script.to_owned()], Path::new("/"));
        run_script("exit 0").unwrap();
        let response =
            run_script("echo 'first' >&2; echo 'no \u{1b}[31msuch server' >&2; exit 3").unwrap_err().to_string();
        assert!(response.ends_with("failed: no  [31msuch server"), "{response}");
        assert!(run(Path::new("/nowhere"), &[], Path::new("/")).unwrap_err().to_string().contains("cannot run"));
    }
}
