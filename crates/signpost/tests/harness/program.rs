//! The program at a command line: the built binary, in a separate folder.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::mpsc;

use super::WAIT_TIMEOUT;

#[derive(Debug)]
pub(crate) struct Program {
    command: Command,
}

/// A command that prints JSON lines until it is stopped.
#[derive(Debug)]
pub(crate) struct StreamingCommand {
    child: Child,
    lines: mpsc::UnboundedReceiver<String>,
}

/// The result of a command.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A server that runs until it is stopped.
#[derive(Debug)]
pub(crate) struct RunningProgram {
    child: Child,
    log: Option<JoinHandle<String>>,
    /// The addresses that `serve --json` prints.
    pub(crate) addresses: Value,
}

impl Program {
    /// Prepares a command whose working directory and data are in `folder`, without the environment of the tests and
    /// with unreachable proxies.
    pub(crate) fn within(folder: &Path, arguments: &[&str]) -> Self {
        Self::of(Path::new(env!("CARGO_BIN_EXE_signpost")), folder, arguments)
    }

    /// Prepares a command like [`Self::within`], with another build of the program.
    pub(crate) fn of(program: &Path, folder: &Path, arguments: &[&str]) -> Self {
        Self::by(Command::new(program), folder, arguments)
    }

    fn by(mut command: Command, folder: &Path, arguments: &[&str]) -> Self {
        command.current_dir(folder).env_clear().args(arguments).stdin(Stdio::null());
        for proxy in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
            command.env(proxy, "http://127.0.0.1:1");
        }
        Self { command }
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn stdout(mut self, stdout: impl Into<Stdio>) -> Self {
        self.command.stdout(stdout);
        self
    }

    pub(crate) fn stdin(mut self, stdin: impl Into<Stdio>) -> Self {
        self.command.stdin(stdin);
        self
    }

    /// Runs the command to its end.
    pub(crate) fn run(mut self) -> CommandOutput {
        self.command.stderr(Stdio::piped());
        let output = self.command.output().expect("the program starts");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        CommandOutput { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Runs the command to its end without blocking the test.
    pub(crate) async fn run_async(self) -> CommandOutput {
        tokio::task::spawn_blocking(|| self.run()).await.expect("no panic")
    }

    /// Starts the command without waiting for it.
    pub(crate) fn spawn(mut self) -> RunningProgram {
        let child = self.command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
        RunningProgram { child, log: None, addresses: Value::Null }
    }

    /// Starts a command whose output lines are read while it runs.
    pub(crate) fn follow(mut self) -> StreamingCommand {
        let mut child = self.command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the program starts");
        let stdout = child.stdout.take().expect("a pipe");
        StreamingCommand::reading(child, stdout)
    }

    /// Starts a command whose log is read while it runs.
    pub(crate) fn follow_log(mut self) -> StreamingCommand {
        let mut child = self.command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let stderr = child.stderr.take().expect("a pipe");
        StreamingCommand::reading(child, stderr)
    }

    /// Starts `serve` on a free port and waits until it is ready.
    pub(crate) fn serve(folder: &Path, environment: &[(&str, &str)]) -> RunningProgram {
        let arguments = ["serve", "--json", "--listen", "127.0.0.1:0", "--services", "auth"];
        Self::within(folder, &arguments).start_server(environment)
    }

    /// Starts `serve` with a limit of open files.
    pub(crate) fn serve_with_file_limit(folder: &Path, descriptors: u32) -> RunningProgram {
        Self::serve_after(folder, &format!("ulimit -n {descriptors}"))
    }

    /// Starts `serve` from a shell that ran another command first, to inherit the changed process state.
    pub(crate) fn serve_after(folder: &Path, before: &str) -> RunningProgram {
        // The tests may run with an ignored SIGHUP, which child processes inherit.
        let mut shell = Command::new("/usr/bin/env");
        let script = format!("{before} && exec \"$0\" \"$@\"");
        shell.args(["--default-signal=HUP", "/bin/sh", "-c", &script, env!("CARGO_BIN_EXE_signpost")]);
        let arguments = ["serve", "--json", "--listen", "127.0.0.1:0"];
        // A fast machine may exceed the login limit of an account per minute.
        let unlimited = [("SIGNPOST_RATE_LIMIT_MCP", "off"), ("SIGNPOST_RATE_LIMIT_CREATE_SESSION", "off")];
        Self::by(shell, folder, &arguments).start_server(&unlimited)
    }

    /// Prepares a command with a limit of open files.
    pub(crate) fn limited(folder: &Path, descriptors: u32, arguments: &[&str]) -> Self {
        let mut shell = Command::new("/bin/sh");
        let limited = "ulimit -n \"$0\" && exec \"$@\"";
        shell.args(["-c", limited, &descriptors.to_string(), env!("CARGO_BIN_EXE_signpost")]);
        Self::by(shell, folder, arguments)
    }

    /// Runs the command as another user.
    pub(crate) fn with_user(mut self, user: u32) -> Self {
        std::os::unix::process::CommandExt::uid(&mut self.command, user);
        self
    }

    /// Starts `serve` with the given build, both services at the given address, and a clock offset.
    pub(crate) fn serve_at(
        program: &Path,
        folder: &Path,
        listen: &str,
        clock: &str,
        environment: &[(&str, &str)],
    ) -> RunningProgram {
        let mut program = Self::of(program, folder, &["serve", "--json", "--listen", listen]);
        // The settings of `faketime`, which would otherwise be a process in between. The loader expands `$LIB`.
        program = program.env("LD_PRELOAD", "/usr/$LIB/faketime/libfaketime.so.1").env("FAKETIME", clock);
        // Monotonic clocks are not shifted.
        program.env("DONT_FAKE_MONOTONIC", "1").env("FAKETIME_DONT_FAKE_MONOTONIC", "1").start_server(environment)
    }

    /// Starts `serve --json` and waits until it is ready.
    pub(crate) fn start_server(self, environment: &[(&str, &str)]) -> RunningProgram {
        let mut command = self.command;
        command.envs(environment.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut line = String::new();
        let mut stderr = child.stderr.take().expect("a pipe");
        let log = std::thread::spawn(move || {
            let mut log = String::new();
            drop(stderr.read_to_string(&mut log));
            log
        });
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let mut running = RunningProgram { child, log: Some(log), addresses: Value::Null };
        let addresses = serde_json::from_str(&line);
        running.addresses = addresses.unwrap_or_else(|_| panic!("no addresses: {line} {}", running.wait_for_exit().1));
        running
    }
}

impl CommandOutput {
    /// Returns the JSON document of a command that succeeded.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{}", self.out);
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }

    /// Returns the error line of a command that failed.
    #[track_caller]
    pub(crate) fn failed(&self, code: i32) -> &str {
        assert_eq!((self.code, self.out.as_str()), (Some(code), ""), "{}", self.err);
        let line = self.err.strip_prefix("signpost: ").unwrap_or_else(|| panic!("no prefix: {}", self.err)).trim_end();
        assert!(!line.is_empty() && !line.contains('\n'), "more than a line: {}", self.err);
        line
    }
}

impl StreamingCommand {
    fn reading(child: Child, printed: impl Read + Send + 'static) -> Self {
        let (send, lines) = mpsc::unbounded_channel();
        let printed = BufReader::new(printed);
        // Ends with the command, or when the test stops reading.
        std::thread::spawn(move || printed.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        Self { child, lines }
    }

    /// Reads the next line as text.
    pub(crate) async fn text_line(&mut self) -> String {
        let line = tokio::time::timeout(WAIT_TIMEOUT, self.lines.recv()).await.expect("a line in time");
        line.expect("another item")
    }

    /// Reads the next line as JSON.
    pub(crate) async fn line(&mut self) -> Value {
        let line = self.text_line().await;
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Interrupts the command like Ctrl+C and waits for its exit. Returns the remaining output.
    pub(crate) async fn interrupt(mut self) -> (ExitStatus, Vec<String>) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill is installed").success());
        let mut rest = Vec::new();
        while let Some(line) = tokio::time::timeout(WAIT_TIMEOUT, self.lines.recv()).await.expect("an end in time") {
            rest.push(line);
        }
        (self.child.wait().expect("a process"), rest)
    }
}

impl Drop for StreamingCommand {
    /// Kills the process.
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl RunningProgram {
    /// Returns an address of the server, by its name in `serve --json`.
    pub(crate) fn address(&self, name: &str) -> String {
        self.addresses[name].as_str().unwrap_or_else(|| panic!("no {name} in {}", self.addresses)).to_owned()
    }

    /// Sends SIGTERM.
    pub(crate) fn terminate(&self) {
        self.signal("TERM");
    }

    /// Sends a signal by name.
    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args([&format!("-{name}"), &self.process().to_string()]).status();
        assert!(status.expect("kill is installed").success());
    }

    /// Returns the process ID.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Kills the process and consumes the handle.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("a process");
        self.child.wait().expect("a process");
    }

    /// Returns the exit status if the process has ended.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a process")
    }

    /// Waits for the exit. Returns the exit status and the log.
    pub(crate) fn wait_for_exit(&mut self) -> (ExitStatus, String) {
        let deadline = Instant::now() + WAIT_TIMEOUT;
        let status = loop {
            if let Some(status) = self.ended() {
                break status;
            }
            assert!(Instant::now() < deadline, "the server did not end within {WAIT_TIMEOUT:?}");
            std::thread::sleep(Duration::from_millis(5));
        };
        (status, self.log.take().expect("ends once").join().expect("no panic"))
    }
}

impl Drop for RunningProgram {
    /// A test that failed leaves no server behind.
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
