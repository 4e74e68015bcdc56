//! Servers behind a load balancer are replaced one at a time under load, and no request fails: with the same program
//! (`tests/soak.sh`) and with a newer program (`tests/upgrade.sh`).

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use signpost_platform::clock::Clock;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::harness::{Endpoint, Phone, WAIT_TIMEOUT, text, until};
use crate::soak::{Caller, setting};

/// Number of concurrent clients.
const CLIENTS: u8 = 8;
/// Minimum number of responses between two replacements.
const REQUESTS: u32 = 100;

/// A load balancer and its clients.
struct Load {
    caller: Caller,
    is_stopped: Arc<AtomicBool>,
    answered: Arc<AtomicU32>,
    balancer: JoinHandle<()>,
    clients: Vec<JoinHandle<()>>,
}

/// A client of the load balancer.
#[derive(Clone)]
struct BalancedClient {
    caller: Caller,
    /// The servers that receive requests.
    ready: Arc<Mutex<Vec<u32>>>,
    answered: Arc<AtomicU32>,
}

impl BalancedClient {
    /// Sends a request and returns the body. Fails if the status differs from `status`.
    async fn request(&self, method: Method, path: &str, body: Option<&Value>, status: u16) -> Value {
        let number = self.answered.fetch_add(1, Ordering::Relaxed);
        let server = {
            let servers = self.ready.lock().expect("no panic");
            servers[number as usize % servers.len()]
        };
        let reply = self.caller.request(method, server, path, body).await;
        assert_eq!(reply.as_ref().map(|(status, _)| *status), Some(status), "server {server}, {path}: {reply:?}");
        reply.expect("it was answered").1
    }

    /// Creates, reads and answers sessions, each request at the next server.
    async fn log_in(&self, number: u8, is_stopped: &AtomicBool) {
        let phone = Phone::of(number + 1, &Clock::System);
        while !is_stopped.load(Ordering::Relaxed) {
            let body = json!({ "domain": "shop.test" });
            let session = self.request(Method::POST, "/sandbox/v1/sessions", Some(&body), 201).await;
            let path = format!("/sandbox/v1/sessions/{}", text(&session, "id"));
            assert_eq!(self.request(Method::GET, &path, None, 200).await["status"], "pending");
            self.request(Method::POST, &format!("{path}/authenticate"), Some(&phone.answer(&session)), 200).await;
            // Another server may have an older state in its cache for a moment.
            let end = Instant::now() + WAIT_TIMEOUT;
            while self.request(Method::GET, &path, None, 200).await["status"] != "authenticated" {
                assert!(Instant::now() < end, "{path} does not become a login");
                sleep(Duration::from_millis(5)).await;
            }
            sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Polls the readiness of the servers and updates the list.
async fn balance(caller: Caller, ready: Arc<Mutex<Vec<u32>>>, is_stopped: Arc<AtomicBool>) {
    while !is_stopped.load(Ordering::Relaxed) {
        let asked = join_all((0..3).map(|server| caller.is_ready(server))).await;
        let now = (0..).zip(asked).filter_map(|(server, is_ready)| is_ready.then_some(server));
        let now: Vec<u32> = now.collect();
        // If no server is ready, the list is unchanged, as in load balancers.
        if !now.is_empty() {
            *ready.lock().expect("no panic") = now;
        }
        sleep(Duration::from_millis(50)).await;
    }
}

impl Load {
    async fn begin(caller: &Caller) -> Self {
        caller.all_ready().await;
        let (ready, is_stopped) = (Arc::new(Mutex::new(vec![0, 1, 2])), Arc::new(AtomicBool::new(false)));
        let answered = Arc::new(AtomicU32::new(0));
        let balancer = tokio::spawn(balance(caller.clone(), Arc::clone(&ready), Arc::clone(&is_stopped)));
        let client_of_balancer = BalancedClient { caller: caller.clone(), ready, answered: Arc::clone(&answered) };
        let client = |number| {
            let (client_of_balancer, is_stopped) = (client_of_balancer.clone(), Arc::clone(&is_stopped));
            tokio::spawn(async move { client_of_balancer.log_in(number, &is_stopped).await })
        };
        let clients = (0..CLIENTS).map(client).collect();
        Self { caller: caller.clone(), is_stopped, answered, balancer, clients }
    }

    /// Waits for more responses.
    async fn wait_for_responses(&self) {
        let before = self.answered.load(Ordering::Relaxed);
        until("they are answered", async || {
            assert!(!self.clients.iter().any(JoinHandle::is_finished), "a request failed");
            (self.answered.load(Ordering::Relaxed) >= before + REQUESTS).then_some(())
        })
        .await;
    }

    /// Replaces all servers, one after the other.
    async fn replace_all(&self) {
        for server in 0..3 {
            self.wait_for_responses().await;
            let fleet = Arc::clone(&self.caller.fleet);
            tokio::task::spawn_blocking(move || {
                fleet.stop_server(server);
                fleet.start_server(server);
            })
            .await
            .expect("no panic");
            self.caller.all_ready().await;
        }
        self.wait_for_responses().await;
    }

    /// Stops the clients. Returns the number of responses, all of them with the expected status.
    async fn stop(self) -> u32 {
        self.is_stopped.store(true, Ordering::Relaxed);
        self.balancer.await.expect("no panic");
        for client in self.clients {
            client.await.expect("every request is answered");
        }
        self.answered.load(Ordering::Relaxed)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs servers that may be stopped: tests/soak.sh, which make test runs"]
async fn rolling_restart_drops_no_request() {
    let endpoint = Endpoint::start().await;
    let caller = Caller::start(&endpoint.url("/hook")).await;
    let load = Load::begin(&caller).await;
    load.replace_all().await;
    check_import(&caller).await;
    println!("{} requests, none dropped", load.stop().await);
}

/// Imports a file with an ATM and checks that all servers find it.
async fn check_import(caller: &Caller) {
    let file = caller.fleet.folder().join("machines.csv");
    std::fs::write(&file, "id,name,lat,lon\n1,The one machine,30.2672,-97.7431\n").expect("a file");
    let file = file.to_str().expect("text");
    caller.fleet.command(&["atms", "import", file, "--source", "soak", "--json"]).run_async().await.json();
    let arguments = json!({ "location": "Austin, TX" });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                       "params": { "name": "find_nearest_bitcoin_atm", "arguments": arguments } });
    for server in 0..3 {
        until("it is served", async || {
            let (_, found) = caller.request(Method::POST, server, "/mcp", Some(&call)).await?;
            (found["result"]["structuredContent"]["atms"][0]["name"] == "The one machine").then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs an older build of the program: tests/upgrade.sh builds one"]
async fn rolling_upgrade_drops_no_request() {
    let endpoint = Endpoint::start().await;
    let older = PathBuf::from(setting("SIGNPOST_TEST_OLDER_PROGRAM"));
    let caller = Caller::by(&older, &endpoint.url("/hook")).await;
    let load = Load::begin(&caller).await;
    load.wait_for_responses().await;
    caller.fleet.set_program(env!("CARGO_BIN_EXE_signpost").as_ref());
    load.replace_all().await;
    // When no older server runs, the parts that only older servers used are removed under load.
    let migrated = caller.fleet.command(&["migrate", "--contract", "--json"]).run_async().await.json();
    assert_eq!(migrated["waiting"], json!([]), "{migrated}");
    load.wait_for_responses().await;
    println!("{} requests, none failed", load.stop().await);
}
