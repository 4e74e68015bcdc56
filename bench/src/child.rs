//! Starts servers in separate processes, so that their processor time and memory exclude those of
//! the load generator.

use std::fmt;
use std::fs;
use std::io::{BufRead, BufReader};
use std::iter::Sum;
use std::net::SocketAddr;
use std::ops::{Add, Div, Sub};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::server::ApiTarget;

/// A server in a child process, terminated when the value is dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// The listen address.
    pub address: SocketAddr,
}

/// The program, running in a separate process.
#[derive(Debug)]
pub struct Program {
    /// The server process.
    pub server: Server,
    /// The address and the API key of the server.
    pub target: ApiTarget,
}

/// Processor time in microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct CpuTime {
    /// The time in user mode.
    pub user: f64,
    /// The time in the kernel.
    pub system: f64,
}

impl Server {
    /// Starts a command that prints its address in its first lines, as `http://127.0.0.1:1234/…`.
    ///
    /// # Errors
    /// Returns an error if the process does not start or does not print an address.
    pub fn start(command: &mut Command) -> Result<Self> {
        Ok(Self::start_and_listen(command)?.0)
    }

    /// Starts a command that listens on a given address.
    ///
    /// # Errors
    /// Returns an error if the process does not start.
    pub fn run(command: &mut Command, address: SocketAddr) -> Result<Self> {
        Ok(Self { child: command.spawn()?, address })
    }

    /// Starts a command like [`start`](Self::start), and also returns the lines that it printed
    /// before the address.
    fn start_and_listen(command: &mut Command) -> Result<(Self, Vec<String>)> {
        let shown = command.get_program().display().to_string();
        let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| shown.clone())?;
        let output = child.stdout.take().context("its output is a pipe")?;
        let (mut address, mut printed) = (None, Vec::new());
        for line in BufReader::new(output).lines().map_while(Result::ok).take(20) {
            address = line.trim().strip_prefix("http://").and_then(|rest| rest.split('/').next()?.parse().ok());
            if address.is_some() {
                break;
            }
            printed.push(line);
        }
        let server = Self { child, address: address.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 0))) };
        // The process is terminated when it is dropped here.
        ensure!(address.is_some(), "{shown} did not print its address");
        Ok((server, printed))
    }

    /// Starts this executable as a server process; see [`serve`](crate::serve).
    ///
    /// # Errors
    /// Returns an error if the process does not start.
    pub fn start_self(arguments: &[&str]) -> Result<Self> {
        Self::start(&mut own_command(&[], arguments)?)
    }

    /// Starts this executable as a server under another program, such as a profiler.
    ///
    /// # Errors
    /// Returns an error if the process does not start.
    pub fn start_self_under(runner: &[&str], arguments: &[&str]) -> Result<Self> {
        Self::start(&mut own_command(runner, arguments)?)
    }

    /// Starts a server that responds to every request with these bytes.
    ///
    /// # Errors
    /// Returns an error if the process does not start.
    pub fn bare(content_type: &str, body: &[u8]) -> Result<Self> {
        let file = tempfile::NamedTempFile::new()?;
        fs::write(file.path(), body)?;
        Self::start_self(&["bare", content_type, file.path().to_str().context("a path in UTF-8")?])
    }

    /// Returns the process ID.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the processor time that the process has used so far.
    ///
    /// # Errors
    /// Returns an error if `/proc` cannot be read.
    pub fn cpu_time(&self) -> Result<CpuTime> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        ensure!(fields.len() > 12, "/proc/…/stat has too few fields");
        // The kernel counts in hundredths of a second.
        let micros = |field: &str| anyhow::Ok(f64::from(field.parse::<u32>()?) * 1e4);
        Ok(CpuTime { user: micros(fields[11])?, system: micros(fields[12])? })
    }

    /// Returns the resident memory of the process in megabytes.
    ///
    /// # Errors
    /// Returns an error if `/proc` cannot be read.
    pub fn resident_megabytes(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
    }
}

impl Program {
    /// Starts the program with these settings, each of the form `key=value`.
    ///
    /// # Errors
    /// Returns an error if the process does not start.
    pub fn start(settings: &[&str]) -> Result<Self> {
        Self::start_under(&[], "program", settings)
    }

    /// Starts the program with 40,000 ATMs in memory.
    ///
    /// # Errors
    /// Returns an error if the process does not start.
    pub fn with_atms(settings: &[&str]) -> Result<Self> {
        Self::start_under(&[], "locator", settings)
    }

    /// Starts the program with a role, under the command `runner` unless it is empty.
    ///
    /// # Errors
    /// Returns an error if the process does not start.
    pub fn start_under(runner: &[&str], role: &str, settings: &[&str]) -> Result<Self> {
        let (server, printed) = Server::start_and_listen(own_command(runner, &[role])?.args(settings))?;
        let authorization = printed.first().context("an authorization")?;
        let target = ApiTarget { address: server.address, authorization: format!("{authorization}\r\n") };
        Ok(Self { server, target })
    }
}

/// Returns the command that starts this executable, under the command `runner` unless it is empty.
fn own_command(runner: &[&str], arguments: &[&str]) -> Result<Command> {
    let this = std::env::current_exe()?;
    let mut command = match runner {
        [] => Command::new(this),
        [program, arguments @ ..] => {
            let mut command = Command::new(program);
            command.args(arguments).arg(this);
            command
        }
    };
    command.args(arguments);
    Ok(command)
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl CpuTime {
    /// Returns the total processor time.
    #[must_use]
    pub fn all(self) -> f64 {
        self.user + self.system
    }
}

impl fmt::Display for CpuTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} µs of the server's processor, {:.1} of them the kernel's", self.all(), self.system)
    }
}

impl Add for CpuTime {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { user: self.user + other.user, system: self.system + other.system }
    }
}

impl Sub for CpuTime {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self { user: self.user - other.user, system: self.system - other.system }
    }
}

impl Div<f64> for CpuTime {
    type Output = Self;
    fn div(self, by: f64) -> Self {
        Self { user: self.user / by, system: self.system / by }
    }
}

impl Sum for CpuTime {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}
