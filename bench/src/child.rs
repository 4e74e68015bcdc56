//! Servers in processes of their own, so that their processor time and memory can be told from the load generator's.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

/// A server that was started and is ended with this.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Server {
    /// Starts a program that prints its address on a line of its own, as `http://127.0.0.1:1234/…`, among the first few.
    ///
    /// # Errors
    /// Where it does not start or prints something else.
    pub fn start(command: &mut Command) -> Result<Self> {
        let shown = command.get_program().display().to_string();
        let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| shown.clone())?;
        let output = child.stdout.take().context("its output is a pipe")?;
        let mut lines = BufReader::new(output).lines().map_while(Result::ok).take(20);
        let address = |line: String| line.trim().strip_prefix("http://")?.split('/').next()?.parse().ok();

        let address = lines.find_map(address);
        let server = Self { child, address: address.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 0))) };
        // Whatever it is, it is ended when it is dropped here.
        ensure!(address.is_some(), "{shown} did not print its address");
        Ok(server)
    }

    /// The processor time that it has used, its own and the system's for it.
    ///
    /// # Errors
    /// Where `/proc` cannot be read.
    pub fn processor_time(&self) -> Result<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        ensure!(fields.len() > 12, "/proc/…/stat has too few fields");
        // The kernel counts in hundredths of a second.
        let ticks: u64 = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
        Ok(Duration::from_millis(ticks * 10))
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

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
