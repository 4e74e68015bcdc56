//! Measures the release binary with 40,000 ATMs that were imported from a file: its size, its start
//! time, and its resident memory after the start and after ten imports that change every ATM.

use std::fmt::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use signpost_bench::goals::missing;
use signpost_bench::load::{ROUNDS, median};
use signpost_bench::{Server, get, post, report, send_request, serve_or_measure};
use tokio::time::sleep;

const ATMS: u32 = 40_000;
const IMPORTS: u32 = 10;
const COLUMNS: &str = "ref,lat,lon,name,street,city,region,postcode,country,operator,status,hours,phone,website,brand,\
    located_in,buy,sell,coins,fiat,buy_fee,currency,min,max_day,manufacturer,model,note";
const SEARCH: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_nearest_bitcoin_atm","arguments":{"lat":26.0,"lon":-122.0,"limit":1}}}"#;

fn main() -> Result<()> {
    serve_or_measure(measure)
}

async fn measure() -> Result<()> {
    let program = std::env::current_exe()?.with_file_name("signpost");
    let Ok(file) = program.metadata() else {
        missing("the built program", "cargo build --profile dist --bin signpost");
        return Ok(());
    };
    println!("the built program, {ATMS} ATMs of {} fields", COLUMNS.split(',').count());
    report("binary", f64::from(u32::try_from(file.len())?) / 1e6, None)?;
    let folder = tempfile::tempdir()?;
    let installed = Installation { program, folder: folder.path() };
    installed.import(0)?;
    let mut starts = Vec::new();
    for _ in 0..ROUNDS {
        let (server, start_time) = installed.start().await?;
        starts.push(start_time.as_secs_f64() * 1e3);
        drop(server);
    }
    report("start", median(starts), None)?;
    let (server, _) = installed.start().await?;
    installed.wait_for(&server, 0).await?;
    report("memory", server.resident_megabytes()?, None)?;
    for round in 1..=IMPORTS {
        installed.import(round)?;
        installed.wait_for(&server, round).await?;
        println!("  {:.0} MB after {round} imports", server.resident_megabytes()?);
    }
    report("memory_imported", server.resident_megabytes()?, None)
}

/// An installation of the program: the binary and its data folder.
struct Installation<'a> {
    program: PathBuf,
    folder: &'a Path,
}

impl Installation<'_> {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).arg("--data-dir").arg(self.folder).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Imports all ATMs, with names and telephone numbers that differ from the previous round.
    fn import(&self, round: u32) -> Result<()> {
        let file = self.folder.join("atms.csv");
        std::fs::write(&file, atms(round)?)?;
        let file = file.to_str().context("a path in UTF-8")?;
        let done = self.command(&["atms", "import", "--source", "bench", file]).status()?;
        ensure!(done.success(), "the import failed: {done}");
        Ok(())
    }

    /// Starts a server. Returns it with its start time.
    async fn start(&self) -> Result<(Server, Duration)> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let begun = Instant::now();
        let server = Server::run(&mut self.command(&["serve", "--listen", &address.to_string()]), address)?;
        until(address, &get("/health/ready"), "ok", Duration::from_millis(1)).await?;
        Ok((server, begun.elapsed()))
    }

    /// Waits until a search returns the ATMs of a round and the memory used by the import is
    /// released.
    async fn wait_for(&self, server: &Server, round: u32) -> Result<()> {
        // Short compared with the measured time, but long enough to stay below the rate limits.
        let pause = Duration::from_millis(100);
        until(server.address, &post("/mcp", "", SEARCH), &format!("of round {round} "), pause).await?;
        // Further caches are replaced shortly after the first successful search, and their memory
        // is then released, too.
        sleep(Duration::from_millis(500)).await;
        Ok(())
    }
}

/// Repeats a request until the response contains the text `words`.
async fn until(address: SocketAddr, request: &[u8], words: &str, pause: Duration) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let last = send_request(address, request).await.map(|body| String::from_utf8_lossy(&body).into_owned());
        if last.as_ref().is_ok_and(|body| body.contains(words)) {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "no {words:?} after 20 s: {last:?}");
        sleep(pause).await;
    }
}

fn atms(round: u32) -> Result<String> {
    let mut table = format!("{COLUMNS}\n");
    for number in 0..ATMS {
        let (town, turn) = (f64::from(number % 400), f64::from(number) * 2.399_963);
        let away = 0.003 * f64::from(number / 400).sqrt();
        let (lat, lon) =
            (26.0 + (town * 7.7) % 22.0 + away * turn.sin(), -122.0 + (town * 13.3) % 48.0 + away * turn.cos());
        writeln!(
            table,
            "ref-{number},{lat:.6},{lon:.6},Machine {number} of round {round} at the Market,{number} Congress Ave,Town {town},TX,\
             78701,US,Operator {},online,Mo-Fr 09:00-{}:00,+1 512 555 {:04},https://example.com/{number},Brand,Corner Market,yes,{},\
             \"BTC, LTC, ETH\",USD,{}.5,USD,20,9000,Maker,Model {},beside the entrance",
            number % 40,
            17 + number % 5,
            (number + round) % 10_000,
            if number % 3 == 0 { "yes" } else { "no" },
            8 + number % 9,
            number % 7,
        )?;
    }
    Ok(table)
}
