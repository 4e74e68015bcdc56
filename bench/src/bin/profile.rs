//! Counts the instructions per request of each hot path with callgrind, which does not depend on
//! the load of the machine, so that two commits can be compared. Also reports allocations, system
//! calls and processor time. Prints Markdown. Usage: `profile [PATH…]`; see bench/profile.sh.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use signpost_bench::callgrind::{Counts, read};
use signpost_bench::load::burst;
use signpost_bench::login_page::OpenPage;
use signpost_bench::{
    CpuTime, Program, Server, Variant, get, get_with, measure as load, post, send_request, serve_or_measure_selected,
};

/// Number of measured requests, after equally many requests for warming up.
const REQUESTS: u32 = 400;
const CONNECTIONS: usize = 8;
/// Number of functions listed per path.
const FUNCTIONS: usize = 12;

const PATHS: [&str; 8] = ["bare-poll", "health", "ping", "poll", "creation", "page", "call", "search"];
const ACCEPT_BOTH: &str = "accept: application/json, text/event-stream\r\n";
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find","arguments":{"location":"Austin, TX","limit":10}}}"#;
const SEARCH: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_nearest_bitcoin_atm","arguments":{"location":"Austin, TX","limit":10}}}"#;

fn main() -> Result<()> {
    serve_or_measure_selected(&PATHS, async |names| {
        let names = names.iter().map(String::as_str).collect::<Vec<_>>();
        let paths = if names.is_empty() { &PATHS[..] } else { &names[..] };
        let mut profiles = Vec::new();
        for path in paths {
            eprintln!("{path} …");
            profiles.push(profile(path).await.with_context(|| (*path).to_owned())?);
        }
        print(paths, &profiles);
        Ok(())
    })
}

/// The cost of the requests to a path.
struct Profile {
    counted: Counts,
    cpu_time: CpuTime,
    calls: Option<BTreeMap<String, u64>>,
}

async fn profile(path: &str) -> Result<Profile> {
    let folder = tempfile::tempdir()?;
    let dump = folder.path().join("dump");
    let out = format!("--callgrind-out-file={}", dump.display());
    let valgrind = ["valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", "--fair-sched=try", &out];
    let (server, request) = start(path, &valgrind, &folder.path().join("counted")).await?;
    control(&server, &["-i", "on"])?;
    burst(&server, vec![request.clone(); REQUESTS as usize], CONNECTIONS).await?;
    control(&server, &["-z"])?;
    burst(&server, vec![request; REQUESTS as usize], CONNECTIONS).await?;
    control(&server, &["-d"])?;
    let counted = read(&String::from_utf8_lossy(&fs::read(folder.path().join("dump.1"))?))?;
    drop(server);
    let (server, request) = start(path, &[], &folder.path().join("free")).await?;
    let variant = [Variant { name: "it", server: &server, request: request.clone() }];
    let cpu_time = load(&variant, 32).await?[0].cpu_time;
    Ok(Profile { counted, cpu_time, calls: system_calls(&server, request, folder.path()).await? })
}

/// Starts the server for a path. Returns it with the request to send.
async fn start(path: &str, runner: &[&str], folder: &Path) -> Result<(Server, Vec<u8>)> {
    match path {
        "call" => return Ok((Server::start_self_under(runner, &["stub"])?, post("/mcp", ACCEPT_BOTH, CALL))),
        "health" | "ping" | "search" => {
            let program = Program::start_under(runner, "locator", &[])?;
            let message = if path == "ping" { PING } else { SEARCH };
            let request = if path == "health" { get("/health") } else { post("/mcp", ACCEPT_BOTH, message) };
            return Ok((program.server, request));
        }
        _ => {}
    }
    fs::create_dir_all(folder)?;
    let runs = if path == "bare-poll" { &[] } else { runner };
    let program = Program::start_under(runs, "program", &[&format!("data_dir={}", folder.display())])?;
    if path == "page" {
        program.target.host("localhost", "http://localhost:9/").await?;
        let page = OpenPage::open(&program.target).await?;
        return Ok((program.server, get_with(&page.path, &page.cookie)));
    }
    program.target.register("localhost", "http://127.0.0.1:1/").await?;
    if path == "creation" {
        return Ok((program.server, program.target.creation()));
    }
    let session = program.target.create().await?;
    let address = format!("/sandbox/v1/sessions/{}", session["id"].as_str().context("an id")?);
    let request = get_with(&address, &program.target.authorization);
    if path == "poll" {
        return Ok((program.server, request));
    }
    let file = folder.join("body");
    fs::write(&file, send_request(program.target.address, &request).await?)?;
    let arguments = ["bare", "application/json", file.to_str().context("a path in UTF-8")?];
    Ok((Server::start_self_under(runner, &arguments)?, request))
}

fn control(server: &Server, arguments: &[&str]) -> Result<()> {
    let mut command = Command::new("callgrind_control");
    let done = command.args(arguments).arg(server.id().to_string()).stdout(Stdio::null()).status()?;
    ensure!(done.success(), "callgrind_control {arguments:?} failed");
    Ok(())
}

/// Counts the system calls of all requests. Returns `None` if `strace` is not installed.
async fn system_calls(server: &Server, request: Vec<u8>, folder: &Path) -> Result<Option<BTreeMap<String, u64>>> {
    let trace = folder.join("calls");
    let mut command = Command::new("strace");
    command.args(["-f", "-c", "-o"]).arg(&trace).args(["-p", &server.id().to_string()]).stderr(Stdio::null());
    let Ok(mut strace) = command.spawn() else { return Ok(None) };
    // `strace` does not report when it has attached to the process.
    tokio::time::sleep(Duration::from_millis(500)).await;
    burst(server, vec![request; REQUESTS as usize], CONNECTIONS).await?;
    Command::new("kill").args(["-INT", &strace.id().to_string()]).status()?;
    strace.wait()?;
    let trace = fs::read_to_string(trace)?;
    let row = |line: &str| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let (name, calls) = (*fields.last()?, fields.get(3)?.parse().ok()?);
        (name != "total").then(|| (name.to_owned(), calls))
    };
    Ok(Some(trace.lines().filter_map(row).collect()))
}

fn print(paths: &[&str], profiles: &[Profile]) {
    println!("| a request | {} |\n|---|{}", paths.join(" | "), "---:|".repeat(paths.len()));
    let row = |name: &str, cell: &dyn Fn(&Profile) -> String| {
        println!("| {name} | {} |", profiles.iter().map(cell).collect::<Vec<_>>().join(" | "));
    };
    let each = |count: u64| (count / u64::from(REQUESTS)).to_string();
    row("**instructions**", &|it| format!("**{}**", each(it.counted.groups.values().sum())));
    let names: BTreeSet<_> = profiles.iter().flat_map(|it| it.counted.groups.keys()).collect();
    let mut names: Vec<_> = names.into_iter().collect();
    let all = |name: &str| profiles.iter().filter_map(|it| it.counted.groups.get(name)).sum::<u64>();
    names.sort_by_key(|name| std::cmp::Reverse(all(name)));
    for name in names {
        row(name, &|it| it.counted.groups.get(name).map_or_else(String::new, |count| each(*count)));
    }
    let tenths =
        |count: u64| format!("{:.1}", f64::from(u32::try_from(count).unwrap_or(u32::MAX)) / f64::from(REQUESTS));
    row("**allocations**", &|it| tenths(it.counted.allocations));
    row("**system calls**", &|it| {
        it.calls.as_ref().map_or("no strace".to_owned(), |calls| tenths(calls.values().sum()))
    });
    row("**µs of the processor**", &|it| format!("{:.1}", it.cpu_time.all()));
    row("of them the kernel's", &|it| format!("{:.1}", it.cpu_time.system));
    for (path, profile) in paths.iter().zip(profiles) {
        println!("\n{path}, most instructions:");
        let mut functions: Vec<_> = profile.counted.functions.iter().collect();
        functions.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (name, count) in functions.into_iter().take(FUNCTIONS) {
            println!("- {} {}", each(*count), name.chars().take(110).collect::<String>());
        }
        let calls = profile.calls.iter().flatten().filter(|(_, count)| **count * 20 > u64::from(REQUESTS));
        let calls: Vec<_> = calls.map(|(name, count)| format!("{name} {}", tenths(*count))).collect();
        println!("- system calls: {}", calls.join(", "));
    }
}
