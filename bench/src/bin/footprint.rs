//! The built program as an operator runs it, with 40,000 ATMs imported from a file: its size, its start time, and its
//! resident memory after the start and after ten imports that change every ATM.

use std::fmt::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use signpost_bench::goals::missing;
use signpost_bench::load::{ROUNDS, median};
use signpost_bench::{Server, ask, get, post, report, serve_or_measure};
use tokio::time::sleep;

const MACHINES: u32 = 40_000;
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
    println!("the built program, {MACHINES} machines of {} fields", COLUMNS.split(',').count());
    report("binary", f64::from(u32::try_from(file.len())?) / 1e6, None)?;
    let folder = tempfile::tempdir()?;
    let installed = Installation { program, folder: folder.path() };
    installed.import(0)?;
    let mut starts = Vec::new();
    for _ in 0..ROUNDS {
        let (server, took) = installed.start().await?;
        starts.push(took.as_secs_f64() * 1e3);
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

/// The program and its data folder.
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

    /// Imports every ATM, with a name and a telephone number that differ from the previous round.
    fn import(&self, round: u32) -> Result<()> {
        let file = self.folder.join("machines.csv");
        std::fs::write(&file, machines(round)?)?;
        let file = file.to_str().context("a path in UTF-8")?;
        let done = self.command(&["atms", "import", "--source", "bench", file]).status()?;
        ensure!(done.success(), "the import failed: {done}");
        Ok(())
    }

    /// Starts a server. Returns it and its start time.
    async fn start(&self) -> Result<(Server, Duration)> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let begun = Instant::now();
        let server = Server::run(&mut self.command(&["serve", "--listen", &address.to_string()]), address)?;
        until(address, &get("/health/ready"), "ok", Duration::from_millis(1)).await?;
        Ok((server, begun.elapsed()))
    }

    /// Waits until a search returns the ATMs of a round, and until memory used during the import is released.
    async fn wait_for(&self, server: &Server, round: u32) -> Result<()> {
        // Short enough for the result, long enough for the rate limits.
        let pause = Duration::from_millis(100);
        until(server.address, &post("/mcp", "", SEARCH), &format!("of round {round} "), pause).await?;
        // Other caches are replaced shortly after the first search succeeds; their memory is released by then, too.
        sleep(Duration::from_millis(500)).await;
        Ok(())
    }
}

/// Repeats a request until the response contains these words.
async fn until(address: SocketAddr, request: &[u8], words: &str, pause: Duration) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let last = ask(address, request).await.map(|body| String::from_utf8_lossy(&body).into_owned());
        if last.as_ref().is_ok_and(|body| body.contains(words)) {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "no {words:?} after 20 s: {last:?}");
        sleep(pause).await;
    }
}

fn machines(round: u32) -> Result<String> {
    let mut table = format!("{COLUMNS}\n");
    for number in 0..MACHINES {
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
