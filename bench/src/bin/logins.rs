//! The two requests of a login against the packages of JavaScript servers: `siwe`, and `lnurl` without its storage; and
//! the delay between a login and its event, without other load and with a hostile account.

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
use signpost_bench::server::{ApiTarget, Running, start_with};
use signpost_bench::{Program, Server, Variant, ask, exchange, get, post, report, serve_or_measure};

const CONNECTIONS: usize = 64;
/// Logins per turn, all signed before they are timed; and turns.
const LOGINS: usize = 1_600;
const TURNS: usize = 3;
/// Events that are timed, in sequence.
const EVENTS: usize = 300;
const TEXT: &str = "Sign this to login to example.com at 1700000000:AAAAAAAAAAAAAAAAAAAAAA";

fn main() -> Result<()> {
    serve_or_measure(measure)
}

async fn measure() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let durable = Program::start(&[&format!("data_dir={}", folder.path().display())])?;
    let (sink, _) = sink().await?;
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

async fn creation(ours: &Program, lnurl: Option<&Server>) -> Result<()> {
    let lnurl = lnurl.map(|server| Variant { name: "lnurl, in memory", server, request: get("/new") });
    let request = ours.target.creation();
    let mut variants: Vec<_> = lnurl.into_iter().collect();
    variants.push(Variant { name: "ours, durable before the response", server: &ours.server, request });
    println!("creating a login, {CONNECTIONS} connections");
    against("creation_lnurl", &variants).await
}

/// Measures and prints the variants. If there are two, reports the ratio of the last to the first.
async fn against(key: &str, variants: &[Variant<'_>]) -> Result<()> {
    let measured = load(variants, CONNECTIONS).await?;
    print_all(variants, &measured);
    match measured[..] {
        [theirs, ours] => report(key, ours.rate / theirs.rate, Some([ours.spent, theirs.spent])),
        _ => Ok(()),
    }
}

async fn callbacks(program: &Program, lnurl: Option<&Server>) -> Result<()> {
    println!("answering a login, signed before, {CONNECTIONS} connections");
    let ours = &program.target;
    let (mut authenticate, mut lightning, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 0..TURNS {
        let (mut answers, mut lightnings, mut callbacks) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..LOGINS {
            answers.push(ours.sign_login((turn * LOGINS + number) as u64).await?.1);
            lightnings.push(lightning_answer(ours).await?);
            if let Some(lnurl) = lnurl {
                callbacks.push(callback(lnurl).await?);
            }
        }
        authenticate.push(burst(&program.server, answers, CONNECTIONS).await?);
        lightning.push(burst(&program.server, lightnings, CONNECTIONS).await?);
        if let Some(lnurl) = lnurl {
            theirs.push(burst(lnurl, callbacks, CONNECTIONS).await?);
        }
    }
    let (authenticate, lightning) = (Measured::of(&authenticate)?, Measured::of(&lightning)?);
    let baseline = if theirs.is_empty() { authenticate } else { Measured::of(&theirs)? };
    print_measured("ours: authenticate, durable before the response", authenticate, baseline);
    print_measured("ours: GET /lnurl, durable before the response", lightning, baseline);
    if theirs.is_empty() {
        return Ok(());
    }
    print_measured("lnurl: callback, in memory", baseline, baseline);
    for (key, ours) in [("authenticate_lnurl", authenticate), ("callback_lnurl", lightning)] {
        report(key, ours.rate / baseline.rate, Some([ours.spent, baseline.spent]))?;
    }
    Ok(())
}

/// Creates a session. Returns the request of a Lightning wallet that answers it.
async fn lightning_answer(ours: &ApiTarget) -> Result<Vec<u8>> {
    const PAGE: &str = r#"{"domain":"hosted.example","mode":"register","flow":"page","metadata":{"return_url":"/in"}}"#;
    let session: Value = serde_json::from_slice(&ours.post("/sandbox/v1/sessions", PAGE).await?)?;
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

async fn verification(ours: &Program, siwe: Option<&Server>) -> Result<()> {
    let wallet = Wallet::from_bytes([7; 32])?;
    let (key, signature) = (wallet.public_key().canonical(), wallet.sign(TEXT));
    let body = format!(r#"{{"public_key":"{key}","signature":"{signature}","message":"{TEXT}"}}"#);
    let mut variants = Vec::new();
    if let Some(server) = siwe {
        let sample = String::from_utf8(ask(server.address, &get("/sample")).await?)?;
        variants.push(Variant { name: "siwe behind Fastify", server, request: post("/verify", "", &sample) });
    }
    let request = post("/sandbox/v1/verify", &ours.target.authorization, &body);
    variants.push(Variant { name: "ours: POST /verify", server: &ours.server, request });
    println!("verifying a signature, {CONNECTIONS} connections");
    against("verify_siwe", &variants).await
}

/// Measures the delay between the answer to a login and its event, and the slowdown of both while another account has
/// thousands of dead endpoints, and more hanging endpoints than concurrent attempts.
async fn events() -> Result<()> {
    const TRIED: &str = "SELECT COUNT(*) FROM deliveries WHERE account = 'hostile' AND attempts + in_backoff > 0";
    let folder = tempfile::tempdir()?;
    let ours = start_with(&[("data_dir", folder.path().to_str().context("a path in UTF-8")?)])?;
    let (sink, mut arrived) = sink().await?;
    ours.target.register("localhost", &format!("http://{sink}/hook")).await?;
    let alone = waits(&ours.target, 0, &mut arrived).await?;
    println!("from the answer to a login to its event");
    println!("  p50 {:?}, p99 {:?}", alone[1][EVENTS / 2], alone[1][EVENTS * 99 / 100]);
    report("event", alone[1][EVENTS * 99 / 100].as_secs_f64() * 1e3, None)?;
    hostile(&ours).await?;
    let beside = waits(&ours.target, EVENTS, &mut arrived).await?;
    let tried = ours.app.store.read(TRIED, Vec::new()).await?;
    ensure!(tried.first().context("a count")?.int(0)? > 5_000, "the hostile account was inactive");
    println!("with a hostile account, p99 compared with the p99 without it");
    for (at, key) in ["hostile_answer", "hostile_event"].into_iter().enumerate() {
        let [alone, beside] = [&alone, &beside].map(|waits| waits[at][EVENTS * 99 / 100]);
        println!("  {beside:?}, {alone:?} alone");
        report(key, beside.as_secs_f64() / alone.as_secs_f64(), None)?;
    }
    Ok(())
}

/// Returns the latencies of answers and the delays of their events, both sorted.
async fn waits(
    ours: &ApiTarget,
    from: usize,
    arrived: &mut mpsc::UnboundedReceiver<(String, Instant)>,
) -> Result<[Vec<Duration>; 2]> {
    let mut waits = [Vec::new(), Vec::new()];
    for number in 0..EVENTS {
        let (id, request) = ours.sign_login((from + number) as u64).await?;
        let mut connection = TcpStream::connect(ours.address).await?;
        let asked = Instant::now();
        exchange(&mut connection, &request).await?;
        let answered = Instant::now();
        let (session, at) = tokio::time::timeout(Duration::from_secs(10), arrived.recv()).await?.context("an event")?;
        ensure!(session == id, "an event of {session} instead of {id}");
        waits[0].push(answered - asked);
        waits[1].push(at.saturating_duration_since(answered));
    }
    for waits in &mut waits {
        waits.sort_unstable();
    }
    Ok(waits)
}

/// Queues events of another account: to endpoints without a listener, retried over the next minute, and to a tarpit
/// with many addresses.
async fn hostile(ours: &Running) -> Result<()> {
    const DEAD: i64 = 5_000;
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
    let now = ours.app.clock.now();
    let queue = |number: i64, url: String, is_tried: bool, wait: i64| {
        let mut random = [0; 16];
        random[..8].copy_from_slice(&number.to_be_bytes());
        let (id, at) = (EventId::new(now, random).to_string(), now + jiff::SignedDuration::from_millis(wait));
        Statement::new(QUEUE, vec![id.into(), url.into(), i64::from(is_tried).into(), now.into(), at.into()])
    };
    let dead = (0..DEAD).map(|n| queue(n, format!("http://127.1.{}.{}:1", n / 250, n % 250 + 1), true, n * 12));
    let hangs = (0..400).map(|n| queue(DEAD + n, format!("http://127.2.0.{}:{port}", n % 50 + 1), false, 0));
    for statements in dead.chain(hangs).collect::<Vec<_>>().chunks(500) {
        ours.app.store.write(statements.to_vec()).await?;
    }
    ours.app.login.outbox.notify_one();
    Ok(())
}

/// Starts an endpoint that reports the session of each event and its time of arrival.
async fn sink() -> Result<(std::net::SocketAddr, mpsc::UnboundedReceiver<(String, Instant)>)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let (sender, arrived) = mpsc::unbounded_channel();
    let router = Router::new().route("/hook", route(took)).with_state(Arc::new(sender));
    tokio::spawn(async { axum::serve(listener, router).await });
    Ok((address, arrived))
}

async fn took(State(sender): State<Arc<mpsc::UnboundedSender<(String, Instant)>>>, body: Bytes) {
    let at = Instant::now();
    let event: Value = serde_json::from_slice(&body).unwrap_or_default();
    drop(sender.send((event["session_id"].as_str().unwrap_or_default().to_owned(), at)));
}
