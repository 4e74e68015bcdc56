//! `signpost serve` while its PostgreSQL server is not ready.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket};

use crate::harness::{Integrator, NetworkFault, Program, Proxy, authority, database, http};

/// A database server that refuses every connection with an error.
struct RefusingServer {
    url: String,
    connections: Arc<AtomicUsize>,
}

impl RefusingServer {
    /// Starts a server that refuses each connection with the next of these states, then with the last.
    async fn start(states: &'static [&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("postgres://signpost@{}/signpost", listener.local_addr().expect("an address"));
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let count = counted.fetch_add(1, Ordering::SeqCst);
                let state = states[count.min(states.len() - 1)];
                let _startup_message = stream.read(&mut [0; 1024]).await;
                let fields = format!("SFATAL\0VFATAL\0C{state}\0Mthe reason of {state}\0\0");
                let length = u32::try_from(4 + fields.len()).expect("a short message");
                let message = [b"E".as_slice(), &length.to_be_bytes(), fields.as_bytes()].concat();
                drop(stream.write_all(&message).await);
            }
        });
        Self { url, connections }
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

fn serve(folder: &Path, database: &str, wait: &str) -> Program {
    let arguments =
        ["serve", "--json", "--listen", "127.0.0.1:0", "--database-url", database, "--wait-for-database", wait];
    Program::within(folder, &arguments)
}

/// Returns a reserved port that refuses connections.
fn closed_port() -> (TcpSocket, String) {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind("127.0.0.1:0".parse().expect("an address")).expect("a port");
    let url = format!("postgres://signpost@{}/signpost", socket.local_addr().expect("an address"));
    (socket, url)
}

#[tokio::test]
async fn server_waits_only_for_a_starting_database() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = RefusingServer::start(&["57P03", "57P03", "57P03", "28P01"]).await;
    let ended = serve(folder.path(), &server.url, "1h").run_async().await;
    assert_eq!((ended.code, server.connections()), (Some(1), 4), "{ended:?}");
    assert_eq!(ended.err.matches("waiting for the database").count(), 1, "{}", ended.err);
    let last = ended.err.trim_end().lines().last().expect("a line");
    assert!(last.starts_with("signpost: cannot connect to the database") && last.contains("28P01"), "{last}");
}

#[tokio::test]
async fn permanent_errors_exit_immediately() {
    let folder = tempfile::tempdir().expect("a folder");
    for states in [&["28P01"], &["3D000"], &["28000"]] {
        let server = RefusingServer::start(states).await;
        let ended = serve(folder.path(), &server.url, "1h").run_async().await;
        assert!(ended.failed(1).contains(states[0]), "{ended:?}");
        assert_eq!(server.connections(), 1);
    }
}

#[tokio::test]
async fn startup_timeout_ends_the_wait() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_reserved, url) = closed_port();
    let line = serve(folder.path(), &url, "0").run_async().await;
    assert!(line.failed(1).contains("it is not ready"), "{line:?}");
    let ended = serve(folder.path(), &url, "1s").run_async().await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let last = ended.err.trim_end().lines().last().expect("a line");
    assert!(last.starts_with("signpost: waited 1s for the database: cannot connect"), "{last}");
    let line = serve(folder.path(), &url, "2h").run_async().await;
    assert!(line.failed(2).starts_with("wait_for_database (command line): '2h' is not allowed"), "{line:?}");
}

#[tokio::test]
async fn waiting_server_is_healthy_and_not_ready() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_reserved, url) = closed_port();
    let mut server = serve(folder.path(), &url, "1h").follow_log();
    let line = server.text_line().await;
    let (_, listen) = line.split_once("listen=").unwrap_or_else(|| panic!("no address in {line}"));
    assert!(line.contains("waiting for the database") && line.contains("wait=\"1h\""), "{line}");
    let listen = listen.split_whitespace().next().expect("an address");
    let visitor = Integrator { http: http(), api: format!("http://{listen}"), key: None };
    assert_eq!(visitor.get("/health").await.with(200)["status"], "ok");
    assert_eq!(visitor.get("/health/ready").await.with(503)["status"], "unavailable");
    visitor.get("/sandbox/v1/sessions").await.assert_error(503, "unavailable");
    let (status, rest) = server.interrupt().await;
    assert_eq!(status.code(), Some(0));
    assert!(rest.iter().any(|line| line.contains("server stopped")), "{rest:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs PostgreSQL: tests/postgres.sh, which make test runs"]
async fn server_starts_once_its_database_is_ready() {
    let (folder, url) = (tempfile::tempdir().expect("a folder"), database().await);
    let proxy = Proxy::start(&authority(&url)).await;
    proxy.set_fault(NetworkFault::Cut);
    let mut server = serve(folder.path(), &proxy.replace_authority(&url), "1h").follow_log();
    while !server.text_line().await.contains("waiting for the database") {}
    proxy.set_fault(NetworkFault::None);
    let mut is_ready = false;
    let started = loop {
        let line = server.text_line().await;
        is_ready |= line.contains("the database is ready");
        if line.contains("server started") {
            break line;
        }
    };
    assert!(is_ready);
    let (_, listen) = started.split_once("listen=").unwrap_or_else(|| panic!("no address in {started}"));
    let listen = listen.split_whitespace().next().expect("an address");
    let visitor = Integrator { http: http(), api: format!("http://{listen}"), key: None };
    assert_eq!(visitor.get("/health/ready").await.with(200)["status"], "ok");
    assert_eq!(server.interrupt().await.0.code(), Some(0));
}

/// Returns the lines of a section of the systemd unit.
fn unit_section(name: &str) -> Vec<&'static str> {
    let unit = include_str!("../../../../deploy/signpost.service");
    let section = unit.split("\n[").find_map(|section| section.strip_prefix(&format!("{name}]\n")));
    section.unwrap_or_else(|| panic!("no section {name}")).lines().collect()
}

#[test]
fn service_managers_restart_without_limit() {
    // systemd ignores the setting in other sections, and gives up after five restarts.
    assert!(unit_section("Unit").contains(&"StartLimitIntervalSec=0"));
    let service = unit_section("Service");
    assert!(service.contains(&"Restart=on-failure") && service.contains(&"RestartPreventExitStatus=2"));
    // The probes must not kill a pod that waits for its database.
    let manifest = include_str!("../../../../deploy/kubernetes/signpost.yaml");
    for probe in ["startupProbe", "livenessProbe"] {
        let (_, probe) = manifest.split_once(&format!("{probe}:\n")).expect("the probe");
        assert!(probe.trim_start().starts_with("httpGet: { path: /health, port: http }"), "{probe}");
    }
}
