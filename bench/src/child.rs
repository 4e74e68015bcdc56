//! Servers in processes of their own, so that their processor time and memory can be told from the load generator's.

use std::fmt;
use std::fs;
use std::io::{BufRead, BufReader};
use std::iter::Sum;
use std::net::SocketAddr;
use std::ops::{Add, Div, Sub};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::server::Door;

/// A server that was started and is ended with this.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// Where it listens.
    pub address: SocketAddr,
}

/// The program in a process of its own.
#[derive(Debug)]
pub struct Program {
    /// The process.
    pub server: Server,
    /// Where it listens, and what opens it.
    pub door: Door,
}

/// Processor time, in microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// In the program.
    pub user: f64,
    /// In the kernel on its behalf.
    pub system: f64,
}

impl Server {
    /// Starts a program that prints its address on a line of its own, as `http://127.0.0.1:1234/…`, among the first few.
    ///
    /// # Errors
    /// Where it does not start or prints something else.
    pub fn start(command: &mut Command) -> Result<Self> {
        Ok(Self::start_and_listen(command)?.0)
    }

    /// Starts a program that is known to listen there.
    ///
    /// # Errors
    /// Where it does not start.
    pub fn run(command: &mut Command, address: SocketAddr) -> Result<Self> {
        Ok(Self { child: command.spawn()?, address })
    }

    /// As [`start`](Self::start), with the lines before that one.
    fn start_and_listen(command: &mut Command) -> Result<(Self, Vec<String>)> {
        let shown = command.get_program().display().to_string();
        let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| shown.clone())?;
        let output = child.stdout.take().context("its output is a pipe")?;
        let (mut address, mut said) = (None, Vec::new());
        for line in BufReader::new(output).lines().map_while(Result::ok).take(20) {
            address = line.trim().strip_prefix("http://").and_then(|rest| rest.split('/').next()?.parse().ok());
            if address.is_some() {
                break;
            }
            said.push(line);
        }
        let server = Self { child, address: address.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 0))) };
        // Whatever it is, it is ended when it is dropped here.
        ensure!(address.is_some(), "{shown} did not print its address");
        Ok((server, said))
    }

    /// This program once more, told what to serve; see [`serve`](crate::serve).
    ///
    /// # Errors
    /// Where it does not start.
    pub fn this(asked: &[&str]) -> Result<Self> {
        Self::start(&mut this(&[], asked)?)
    }

    /// The same run by another program, such as one that counts.
    ///
    /// # Errors
    /// Where it does not start.
    pub fn this_under(runner: &[&str], asked: &[&str]) -> Result<Self> {
        Self::start(&mut this(runner, asked)?)
    }

    /// A handler that answers every request with these bytes.
    ///
    /// # Errors
    /// Where it does not start.
    pub fn bare(content_type: &str, body: &[u8]) -> Result<Self> {
        let file = tempfile::NamedTempFile::new()?;
        fs::write(file.path(), body)?;
        Self::this(&["bare", content_type, file.path().to_str().context("a path in UTF-8")?])
    }

    /// The number of its process.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The processor time that it has used.
    ///
    /// # Errors
    /// Where `/proc` cannot be read.
    pub fn spent(&self) -> Result<Spent> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        ensure!(fields.len() > 12, "/proc/…/stat has too few fields");
        // The kernel counts in hundredths of a second.
        let micros = |field: &str| anyhow::Ok(f64::from(field.parse::<u32>()?) * 1e4);
        Ok(Spent { user: micros(fields[11])?, system: micros(fields[12])? })
    }

    /// The memory that it has resident, in megabytes.
    ///
    /// # Errors
    /// Where `/proc` cannot be read.
    pub fn resident_megabytes(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
    }
}

impl Program {
    /// Starts the program with these settings, `key=value`, each.
    ///
    /// # Errors
    /// Where it does not start.
    pub fn start(settings: &[&str]) -> Result<Self> {
        Self::start_under(&[], "program", settings)
    }

    /// The same with 40,000 machines in its memory.
    ///
    /// # Errors
    /// Where it does not start.
    pub fn with_machines(settings: &[&str]) -> Result<Self> {
        Self::start_under(&[], "locator", settings)
    }

    /// Either of the two, by its name, run by another program where one is named.
    ///
    /// # Errors
    /// Where it does not start.
    pub fn start_under(runner: &[&str], role: &str, settings: &[&str]) -> Result<Self> {
        let (server, said) = Server::start_and_listen(this(runner, &[role])?.args(settings))?;
        let authorization = said.first().context("an authorization")?;
        let door = Door { address: server.address, authorization: format!("{authorization}\r\n") };
        Ok(Self { server, door })
    }
}

/// This program once more, run by another one where one is named.
fn this(runner: &[&str], asked: &[&str]) -> Result<Command> {
    let this = std::env::current_exe()?;
    let mut command = match runner {
        [] => Command::new(this),
        [program, arguments @ ..] => {
            let mut command = Command::new(program);
            command.args(arguments).arg(this);
            command
        }
    };
    command.args(asked);
    Ok(command)
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Spent {
    /// Both together.
    #[must_use]
    pub fn all(self) -> f64 {
        self.user + self.system
    }
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} µs of the server's processor, {:.1} of them the kernel's", self.all(), self.system)
    }
}

impl Add for Spent {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { user: self.user + other.user, system: self.system + other.system }
    }
}

impl Sub for Spent {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self { user: self.user - other.user, system: self.system - other.system }
    }
}

impl Div<f64> for Spent {
    type Output = Self;
    fn div(self, by: f64) -> Self {
        Self { user: self.user / by, system: self.system / by }
    }
}

impl Sum for Spent {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}
