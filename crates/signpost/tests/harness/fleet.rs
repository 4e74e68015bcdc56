//! Three server processes with a shared database and a shared Redis. Tests can kill them, and their clocks differ.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::{Program, RunningProgram};

/// Clock offsets: the first and the last server differ by 20 s.
const CLOCKS: [&str; 3] = ["-10s", "+0s", "+10s"];

#[derive(Debug)]
pub(crate) struct Fleet {
    folder: tempfile::TempDir,
    /// The server addresses, unchanged by restarts.
    pub(crate) addresses: Vec<String>,
    environment: Vec<(String, String)>,
    running: Vec<Mutex<Option<RunningProgram>>>,
    /// The program that the next start runs.
    program: Mutex<PathBuf>,
}

impl Fleet {
    /// Starts all servers with a build of the program.
    pub(crate) fn start(program: &Path, database: &str, redis: &str, settings: &[(&str, &str)]) -> Self {
        let free = |_| TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("an address");
        let addresses = CLOCKS.map(free).map(|address| address.to_string()).into();
        let own = [("SIGNPOST_DATABASE_URL", database), ("SIGNPOST_REDIS_URL", redis), ("SIGNPOST_LOG", "warn")];
        // Only limits that the tests reach: an older program may not have all current limits.
        let limits = ["CREATE_SESSION", "GET_SESSION", "VERIFY", "DOMAINS", "ANSWER", "MCP"];
        let limits = limits.map(|limit| (format!("SIGNPOST_RATE_LIMIT_{limit}"), "off".to_owned()));
        let settings = own.iter().chain(settings).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let environment = settings.chain(limits).collect();
        let folder = tempfile::tempdir().expect("a folder");
        let (running, program) = (CLOCKS.map(|_| Mutex::new(None)).into(), Mutex::new(program.to_owned()));
        let fleet = Self { folder, addresses, environment, running, program };
        for number in 0..CLOCKS.len() {
            fleet.start_server(number);
        }
        fleet
    }

    /// Starts a server that is not running.
    pub(crate) fn start_server(&self, number: usize) {
        let environment: Vec<(&str, &str)> =
            self.environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let folder = self.folder.path().join(number.to_string());
        std::fs::create_dir_all(&folder).expect("a folder");
        let running =
            Program::serve_at(&self.program(), &folder, &self.addresses[number], CLOCKS[number], &environment);
        *self.running[number].lock().expect("no panic") = Some(running);
    }

    /// Sets the program for later starts.
    pub(crate) fn set_program(&self, program: &Path) {
        program.clone_into(&mut self.program.lock().expect("no panic"));
    }

    fn program(&self) -> PathBuf {
        self.program.lock().expect("no panic").clone()
    }

    /// Kills a server without a graceful shutdown.
    pub(crate) fn kill_server(&self, number: usize) {
        if let Some(running) = self.running[number].lock().expect("no panic").take() {
            running.kill();
        }
    }

    /// Stops a server gracefully and waits for its exit.
    pub(crate) fn stop_server(&self, number: usize) {
        if let Some(mut running) = self.running[number].lock().expect("no panic").take() {
            running.terminate();
            let (status, log) = running.wait_for_exit();
            assert!(status.success(), "{status}: {log}");
        }
    }

    /// Runs a command on the fleet's database.
    pub(crate) fn command(&self, arguments: &[&str]) -> Program {
        let program = Program::of(&self.program(), self.folder.path(), arguments);
        self.environment.iter().fold(program, |program, (name, value)| program.env(name, value))
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn url(&self, number: usize, path: &str) -> String {
        format!("http://{}{path}", self.addresses[number % self.addresses.len()])
    }
}
