//! Generates load with `wrk` on a single thread.

use std::io::Write as _;
use std::net::SocketAddr;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use tokio::task::spawn_blocking;

use super::ROUND;

/// Returns `true` if `wrk` is installed.
pub(super) fn is_installed() -> bool {
    Command::new("wrk").arg("-v").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Generates load for a round. Returns the number of responses and the elapsed seconds.
pub(super) async fn round(address: SocketAddr, request: &[u8], connections: usize) -> Result<(f64, f64)> {
    let (path, script) = script(std::str::from_utf8(request)?)?;
    let mut file = tempfile::NamedTempFile::new()?;
    file.write_all(script.as_bytes())?;
    let (connections, seconds) = (connections.to_string(), ROUND.as_secs().to_string());
    let mut command = Command::new("wrk");
    command.args(["-t", "1", "-c", &connections, "-d", &seconds, "-s"]);
    command.arg(file.path()).arg(format!("http://{address}{path}"));
    let output = spawn_blocking(move || command.output()).await?.context("wrk")?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let line =
        printed.lines().find(|line| line.starts_with("counted")).with_context(|| printed.clone().into_owned())?;
    let numbers = line.split_whitespace().skip(1).map(str::parse).collect::<Result<Vec<f64>, _>>()?;
    let [requests, micros, errors] = numbers[..] else { anyhow::bail!("{printed}") };
    ensure!(errors == 0.0, "some requests failed: {printed}");
    Ok((requests, micros / 1e6))
}

/// Returns the path of a request, and a script from which `wrk` composes the rest of the request
/// once.
fn script(request: &str) -> Result<(&str, String)> {
    let (head, body) = request.split_once("\r\n\r\n").context("a head")?;
    let (line, headers) = head.split_once("\r\n").context("headers")?;
    let [method, path, _] = line.split(' ').collect::<Vec<_>>()[..] else { anyhow::bail!("{line}") };
    let quoted = |text: &str| format!("[==[{text}]==]");
    let mut script = vec![format!("wrk.method='{method}'")];
    for (name, value) in headers.split("\r\n").filter_map(|line| line.split_once(": ")) {
        // `wrk` adds a length header, and a host header unless the script sets a header with
        // exactly this name.
        let name = if name == "host" { "Host" } else { name };
        if name != "content-length" {
            script.push(format!("wrk.headers['{name}']={}", quoted(value)));
        }
    }
    if !body.is_empty() {
        script.push(format!("wrk.body={}", quoted(body)));
    }
    let failed = ["connect", "status", "read", "write", "timeout"].map(|kind| format!("s.errors.{kind}")).join("+");
    script.push(format!("done=function(s) print('counted',s.requests,s.duration,{failed}) end"));
    Ok((path, script.join("\n")))
}
