//! Servers in separate processes, so that their processor time and memory are measured without the load generator.

use std::fmt;
use std::fs;
use std::io::{BufRead, BufReader};
use std::iter::Sum;
use std::net::SocketAddr;
use std::ops::{Add, Div, Sub};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::server::ApiTarget;

/// A child process that serves; it is ended when this is dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// The listen address.
    pub address: SocketAddr,
}

/// The program in a separate process.
#[derive(Debug)]
pub struct Program {
    /// The process.
    pub server: Server,
    /// The address and the API key.
    pub target: ApiTarget,
}

/// Processor time in microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct CpuTime {
    /// In user mode.
    pub user: f64,
    /// In the kernel.
    pub system: f64,
}

impl Server {
    /// Starts a program that prints its address within its first lines, as `http://127.0.0.1:1234/…`.
    ///
    /// # Errors
    /// Returns an error if the program does not start or does not print its address.
    pub fn start(command: &mut Command) -> Result<Self> {
        Ok(Self::start_and_listen(command)?.0)
    }

    /// Starts a program that listens on this address.
    ///
    /// # Errors
    /// Returns an error if the program does not start.
    pub fn run(command: &mut Command, address: SocketAddr) -> Result<Self> {
        Ok(Self { child: command.spawn()?, address })
    }

    /// Starts a program, like [`start`](Self::start), and returns the lines before the address, too.
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
        // The child is ended when it is dropped here.
        ensure!(address.is_some(), "{shown} did not print its address");
        Ok((server, printed))
    }

    /// Starts this executable as a server; see [`serve`](crate::serve).
    ///
    /// # Errors
    /// Returns an error if the process does not start.
    pub fn start_self(arguments: &[&str]) -> Result<Self> {
        Self::start(&mut own_command(&[], arguments)?)
    }

    /// Starts this program as a server under another program, such as a profiler.
    ///
    /// # Errors
    /// Returns an error if the process does not start.
    pub fn start_self_under(runner: &[&str], arguments: &[&str]) -> Result<Self> {
        Self::start(&mut own_command(runner, arguments)?)
    }

    /// Starts a handler that responds to every request with these bytes.
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

    /// Returns the processor time used so far.
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

    /// Returns the resident memory in megabytes.
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
    /// Starts the program with these settings, each `key=value`.
    ///
    /// # Errors
    /// Returns an error if the program does not start.
    pub fn start(settings: &[&str]) -> Result<Self> {
        Self::start_under(&[], "program", settings)
    }

    /// Starts the program with 40,000 ATMs in memory.
    ///
    /// # Errors
    /// Returns an error if the program does not start.
    pub fn with_atms(settings: &[&str]) -> Result<Self> {
        Self::start_under(&[], "locator", settings)
    }

    /// Starts the program in this role, under `runner` if it is not empty.
    ///
    /// # Errors
    /// Returns an error if the program does not start.
    pub fn start_under(runner: &[&str], role: &str, settings: &[&str]) -> Result<Self> {
        let (server, printed) = Server::start_and_listen(own_command(runner, &[role])?.args(settings))?;
        let authorization = printed.first().context("an authorization")?;
        let target = ApiTarget { address: server.address, authorization: format!("{authorization}\r\n") };
        Ok(Self { server, target })
    }
}

/// Returns the command of this program, under `runner` if it is not empty.
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
    /// Returns the sum of both.
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
