//! `POST /sessions` and `GET /sessions/{id}` on PostgreSQL, whose address is `SIGNPOST_BENCH_POSTGRES` (bench/postgres.sh
//! starts one, which waits for its disk as it does by default), against what the same server gives to one INSERT per
//! request; what a delivery costs; and three servers on one database against one.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::routing::{get as route_get, post as route_post};
use serde_json::{Value, json};
use signpost_auth::{QrData, Wallet};
use signpost_login::events;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;
use tokio_postgres::{Client, NoTls, Statement};

use signpost_bench::server::{self, Running};
use signpost_bench::{Variant, get_with, post, print, read_reply, requests_per_second};

const CONNECTIONS: usize = 128;
/// How many connections to the database the baseline has: more give it nothing.
const POOL: usize = 32;
const ALONE: usize = 600;
const EVENTS: usize = 20_000;
const LOGINS: usize = 6_400;

/// The same row into the same table.
const INSERT: &str = "
    INSERT INTO sessions (id, account, environment, domain_id, challenge, webhook_url, created_at, expires_at,
                          client_secret)
    VALUES ($1, 'bench', 'sandbox', 'dom_06g3m8d2vw', $2, $3, 1700000000000, 1700000300000, $1)";

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::disallowed_methods, reason = "no configuration of the program")]
async fn main() -> Result<()> {
    let Ok(url) = std::env::var("SIGNPOST_BENCH_POSTGRES") else {
        println!("PostgreSQL: SIGNPOST_BENCH_POSTGRES does not name one (bench/postgres.sh starts one)");
        return Ok(());
    };
    let taken = async || StatusCode::NO_CONTENT;
    let sink = on_threads(1, async move || Ok(Router::new().route("/hook", route_post(taken))))?[0];
    let ours = prepared(&url, sink).await?;
    let plain = Plain::start(&url)?;
    creations(&ours, plain).await?;
    alone(&ours, plain).await?;
    replicas(&url, &ours).await?;
    polls(&ours).await?;
    answers(&ours).await?;
    // What the logins queued is on its way still.
    drained(&ours).await?;
    deliveries(&ours).await?;
    match std::env::var("SIGNPOST_BENCH_REDIS") {
        Ok(redis) => shared_limits(&url, &redis).await,
        Err(_) => Ok(()),
    }
}

/// What a limit costs that is shared through Redis, against one round trip to it.
async fn shared_limits(url: &str, redis: &str) -> Result<()> {
    let here = server::start_on_with(url, &[("rate_limit_domains", "1000000/s")])?;
    let shared = server::start_on_with(url, &[("rate_limit_domains", "1000000/s"), ("redis_url", redis)])?;
    let mut connection = redis::Client::open(redis)?.get_multiplexed_async_connection().await?;
    let mut trips = Vec::new();
    for _ in 0..ALONE {
        let begun = Instant::now();
        redis::cmd("PING").query_async::<String>(&mut connection).await?;
        trips.push(begun.elapsed());
    }
    trips.sort_unstable();
    let ask = |running: &Running| Variant {
        name: "",
        address: running.address,
        request: get_with("/sandbox/v1/domains/dom_none", &running.authorization),
    };
    let (without, with) = (half(&ask(&here)).await?, half(&ask(&shared)).await?);
    println!("a limit shared through Redis, one connection alone, half of them within (goal: one round trip)");
    println!("  round trip {:?}; request {without:?}, with the shared limit {with:?}", trips[ALONE / 2]);
    Ok(())
}

/// Half of a connection's requests take no longer, whatever they are answered.
async fn half(variant: &Variant) -> Result<Duration> {
    let mut connection = TcpStream::connect(variant.address).await?;
    connection.set_nodelay(true)?;
    let (mut took, mut reply) = (Vec::new(), vec![0; 64 * 1024]);
    for _ in 0..ALONE {
        let begun = Instant::now();
        connection.write_all(&variant.request).await?;
        ensure!(connection.read(&mut reply).await? > 0, "the server hung up");
        took.push(begun.elapsed());
    }
    took.sort_unstable();
    Ok(took[ALONE / 2])
}

/// Logins that were signed before.
async fn answers(ours: &Running) -> Result<()> {
    let mut requests = Vec::new();
    for number in 0..LOGINS {
        let made = ask(ours.address, &creation("", ours.address, &ours.authorization).request).await?;
        let session: Value = serde_json::from_slice(&made)?;
        let qr = QrData::parse(session["qr_data"].as_str().context("qr_data")?)?;
        let mut secret = [1; 32];
        secret[..8].copy_from_slice(&(number as u64 + 1).to_be_bytes());
        let answer = Wallet::from_bytes(secret)?.answer(qr.challenge(), qr.challenge().issued_at, None);
        let path = format!("/sandbox/v1/sessions/{}/authenticate", session["id"].as_str().context("id")?);
        requests.push(post(&path, &ours.authorization, &serde_json::to_string(&answer)?));
    }
    let (address, begun, mut clients) = (ours.address, Instant::now(), tokio::task::JoinSet::new());
    for share in requests.chunks(LOGINS / 64) {
        let share = share.to_vec();
        clients.spawn(async move {
            let mut connection = TcpStream::connect(address).await?;
            connection.set_nodelay(true)?;
            let mut reply = Vec::new();
            for request in share {
                connection.write_all(&request).await?;
                read_reply(&mut connection, &mut reply).await?;
            }
            anyhow::Ok(())
        });
    }
    for done in clients.join_all().await {
        done?;
    }
    let rate = f64::from(u32::try_from(LOGINS)?) / begun.elapsed().as_secs_f64();
    println!("answering a login on PostgreSQL, signed before, 64 connections\n  {rate:.0} /s");
    Ok(())
}

/// A server with a domain whose events go there.
async fn prepared(url: &str, sink: SocketAddr) -> Result<Running> {
    let ours = server::start_on(url)?;
    let domain = json!({ "domain": "localhost", "webhook_url": format!("http://{sink}/hook") }).to_string();
    ask(ours.address, &post("/sandbox/v1/domains", &ours.authorization, &domain)).await?;
    Ok(ours)
}

fn creation(name: &'static str, address: SocketAddr, authorization: &str) -> Variant {
    Variant { name, address, request: post("/sandbox/v1/sessions", authorization, r#"{"domain":"localhost"}"#) }
}

async fn creations(ours: &Running, plain: SocketAddr) -> Result<()> {
    let variants = [
        creation("one INSERT per request, bare handler", plain, ""),
        creation("POST /sessions", ours.address, &ours.authorization),
    ];
    let rates = requests_per_second(&variants, CONNECTIONS).await?;
    println!("creating a session on PostgreSQL, {CONNECTIONS} connections (goal 3.5)");
    for (variant, rate) in variants.iter().zip(&rates) {
        print(variant.name, *rate, rates[0]);
    }
    Ok(())
}

async fn alone(ours: &Running, plain: SocketAddr) -> Result<()> {
    let variants = [creation("", plain, ""), creation("", ours.address, &ours.authorization)];
    let mut halves = Vec::new();
    for variant in &variants {
        let mut connection = TcpStream::connect(variant.address).await?;
        connection.set_nodelay(true)?;
        let (mut took, mut reply) = (Vec::new(), Vec::new());
        for _ in 0..ALONE {
            let begun = Instant::now();
            connection.write_all(&variant.request).await?;
            read_reply(&mut connection, &mut reply).await?;
            took.push(begun.elapsed());
        }
        took.sort_unstable();
        halves.push(took[ALONE / 2]);
    }
    println!("one connection alone, half of them within (goal: 1 ms more at most)");
    println!("  one INSERT per request {:?}, POST /sessions {:?}", halves[0], halves[1]);
    Ok(())
}

async fn replicas(url: &str, first: &Running) -> Result<()> {
    let others = [server::start_on(url)?, server::start_on(url)?];
    let one = [creation("one server", first.address, &first.authorization)];
    let authorization = &first.authorization;
    let three: Vec<Variant> = [first.address, others[0].address, others[1].address]
        .map(|address| creation("three servers", address, authorization))
        .into();
    let alone = requests_per_second(&one, CONNECTIONS).await?[0];
    let shared = futures_of(&three).await?;
    println!("three servers on one database, {CONNECTIONS} connections in all (goal 0.9)");
    print("one server", alone, alone);
    print("three servers", shared, alone);
    Ok(())
}

/// The rate of all variants at once, with a share of the connections each.
async fn futures_of(variants: &[Variant]) -> Result<f64> {
    let mut counts = Vec::new();
    for _ in 0..signpost_bench::ROUNDS {
        let rounds: Vec<_> = variants
            .iter()
            .map(|variant| {
                let variant = variant.clone();
                tokio::spawn(async move { signpost_bench::round(&variant, CONNECTIONS / 3).await })
            })
            .collect();
        let mut answered = 0;
        for round in rounds {
            answered += round.await??;
        }
        counts.push(answered);
    }
    Ok(signpost_bench::per_second(counts))
}

async fn polls(ours: &Running) -> Result<()> {
    let made = ask(ours.address, &creation("", ours.address, &ours.authorization).request).await?;
    let session: Value = serde_json::from_slice(&made)?;
    let path = format!("/sandbox/v1/sessions/{}", session["id"].as_str().context("an id")?);
    let request = get_with(&path, &ours.authorization);
    let body = String::from_utf8(ask(ours.address, &request).await?)?;
    let answer = async move || ([(CONTENT_TYPE, "application/json")], body.clone());
    let bare = on_threads(1, async move || Ok(Router::new().route("/{*path}", route_get(answer))))?[0];
    let variants = [
        Variant { name: "bare handler, the same bytes", address: bare, request: request.clone() },
        Variant { name: "GET /sessions/{id}", address: ours.address, request },
    ];
    let rates = requests_per_second(&variants, 32).await?;
    println!("polling a session on PostgreSQL, 32 connections (goal 0.5)");
    for (variant, rate) in variants.iter().zip(&rates) {
        print(variant.name, *rate, rates[0]);
    }
    Ok(())
}

/// Events that wait, to an endpoint here: claimed, signed, sent, answered, and their end kept.
async fn deliveries(ours: &Running) -> Result<()> {
    let arrived = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&arrived);
    let hook = async move |State(arrived): State<Arc<AtomicU64>>| {
        arrived.fetch_add(1, Ordering::Relaxed);
        StatusCode::NO_CONTENT
    };
    let endpoints =
        on_threads(32, async move || Ok(Router::new().route("/hook", route_post(hook)).with_state(counted)))?;
    let begun = queue(ours, &endpoints).await?;
    drained(ours).await?;
    let rate = f64::from(u32::try_from(EVENTS)?) / begun.elapsed().as_secs_f64();
    println!("events from the outbox on PostgreSQL to 32 endpoints, each end kept (goal 8,000/s)");
    println!("  {rate:.0} /s, {} more than once", arrived.load(Ordering::Relaxed) - EVENTS as u64);
    Ok(())
}

/// Waits until no event waits.
async fn drained(ours: &Running) -> Result<()> {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !events::deliveries::list_all(&ours.app.store, Some("pending"), 1).await?.is_empty() {
        ensure!(Instant::now() < deadline, "events are left after a minute");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}

/// Puts the events into the outbox as one statement, due now.
async fn queue(ours: &Running, endpoints: &[SocketAddr]) -> Result<Instant> {
    let domain = ask(ours.address, &get_with("/sandbox/v1/domains", &ours.authorization)).await?;
    let domain: Value = serde_json::from_slice(&domain)?;
    let domain =
        domain["data"][0]["id"].as_str().or(domain["domains"][0]["id"].as_str()).context("a domain")?.to_owned();
    let now = ours.app.clock.now();
    let mut steps = Vec::new();
    for number in 0..EVENTS {
        let id = signpost_login::ids::EventId::new(now, signpost_store::random());
        let address = endpoints[number % endpoints.len()];
        let insert =
            "INSERT INTO deliveries (id, account, environment, domain_id, url, endpoint, body, state, attempts,
                                              created_at, next_attempt_at)
                      VALUES ($1, 'bench', 'sandbox', $2, $3, $4, $5, 'pending', 0, $6, $6)";
        let body = json!({ "type": "session.authenticated", "data": "x".repeat(300) }).to_string();
        let (url, endpoint) = (format!("http://{address}/hook"), format!("http://{address}"));
        let params =
            vec![id.as_str().into(), domain.as_str().into(), url.into(), endpoint.into(), body.into(), now.into()];
        steps.push(signpost_store::step(insert, params));
    }
    let begun = Instant::now();
    ours.app.store.write(steps).await?;
    println!("  ({EVENTS} events queued in {:?})", begun.elapsed());
    ours.app.login.outbox.notify_one();
    Ok(Instant::now())
}

/// A handler that keeps each request with an INSERT of its own, as one writes it first.
struct Plain {
    pool: Vec<Mutex<(Client, Statement)>>,
    next: AtomicU64,
}

impl Plain {
    fn start(url: &str) -> Result<SocketAddr> {
        let url = url.to_owned();
        let listens = on_threads(1, async move || {
            let mut pool = Vec::new();
            for _ in 0..POOL {
                let (client, connection) = tokio_postgres::connect(&url, NoTls).await?;
                tokio::spawn(async { drop(connection.await) });
                let insert = client.prepare(INSERT).await?;
                pool.push(Mutex::new((client, insert)));
            }
            let plain = Arc::new(Self { pool, next: AtomicU64::new(0) });
            Ok(Router::new().route("/sandbox/v1/sessions", route_post(Self::insert)).with_state(plain))
        })?;
        Ok(listens[0])
    }

    async fn insert(State(plain): State<Arc<Self>>, body: axum::Json<Value>) -> Result<axum::Json<Value>, StatusCode> {
        let domain = body["domain"].as_str().ok_or(StatusCode::BAD_REQUEST)?;
        let id = data_encoding::HEXLOWER.encode(&signpost_store::random::<16>());
        let number = plain.next.fetch_add(1, Ordering::Relaxed);
        let at = usize::try_from(number).unwrap_or_default() % POOL;
        let held = plain.pool[at].lock().await;
        let challenge = format!("svc:login:{domain}:1700000000:{id}");
        let id = format!("sess_{number:016x}{id}");
        let kept = held.0.execute(&held.1, &[&id, &challenge, &"https://example.com/login"]).await;
        kept.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
        Ok(axum::Json(json!({ "id": id, "challenge": challenge, "status": "pending" })))
    }
}

/// Serves a router at so many addresses, on two threads of its own until the process ends.
fn on_threads<F>(addresses: usize, router: impl FnOnce() -> F + Send + 'static) -> Result<Vec<SocketAddr>>
where
    F: Future<Output = Result<Router>>,
{
    let (told, started) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        runtime.block_on(async move {
            let (router, mut listens, mut serving) = (router().await?, Vec::new(), tokio::task::JoinSet::new());
            for _ in 0..addresses {
                let listener = TcpListener::bind("127.0.0.1:0").await?;
                listens.push(listener.local_addr()?);
                let router = router.clone();
                serving.spawn(async { axum::serve(listener, router).await });
            }
            told.send(listens)?;
            serving.join_all().await;
            anyhow::Ok(())
        })
    });
    started.recv().context("a server of the benchmark did not start")
}

async fn ask(address: SocketAddr, request: &[u8]) -> Result<Vec<u8>> {
    let mut connection = TcpStream::connect(address).await?;
    connection.write_all(request).await?;
    let mut reply = Vec::new();
    read_reply(&mut connection, &mut reply).await?;
    let head = reply.windows(4).position(|bytes| bytes == b"\r\n\r\n").context("a head")?;
    Ok(reply.split_off(head + 4))
}
