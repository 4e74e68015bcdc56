//! Measures the two requests of a login compared with JavaScript packages (`siwe`, and `lnurl`
//! without its storage), and the delay between a login and its event, with and without a hostile
//! account.

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post as route;
use serde_json::Value;
use signpost_auth::{Challenge, K1, Wallet};
use signpost_login::ids::EventId;
use signpost_store::Statement;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use signpost_bench::goals::missing;
use signpost_bench::load::{Measured, burst, measure as load, print_all, print_measured};
use signpost_bench::server::{ApiTarget, RunningServer, start_with};
use signpost_bench::{Program, Server, Variant, exchange, get, post, report, send_request, serve_or_measure};

const CONNECTIONS: usize = 64;
/// Number of logins per round. They are signed in advance.
const LOGINS: usize = 1_600;
/// Number of rounds of logins.
const LOGIN_ROUNDS: usize = 3;
/// Number of events that are timed, in sequence.
const EVENTS: usize = 300;
const TEXT: &str = "Sign this to login to example.com at 1700000000:AAAAAAAAAAAAAAAAAAAAAA";

fn main() -> Result<()> {
    serve_or_measure(measure)
}

async fn measure() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let durable = Program::start(&[&format!("data_dir={}", folder.path().display())])?;
    let (sink, _) = start_event_sink().await?;
    durable.target.register("localhost", &format!("http://{sink}/hook")).await?;
    durable.target.host("hosted.example", "https://hosted.example/").await?;
    let node = |name: &str| {
        let started = Server::start(Command::new("node").arg(name).current_dir("bench/baselines/node"));
        started.map_err(|error| missing(name, &format!("{error:#} (npm ci in bench/baselines/node)"))).ok()
    };
    let (lnurl, siwe) = (node("lnurl.mjs"), node("siwe.mjs"));
    creation(&durable, lnurl.as_ref()).await?;
    callbacks(&durable, lnurl.as_ref()).await?;
    verification(&durable, siwe.as_ref()).await?;
    drop(durable);
    events().await
}

async fn creation(program: &Program, lnurl: Option<&Server>) -> Result<()> {
    let lnurl = lnurl.map(|server| Variant { name: "lnurl, in memory", server, request: get("/new") });
    let request = program.target.creation();
    let mut variants: Vec<_> = lnurl.into_iter().collect();
    variants.push(Variant { name: "signpost, durable before the response", server: &program.server, request });
    println!("creating a login, {CONNECTIONS} connections");
    measure_variants("creation_lnurl", &variants).await
}

/// Measures and prints the variants. If there are two, reports the ratio of the second to the
/// first.
async fn measure_variants(key: &str, variants: &[Variant<'_>]) -> Result<()> {
    let measured = load(variants, CONNECTIONS).await?;
    print_all(variants, &measured);
    match measured[..] {
        [baseline, measured] => {
            report(key, measured.rate / baseline.rate, Some([measured.cpu_time, baseline.cpu_time]))
        }
        _ => Ok(()),
    }
}

async fn callbacks(program: &Program, lnurl: Option<&Server>) -> Result<()> {
    println!("answering a login, signed before, {CONNECTIONS} connections");
    let target = &program.target;
    let (mut authenticate, mut lightning, mut baselines) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 0..LOGIN_ROUNDS {
        let (mut answers, mut lightnings, mut callbacks) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..LOGINS {
            answers.push(target.sign_login((turn * LOGINS + number) as u64).await?.1);
            lightnings.push(lightning_answer(target).await?);
            if let Some(lnurl) = lnurl {
                callbacks.push(callback(lnurl).await?);
            }
        }
        authenticate.push(burst(&program.server, answers, CONNECTIONS).await?);
        lightning.push(burst(&program.server, lightnings, CONNECTIONS).await?);
        if let Some(lnurl) = lnurl {
            baselines.push(burst(lnurl, callbacks, CONNECTIONS).await?);
        }
    }
    let (authenticate, lightning) = (Measured::of(&authenticate)?, Measured::of(&lightning)?);
    let baseline = if baselines.is_empty() { authenticate } else { Measured::of(&baselines)? };
    print_measured("signpost: authenticate, durable before the response", authenticate, baseline);
    print_measured("signpost: GET /lnurl, durable before the response", lightning, baseline);
    if baselines.is_empty() {
        return Ok(());
    }
    print_measured("lnurl: callback, in memory", baseline, baseline);
    for (key, measured) in [("authenticate_lnurl", authenticate), ("callback_lnurl", lightning)] {
        report(key, measured.rate / baseline.rate, Some([measured.cpu_time, baseline.cpu_time]))?;
    }
    Ok(())
}

/// Creates a session. Returns the request of a Lightning wallet that answers it.
async fn lightning_answer(target: &ApiTarget) -> Result<Vec<u8>> {
    const PAGE: &str = r#"{"domain":"hosted.example","mode":"register","flow":"page","metadata":{"return_url":"/in"}}"#;
    let session: Value = serde_json::from_slice(&target.post("/sandbox/v1/sessions", PAGE).await?)?;
    let [id, challenge] = ["id", "challenge"].map(|member| session[member].as_str().unwrap_or_default());
    let k1 = K1::of(&Challenge::parse(challenge)?);
    signed(&format!("/lnurl/{}", &id[id.len() - 12..]), k1)
}

async fn callback(lnurl: &Server) -> Result<Vec<u8>> {
    let mut connection = TcpStream::connect(lnurl.address).await?;
    let reply = exchange(&mut connection, &get("/new")).await?;
    let k1 = serde_json::from_slice::<Value>(&reply)?["k1"].as_str().context("k1")?.to_owned();
    signed("/lnurl", k1.parse()?)
}

/// Returns the signed request of a Lightning wallet.
fn signed(path: &str, k1: K1) -> Result<Vec<u8>> {
    let wallet = Wallet::from_bytes([7; 32])?;
    let (sig, key) = (wallet.sign_k1(k1), wallet.public_key().canonical());
    Ok(get(&format!("{path}?tag=login&k1={k1}&sig={sig}&key={key}")))
}

async fn verification(program: &Program, siwe: Option<&Server>) -> Result<()> {
    let wallet = Wallet::from_bytes([7; 32])?;
    let (key, signature) = (wallet.public_key().canonical(), wallet.sign(TEXT));
    let body = format!(r#"{{"public_key":"{key}","signature":"{signature}","message":"{TEXT}"}}"#);
    let mut variants = Vec::new();
    if let Some(server) = siwe {
        let sample = String::from_utf8(send_request(server.address, &get("/sample")).await?)?;
        variants.push(Variant { name: "siwe behind Fastify", server, request: post("/verify", "", &sample) });
    }
    let request = post("/sandbox/v1/verify", &program.target.authorization, &body);
    variants.push(Variant { name: "signpost: POST /verify", server: &program.server, request });
    println!("verifying a signature, {CONNECTIONS} connections");
    measure_variants("verify_siwe", &variants).await
}

/// Measures the latency of an answer and the delay of its event, and how both slow down while
/// another account has thousands of dead endpoints, and more hanging endpoints than concurrent
/// delivery attempts.
async fn events() -> Result<()> {
    const COUNT_ATTEMPTED: &str =
        "SELECT COUNT(*) FROM deliveries WHERE account = 'hostile' AND attempts + in_backoff > 0";
    let folder = tempfile::tempdir()?;
    let program = start_with(&[("data_dir", folder.path().to_str().context("a path in UTF-8")?)])?;
    let (sink, mut arrived) = start_event_sink().await?;
    program.target.register("localhost", &format!("http://{sink}/hook")).await?;
    let alone = latencies(&program.target, 0, &mut arrived).await?;
    println!("from the answer to a login to its event");
    println!("  p50 {:?}, p99 {:?}", alone[1][EVENTS / 2], alone[1][EVENTS * 99 / 100]);
    report("event", alone[1][EVENTS * 99 / 100].as_secs_f64() * 1e3, None)?;
    queue_hostile_events(&program).await?;
    let with_load = latencies(&program.target, EVENTS, &mut arrived).await?;
    let tried = program.app.store.read(COUNT_ATTEMPTED, Vec::new()).await?;
    ensure!(tried.first().context("a count")?.int(0)? > 5_000, "the hostile account was inactive");
    println!("with a hostile account, p99 compared with the p99 without it");
    for (at, key) in ["hostile_answer", "hostile_event"].into_iter().enumerate() {
        let [alone, with_load] = [&alone, &with_load].map(|latencies| latencies[at][EVENTS * 99 / 100]);
        println!("  {with_load:?}, {alone:?} alone");
        report(key, with_load.as_secs_f64() / alone.as_secs_f64(), None)?;
    }
    Ok(())
}

/// Returns the latencies of answers and the delays of their events, each in ascending order.
async fn latencies(
    target: &ApiTarget,
    from: usize,
    arrived: &mut mpsc::UnboundedReceiver<(String, Instant)>,
) -> Result<[Vec<Duration>; 2]> {
    let mut latencies = [Vec::new(), Vec::new()];
    for number in 0..EVENTS {
        let (id, request) = target.sign_login((from + number) as u64).await?;
        let mut connection = TcpStream::connect(target.address).await?;
        let asked = Instant::now();
        exchange(&mut connection, &request).await?;
        let answered = Instant::now();
        let (session, at) = tokio::time::timeout(Duration::from_secs(10), arrived.recv()).await?.context("an event")?;
        ensure!(session == id, "an event of {session} instead of {id}");
        latencies[0].push(answered - asked);
        latencies[1].push(at.saturating_duration_since(answered));
    }
    for latencies in &mut latencies {
        latencies.sort_unstable();
    }
    Ok(latencies)
}

/// Queues events of a hostile account: for endpoints that refuse connections, retried over the next
/// minute, and for a tarpit with many addresses.
async fn queue_hostile_events(program: &RunningServer) -> Result<()> {
    const DEAD_ENDPOINTS: i64 = 5_000;
    const QUEUE: &str = "
        INSERT INTO deliveries (id, account, environment, domain_id, url, endpoint, body, state, attempts, created_at,
                                next_attempt_at, in_backoff)
        SELECT $1, 'hostile', environment, id, $2, $2, '{}', 'pending', $3, $4, $5, $3 FROM domains LIMIT 1";
    let tarpit = TcpListener::bind("0.0.0.0:0").await?;
    let port = tarpit.local_addr()?.port();
    tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((connection, _)) = tarpit.accept().await {
            open.push(connection);
        }
    });
    let now = program.app.clock.now();
    let queue = |number: i64, url: String, is_tried: bool, wait: i64| {
        let mut random = [0; 16];
        random[..8].copy_from_slice(&number.to_be_bytes());
        let (id, at) = (EventId::new(now, random).to_string(), now + jiff::SignedDuration::from_millis(wait));
        Statement::new(QUEUE, vec![id.into(), url.into(), i64::from(is_tried).into(), now.into(), at.into()])
    };
    let dead =
        (0..DEAD_ENDPOINTS).map(|n| queue(n, format!("http://127.1.{}.{}:1", n / 250, n % 250 + 1), true, n * 12));
    let hangs = (0..400).map(|n| queue(DEAD_ENDPOINTS + n, format!("http://127.2.0.{}:{port}", n % 50 + 1), false, 0));
    for statements in dead.chain(hangs).collect::<Vec<_>>().chunks(500) {
        program.app.store.write(statements.to_vec()).await?;
    }
    program.app.login.outbox.notify_one();
    Ok(())
}

/// Starts an endpoint that reports the session of each received event and the time of its arrival.
async fn start_event_sink() -> Result<(std::net::SocketAddr, mpsc::UnboundedReceiver<(String, Instant)>)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let (sender, arrived) = mpsc::unbounded_channel();
    let router = Router::new().route("/hook", route(receive_event)).with_state(Arc::new(sender));
    tokio::spawn(async { axum::serve(listener, router).await });
    Ok((address, arrived))
}

async fn receive_event(State(sender): State<Arc<mpsc::UnboundedSender<(String, Instant)>>>, body: Bytes) {
    let at = Instant::now();
    let event: Value = serde_json::from_slice(&body).unwrap_or_default();
    drop(sender.send((event["session_id"].as_str().unwrap_or_default().to_owned(), at)));
}
