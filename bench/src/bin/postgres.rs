//! Measures the program with PostgreSQL at the URL in `SIGNPOST_BENCH_POSTGRES`, which
//! bench/postgres.sh starts with default durability: `POST /sessions` and `GET /sessions/{id}`
//! compared with a server that runs an INSERT per request, the cost of a delivery, and three
//! servers with a shared database compared with a single server.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post as route_post;
use serde_json::{Value, json};
use signpost_auth::{QrData, Wallet};
use signpost_login::events;
use signpost_platform::clock::Clock;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;
use tokio_postgres::{Client, NoTls, Statement};

use signpost_bench::goals::missing;
use signpost_bench::load::{Measured, burst, measure as load, measure_concurrently, median, print_measured};
use signpost_bench::server::{ApiTarget, RunningServer, start_with};
use signpost_bench::{Program, Server, Variant, bare, compare, get_with, post, report, send_request, serve_or_measure};

const CONNECTIONS: usize = 128;
/// Number of database connections of the baseline. More connections do not increase its throughput.
const POOL: usize = 32;
const SEQUENTIAL_REQUESTS: usize = 600;
const EVENTS: usize = 20_000;
const LOGINS: usize = 6_400;

/// Inserts a session like the program does.
const INSERT: &str = "
    INSERT INTO sessions (id, account, environment, domain_id, challenge, webhook_url, created_at, expires_at,
                          client_secret, flow)
    VALUES ($1, 'bench', 'sandbox', 'dom_06g3m8d2vw', $2, $3, 1700000000000, 1700000300000, $1, 'cross_device')";

fn main() -> Result<()> {
    // The baseline server runs in a separate process, too.
    match std::env::args().skip(1).collect::<Vec<_>>().iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["plain", url] => InsertBaseline::serve(url),
        _ => serve_or_measure(measure),
    }
}

#[expect(clippy::disallowed_methods, reason = "no configuration of the program")]
async fn measure() -> Result<()> {
    let Ok(url) = std::env::var("SIGNPOST_BENCH_POSTGRES") else {
        missing("PostgreSQL", "SIGNPOST_BENCH_POSTGRES does not name one (bench/postgres.sh starts one)");
        return Ok(());
    };
    let taken = async || StatusCode::NO_CONTENT;
    let sink = on_threads(1, Router::new().route("/hook", route_post(taken)))?[0];
    let database = format!("database_url={url}");
    let program = Program::start(&[&database])?;
    program.target.register("localhost", &format!("http://{sink}/hook")).await?;
    let plain = Server::start_self(&["plain", &url])?;
    creations(&program, &plain, &url).await?;
    sequential(&program.target, plain.address).await?;
    drop(plain);
    let others = [Program::start(&[&database])?, Program::start(&[&database])?];
    three_servers(&program, &others).await?;
    polls(&program).await?;
    answers(&program).await?;
    match std::env::var("SIGNPOST_BENCH_REDIS") {
        Ok(redis) => shared_limits(&database, &redis).await?,
        Err(_) => missing("a limit shared through Redis", "apt-get install redis-server"),
    }
    // This process and two others deliver the events.
    drop(program);
    deliveries(&start_with(&[("database_url", &url)])?, &url).await
}

/// Measures the cost of a rate limit that is shared through Redis, compared with a round trip to
/// Redis.
async fn shared_limits(database: &str, redis: &str) -> Result<()> {
    let settings = [database, "rate_limit_domains=1000000/s", &format!("redis_url={redis}")];
    let (here, shared) = (Program::start(&settings[..2])?, Program::start(&settings)?);
    let mut connection = redis::Client::open(redis)?.get_multiplexed_async_connection().await?;
    let mut trips = Vec::new();
    for _ in 0..SEQUENTIAL_REQUESTS {
        let begun = Instant::now();
        redis::cmd("PING").query_async::<String>(&mut connection).await?;
        trips.push(begun.elapsed());
    }
    trips.sort_unstable();
    let request = |target: &ApiTarget| get_with("/sandbox/v1/domains/dom_none", &target.authorization);
    let without = median_latency(here.target.address, &request(&here.target)).await?;
    let with = median_latency(shared.target.address, &request(&shared.target)).await?;
    println!("rate limit in Redis, one connection, p50");
    println!("  round trip {:?}; request {without:?}, with the shared limit {with:?}", trips[SEQUENTIAL_REQUESTS / 2]);
    report("limit_redis", with.saturating_sub(without).as_secs_f64() * 1e6, None)
}

/// Returns the p50 latency of requests on a connection, regardless of their status.
async fn median_latency(address: SocketAddr, request: &[u8]) -> Result<Duration> {
    let mut connection = TcpStream::connect(address).await?;
    connection.set_nodelay(true)?;
    let (mut latencies, mut reply) = (Vec::new(), vec![0; 64 * 1024]);
    for _ in 0..SEQUENTIAL_REQUESTS {
        let begun = Instant::now();
        connection.write_all(request).await?;
        ensure!(connection.read(&mut reply).await? > 0, "the server hung up");
        latencies.push(begun.elapsed());
    }
    latencies.sort_unstable();
    Ok(latencies[SEQUENTIAL_REQUESTS / 2])
}

/// Measures answers of wallets that were signed in advance.
async fn answers(program: &Program) -> Result<()> {
    let mut requests = Vec::new();
    for number in 0..LOGINS {
        let session = program.target.create().await?;
        let qr = QrData::parse(session["qr_data"].as_str().context("qr_data")?)?;
        let mut secret = [1; 32];
        secret[..8].copy_from_slice(&(number as u64 + 1).to_be_bytes());
        let answer = Wallet::from_bytes(secret)?.answer(qr.challenge(), qr.challenge().issued_at, None);
        let path = format!("/sandbox/v1/sessions/{}/authenticate", session["id"].as_str().context("id")?);
        requests.push(post(&path, &program.target.authorization, &serde_json::to_string(&answer)?));
    }
    let measured = Measured::of(&[burst(&program.server, requests, 64).await?])?;
    println!("answering a login on PostgreSQL, signed before, 64 connections");
    print_measured("authenticate, durable before the response", measured, measured);
    report("postgres_answers", measured.rate, None)
}

async fn creations(program: &Program, plain: &Server, url: &str) -> Result<()> {
    let request = program.target.creation();
    // The upper bound for any storage: requests whose writes cost almost nothing.
    let memory = Program::start(&[])?;
    memory.target.register("localhost", "http://localhost:9/hook").await?;
    let variants = [
        Variant { name: "one INSERT per request, bare handler", server: plain, request: request.clone() },
        Variant { name: "POST /sessions", server: &program.server, request },
        Variant {
            name: "POST /sessions, database in memory",
            server: &memory.server,
            request: memory.target.creation(),
        },
    ];
    println!("creating a session on PostgreSQL, {CONNECTIONS} connections");
    let measured = compare("postgres_creation", &variants, CONNECTIONS).await?;
    let limit = bare::creations(url, Clock::System.now()).await?;
    println!("  {limit:.0} /s by a database client with arrays of 256, without HTTP");
    report("postgres_creation_memory", measured[1].rate / measured[2].rate, None)?;
    report("postgres_creation_limit", measured[1].rate / limit, None)
}

async fn sequential(program: &ApiTarget, plain: SocketAddr) -> Result<()> {
    let request = program.creation();
    let [plain, creation] = [median_latency(plain, &request).await?, median_latency(program.address, &request).await?];
    println!("one connection, p50");
    println!("  one INSERT per request {plain:?}, POST /sessions {creation:?}");
    report("postgres_alone", (creation.as_secs_f64() - plain.as_secs_f64()) * 1e3, None)
}

async fn three_servers(first: &Program, others: &[Program; 2]) -> Result<()> {
    let request = first.target.creation();
    let server = |name, server| Variant { name, server, request: request.clone() };
    let alone = [server("one server", &first.server)];
    let three = [&first.server, &others[0].server, &others[1].server].map(|it| server("three servers", it));
    let (alone, three) = (load(&alone, CONNECTIONS).await?[0], measure_concurrently(&three, CONNECTIONS / 3).await?);
    println!("three servers on one database, {CONNECTIONS} connections in all");
    print_measured("one server", alone, alone);
    print_measured("three servers", three, alone);
    report("postgres_three", three.rate / alone.rate, Some([three.cpu_time, alone.cpu_time]))
}

async fn polls(program: &Program) -> Result<()> {
    let session = program.target.create().await?;
    let path = format!("/sandbox/v1/sessions/{}", session["id"].as_str().context("an id")?);
    let request = get_with(&path, &program.target.authorization);
    let bare = Server::bare("application/json", &send_request(program.target.address, &request).await?)?;
    let variants = [
        Variant { name: "bare handler, the same bytes", server: &bare, request: request.clone() },
        Variant { name: "GET /sessions/{id}", server: &program.server, request },
    ];
    println!("polling a session on PostgreSQL, 32 connections");
    compare("postgres_polls", &variants, 32).await?;
    Ok(())
}

/// Measures deliveries of pending events to a local endpoint, from claiming an event to storing the
/// result.
async fn deliveries(program: &RunningServer, url: &str) -> Result<()> {
    let arrived = Arc::new(AtomicU64::new(0));
    let hook = async move |State(arrived): State<Arc<AtomicU64>>| {
        arrived.fetch_add(1, Ordering::Relaxed);
        StatusCode::NO_CONTENT
    };
    let router = Router::new().route("/hook", route_post(hook)).with_state(Arc::clone(&arrived));
    let endpoints = on_threads(32, router)?;
    // The events of the logins are still being delivered.
    wait_until_drained(program).await?;
    println!("events from the outbox on PostgreSQL to 32 endpoints, with stored results");
    let mut rates = Vec::new();
    for _ in 0..3 {
        let begun = queue(program, &endpoints).await?;
        wait_until_drained(program).await?;
        rates.push(f64::from(u32::try_from(EVENTS)?) / begun.elapsed().as_secs_f64());
    }
    println!("  {rates:.0?} /s, {} more than once", arrived.load(Ordering::Relaxed) - 3 * EVENTS as u64);
    let limit = bare::deliveries(url, EVENTS, program.app.clock.now()).await?;
    println!("  {limit:.0} /s claimed and completed by a client with arrays of 256, without delivery");
    let rate = median(rates);
    report("postgres_outbox", rate, None)?;
    report("postgres_outbox_limit", rate / limit, None)
}

/// Waits until no event is pending.
async fn wait_until_drained(program: &RunningServer) -> Result<()> {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !events::deliveries::list_all(&program.app.store, Some("pending"), 1).await?.is_empty() {
        ensure!(Instant::now() < deadline, "events are left after a minute");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}

/// Inserts events that are due now into the outbox, with a single statement.
async fn queue(program: &RunningServer, endpoints: &[SocketAddr]) -> Result<Instant> {
    const INSERT: &str = "
        INSERT INTO deliveries (id, account, environment, domain_id, url, endpoint, body, state, attempts, created_at,
                                next_attempt_at)
        SELECT $1, 'bench', 'sandbox', id, $2, $3, $4, 'pending', 0, $5, $5 FROM domains WHERE account = 'bench'";
    let now = program.app.clock.now();
    let mut statements = Vec::new();
    for number in 0..EVENTS {
        let id = signpost_login::ids::EventId::new(now, signpost_store::random());
        let endpoint = format!("http://{}", endpoints[number % endpoints.len()]);
        let body = json!({ "type": "session.authenticated", "data": "x".repeat(300) }).to_string();
        let url = format!("{endpoint}/hook");
        statements.push(signpost_store::Statement::new(
            INSERT,
            vec![id.as_str().into(), url.into(), endpoint.into(), body.into(), now.into()],
        ));
    }
    let begun = Instant::now();
    program.app.store.write(statements).await?;
    println!("  ({EVENTS} events queued in {:?})", begun.elapsed());
    program.app.login.outbox.notify_one();
    Ok(Instant::now())
}

/// A baseline server that runs a separate INSERT for each request.
struct InsertBaseline {
    pool: Vec<Mutex<(Client, Statement)>>,
    next: AtomicU64,
}

impl InsertBaseline {
    fn serve(url: &str) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        runtime.block_on(async {
            let mut pool = Vec::new();
            for _ in 0..POOL {
                let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
                tokio::spawn(async { drop(connection.await) });
                let insert = client.prepare(INSERT).await?;
                pool.push(Mutex::new((client, insert)));
            }
            let plain = Arc::new(Self { pool, next: AtomicU64::new(0) });
            let router = Router::new().route("/sandbox/v1/sessions", route_post(Self::insert)).with_state(plain);
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            println!("http://{}/", listener.local_addr()?);
            Ok(axum::serve(listener, router).await?)
        })
    }

    async fn insert(State(plain): State<Arc<Self>>, body: axum::Json<Value>) -> Result<axum::Json<Value>, StatusCode> {
        let domain = body["domain"].as_str().ok_or(StatusCode::BAD_REQUEST)?;
        let id = data_encoding::HEXLOWER.encode(&signpost_store::random::<16>());
        let number = plain.next.fetch_add(1, Ordering::Relaxed);
        let at = usize::try_from(number).unwrap_or_default() % POOL;
        let held = plain.pool[at].lock().await;
        let challenge = format!("svc:login:{domain}:1700000000:{id}");
        let id = format!("sess_{number:016x}{id}");
        let inserted = held.0.execute(&held.1, &[&id, &challenge, &"https://example.com/login"]).await;
        inserted.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
        Ok(axum::Json(json!({ "id": id, "challenge": challenge, "status": "pending" })))
    }
}

/// Serves a router on two threads, at this many addresses, until the process ends.
fn on_threads(addresses: usize, router: Router) -> Result<Vec<SocketAddr>> {
    let (sender, started) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        runtime.block_on(async move {
            let (mut listens, mut serving) = (Vec::new(), tokio::task::JoinSet::new());
            for _ in 0..addresses {
                let listener = TcpListener::bind("127.0.0.1:0").await?;
                listens.push(listener.local_addr()?);
                let router = router.clone();
                serving.spawn(async { axum::serve(listener, router).await });
            }
            sender.send(listens)?;
            serving.join_all().await;
            anyhow::Ok(())
        })
    });
    started.recv().context("a server of the benchmark did not start")
}
