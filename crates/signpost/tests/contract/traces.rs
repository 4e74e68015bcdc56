//! Spans reach a collector (docs/operate.md, "Monitoring").

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::harness::{Program, WAIT_TIMEOUT, http};

const TRACE: [u8; 16] =
    [0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6, 0xa3, 0xce, 0x92, 0x9d, 0x0e, 0x0e, 0x47, 0x36];

async fn take(State(spans): State<mpsc::UnboundedSender<Bytes>>, body: Bytes) {
    drop(spans.send(body));
}

#[tokio::test]
async fn request_is_a_span_of_its_callers_trace() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let collector = format!("http://{}/v1/traces", listener.local_addr().expect("an address"));
    let (spans, mut arrived) = mpsc::unbounded_channel();
    let router = Router::new().route("/v1/traces", post(take)).with_state(spans);
    tokio::spawn(async { axum::serve(listener, router).await });
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().to_owned();
    let start = move || Program::serve(&place, &[("SIGNPOST_OTLP_ENDPOINT", &collector), ("NO_PROXY", "127.0.0.1")]);
    let mut server = tokio::task::spawn_blocking(start).await.expect("no panic");
    let parent = format!("00-{}-00f067aa0ba902b7-01", data_encoding::HEXLOWER.encode(&TRACE));
    let request = http().get(server.address("health")).header("traceparent", parent);
    assert_eq!(request.send().await.expect("an answer").status(), 200);
    // A server sends its remaining spans before it exits.
    server.terminate();
    let body = timeout(WAIT_TIMEOUT, arrived.recv()).await.expect("spans arrive").expect("a collector");
    let (ended, _) = tokio::task::spawn_blocking(move || server.wait_for_exit()).await.expect("no panic");
    let contains = |what: &[u8]| body.windows(what.len()).any(|bytes| bytes == what);
    assert!(contains(b"request") && contains(b"/health") && contains(b"signpost"), "{body:?}");
    assert!(contains(&TRACE), "it is another trace: {body:?}");
    assert!(ended.success());
}
