//! Spans reach a collector. Built with the feature `otlp` alone: `make test` runs it so.
#![cfg(feature = "otlp")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

const TRACE: [u8; 16] =
    [0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6, 0xa3, 0xce, 0x92, 0x9d, 0x0e, 0x0e, 0x47, 0x36];

/// The server; a test that fails leaves none behind.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

async fn take(State(told): State<mpsc::UnboundedSender<Bytes>>, body: Bytes) {
    drop(told.send(body));
}

#[tokio::test]
async fn a_request_is_a_span_of_its_callers_trace() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let collector = format!("http://{}/v1/traces", listener.local_addr().expect("an address"));
    let (told, mut arrived) = mpsc::unbounded_channel();
    let router = Router::new().route("/v1/traces", post(take)).with_state(told);
    tokio::spawn(async { axum::serve(listener, router).await });
    let folder = tempfile::tempdir().expect("a folder");
    let mut server = Command::new(env!("CARGO_BIN_EXE_signpost"));
    server.args(["serve", "--json", "--listen", "127.0.0.1:0", "--services", "auth"]).current_dir(folder.path());
    server.env("SIGNPOST_OTLP_ENDPOINT", collector).stdout(Stdio::piped());
    server.stderr(Stdio::null());
    let mut server = Running(server.spawn().expect("the program starts"));
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    let addresses: serde_json::Value = serde_json::from_str(&line).expect("its addresses");
    drop(rustls::crypto::ring::default_provider().install_default());
    #[expect(clippy::disallowed_methods, reason = "the test is a client, outside of the program")]
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let request = client.get(addresses["health"].as_str().expect("an address"));
    let parent = format!("00-{}-00f067aa0ba902b7-01", data_encoding::HEXLOWER.encode(&TRACE));
    assert_eq!(request.header("traceparent", parent).send().await.expect("an answer").status(), 200);
    // What is still to be told is told when it ends.
    let ended = Command::new("kill").args(["-TERM", &server.0.id().to_string()]).status();
    assert!(ended.expect("kill is there").success());
    let body = tokio::time::timeout(Duration::from_secs(20), arrived.recv()).await;
    let code = tokio::task::spawn_blocking(move || server.0.wait()).await.expect("no panic").expect("a process");
    let body = body.expect("spans arrive").expect("a collector");
    let holds = |what: &[u8]| body.windows(what.len()).any(|bytes| bytes == what);
    assert!(holds(b"request") && holds(b"/health") && holds(b"signpost"), "{body:?}");
    assert!(holds(&TRACE), "it is another trace: {body:?}");
    assert!(code.success());
}
