//! Webhook receivers of integrators with `listen`, `trigger` and `webhook`: receivers with one bug each, and receivers
//! that crash, hang or respond without end.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use bytes::Bytes;
use data_encoding::{BASE64, HEXLOWER};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use signpost_auth::WebhookSecret;
use signpost_auth::receiver::{EventHeaders, EventRules, Post, classify};
use signpost_platform::accounts::Environment;
use signpost_platform::clock::Clock;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket};

use crate::harness::{Endpoint, Integrator, Program, Service, StreamingCommand, members, text};

/// Computes the signature that the receiver compares with `X-Svc-Signature`.
type ComputeSignature = fn(&str, &[u8]) -> String;

/// A receiver without the library.
#[derive(Clone)]
struct CustomReceiver {
    secret: String,
    compute: ComputeSignature,
    /// The responses: status and kind of event.
    answered: Arc<Mutex<Vec<(u16, String)>>>,
}

impl CustomReceiver {
    async fn start(secret: &str, compute: ComputeSignature) -> (Self, String) {
        let site = Self { secret: secret.to_owned(), compute, answered: Arc::default() };
        let router = Router::new().route("/events", post(receive)).with_state(site.clone());
        (site, serve(router).await)
    }

    fn accepted(&self) -> Vec<String> {
        let answered = self.answered.lock().unwrap();
        answered.iter().filter(|(status, _)| *status == 200).map(|(_, kind)| kind.clone()).collect()
    }
}

async fn serve(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async { axum::serve(listener, router).await });
    format!("{address}/events")
}

async fn receive(State(site): State<CustomReceiver>, headers: HeaderMap, body: Bytes) -> (StatusCode, &'static str) {
    let came = headers.get("x-svc-signature").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_good = came == (site.compute)(&site.secret, &body);
    let (status, message) = if is_good { (StatusCode::OK, "") } else { (StatusCode::UNAUTHORIZED, "bad signature") };
    let event: Value = serde_json::from_slice(&body).unwrap_or_default();
    site.answered.lock().unwrap().push((status.as_u16(), event["event"].as_str().unwrap_or_default().to_owned()));
    (status, message)
}

fn tag(key: &str, body: &[u8]) -> Vec<u8> {
    let mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("any length");
    mac.chain_update(body).finalize().into_bytes().to_vec()
}

fn hex(key: &str, body: &[u8]) -> String {
    HEXLOWER.encode(&tag(key, body))
}

/// Re-serializes the body with sorted keys, as in Go.
fn sorted(key: &str, body: &[u8]) -> String {
    let members: BTreeMap<String, Value> = serde_json::from_slice(body).unwrap_or_default();
    hex(key, serde_json::to_string(&members).expect("JSON").as_bytes())
}

/// Re-serializes like `JSON.stringify(JSON.parse(body))`: unchanged order and no spaces. No text of an event has
/// spaces.
fn stringified(key: &str, body: &[u8]) -> String {
    hex(key, &body.iter().copied().filter(|byte| *byte != b' ').collect::<Vec<_>>())
}

/// A server with a data folder for commands, and a domain whose webhook URL has no listener.
struct Workspace {
    folder: tempfile::TempDir,
    service: Service,
    integrator: Integrator,
    domain: Value,
}

impl Workspace {
    async fn open() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let service = Service::on(&folder.path().join("signpost-data"), &Service::clock(), &[]).await;
        let integrator = service.integrator_of("default", Environment::Sandbox).await;
        let domain = integrator.register_domain("shop.test").await;
        Self { folder, service, integrator, domain }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn secret(&self) -> &str {
        text(&self.domain, "webhook_secret")
    }

    /// Starts `listen` and waits until it is ready.
    async fn start_listener(&self, url: &str) -> (StreamingCommand, Value) {
        let arguments = ["listen", "--forward-to", url, "--json"];
        let mut listener = Program::within(self.path(), &arguments).follow();
        let ready = listener.line().await;
        (listener, ready)
    }

    /// Triggers an event. Returns its ID.
    async fn send_test_event(&self) -> String {
        let path = format!("/domains/{}/test-event", text(&self.domain, "id"));
        let queued = self.integrator.post_nothing(&path).await.with(202);
        text(&queued, "id").to_owned()
    }

    async fn trigger(&self, arguments: &[&str]) -> (Option<i32>, Value, String) {
        let ended = Program::within(self.path(), &[&["trigger"], arguments, &["--json"]].concat()).run_async().await;
        (ended.code, serde_json::from_str(&ended.out).unwrap_or_default(), ended.err)
    }
}

#[tokio::test]
async fn trigger_names_the_bug_of_a_receiver() {
    let workspace = Workspace::open().await;
    let other = workspace.integrator.register_domain("other.test").await;
    let rotated = ["domains", "secret", "shop.test", "--rotate", "--json"];
    let rotated = Program::within(workspace.path(), &rotated).run_async().await.json();
    let next = text(&rotated, "next_webhook_secret");
    let (right, line_end) = (workspace.secret(), format!("{}\n", workspace.secret()));
    let base64: ComputeSignature = |key, body| BASE64.encode(&tag(key, body));
    let object: ComputeSignature = |key, _| hex(key, b"[object Object]");
    let nothing: ComputeSignature = |key, _| hex(key, b"");
    for (secret, compute, mistake, expected) in [
        (right, hex as ComputeSignature, None, ""),
        (right, sorted as ComputeSignature, Some("parsed_body"), "alphabetical order"),
        (right, object, Some("parsed_body"), "[object Object]"),
        (right, nothing, Some("parsed_body"), "had been read before"),
        (&line_end, hex as ComputeSignature, Some("secret_line_end"), "ends with \\n"),
        (
            text(&other, "webhook_secret"),
            hex as ComputeSignature,
            Some("other_secret"),
            "the secret of other.test (sandbox)",
        ),
        (next, hex as ComputeSignature, Some("other_secret"), "the next secret of shop.test (sandbox)"),
        (right, base64, Some("signature_form"), "base64"),
        ("whatever", hex as ComputeSignature, Some("unexplained"), "none of the known mistakes"),
    ] {
        let (site, url) = CustomReceiver::start(secret, compute).await;
        let (mut listener, ready) = workspace.start_listener(&url).await;
        let shop = ready["domains"].as_array().expect("domains").iter().find(|one| one["domain"] == "shop.test");
        let shop = shop.expect("the domain");
        assert_eq!((&shop["webhook_secret"], &shop["next_webhook_secret"]), (&json!(right), &json!(next)));
        let id = workspace.send_test_event().await;
        let (event, answer) = (listener.line().await, listener.line().await);
        assert_eq!((&event["type"], &event["id"], &event["event"]), (&json!("event"), &json!(id), &json!("test")));
        assert_eq!((&answer["type"], &answer["id"]), (&json!("answer"), &json!(id)));
        let Some(mistake) = mistake else {
            assert_eq!((&answer["status"], site.accepted().len()), (&json!(200), 1));
            continue;
        };
        assert_eq!(answer["status"], 401);
        let found = listener.line().await;
        assert_eq!((&found["type"], &found["mistake"]), (&json!("diagnosis"), &json!(mistake)), "{found}");
        assert!(text(&found, "text").contains(expected) && found["mending"][0].is_string(), "{found}");
        assert!(site.accepted().iter().all(|kind| kind == "test"), "a probe had an effect");
    }
}

#[tokio::test]
async fn killed_listeners_change_no_state() {
    let workspace = Workspace::open().await;
    let mut endpoint = Endpoint::start().await;
    let address = endpoint.url("/in?x=1");
    let before = workspace.send_test_event().await;
    let shown = workspace.integrator.get(&format!("/domains/{}", text(&workspace.domain, "id"))).await.with(200);
    let (mut one, _) = workspace.start_listener(&address).await;
    let (mut two, _) = workspace.start_listener(address.trim_start_matches("http://")).await;
    let id = workspace.send_test_event().await;
    for listener in [&mut one, &mut two] {
        assert_eq!(listener.line().await["id"], json!(id));
        let answer = listener.line().await;
        assert_eq!((&answer["status"], answer["ms"].is_u64()), (&json!(200), true));
        let received = endpoint.next_request().await;
        assert_eq!((received.path.as_str(), &received.json()["id"]), ("/in?x=1", &json!(id)));
        let secret = WebhookSecret::parse(workspace.secret()).expect("a secret");
        assert!(secret.verify_x_svc_signature(received.header("x-svc-signature"), &received.body));
        let sent_at: i64 = received.header("webhook-timestamp").parse().expect("a number");
        let standard = received.header("webhook-signature");
        assert!(secret.verify_standard_signature(standard, &id, sent_at, &received.body));
        assert_eq!(received.header("content-type"), "application/json");
    }
    drop(one);
    let after = workspace.send_test_event().await;
    assert_eq!(two.line().await["id"], json!(after));
    assert_eq!(two.line().await["status"], 200);
    let (status, rest) = two.interrupt().await;
    assert!(status.success() && rest.is_empty(), "{status} {rest:?}");
    // All three events were sent to the domain's webhook URL, which has no listener, and will be retried as without
    // `listen`.
    let mut waiting: Vec<_> =
        workspace.service.outbox().await.into_iter().map(|queued| (queued.id, queued.state)).collect();
    waiting.sort();
    let mut written = [before, id, after.clone()].map(|id| (id, "pending".to_owned()));
    written.sort();
    assert_eq!(waiting, written);
    assert_eq!(workspace.integrator.get(&format!("/domains/{}", text(&workspace.domain, "id"))).await.with(200), shown);
    assert_eq!(endpoint.next_request().await.json()["id"], json!(after));
    assert!(endpoint.try_next_request().is_none(), "a repeated or an old event was forwarded");
}

#[tokio::test]
async fn faulty_receiver_does_not_stop_listen() {
    let workspace = Workspace::open().await;
    // This port is reserved and has no listener.
    let receiver = TcpSocket::new_v4().expect("a socket");
    receiver.bind((Ipv4Addr::LOCALHOST, 0).into()).expect("a port");
    let address = receiver.local_addr().expect("an address");
    let (mut listening, _) = workspace.start_listener(&format!("{address}/events")).await;
    let answers = async |listening: &mut StreamingCommand| {
        let id = workspace.send_test_event().await;
        assert_eq!(listening.line().await["id"], json!(id));
        listening.line().await
    };
    let dead = answers(&mut listening).await;
    assert!(text(&dead, "error").contains("refused") && dead.get("status").is_none(), "{dead}");
    // The receiver is back, and closes the connection before the response, and within the status line.
    let listener = receiver.listen(8).expect("a listener");
    for expected in [&b""[..], b"HTTP/1.1 20"] {
        let cutting = async {
            let (mut connection, _) = listener.accept().await.expect("a connection");
            assert!(connection.read(&mut [0; 4096]).await.expect("a request") > 0);
            connection.write_all(expected).await.expect("a connection");
        };
        let (cut, ()) = tokio::join!(answers(&mut listening), cutting);
        assert!(cut["error"].is_string(), "{cut}");
    }
    drop(listener);
    let endless =
        || async { Body::from_stream(futures_util::stream::repeat_with(|| Ok::<_, std::io::Error>("x".repeat(8192)))) };
    let refusing = move || async move { (StatusCode::IM_A_TEAPOT, endless().await) };
    let router = Router::new().route("/events", post(endless)).route("/tea", post(refusing));
    let (mut listening, _) = workspace.start_listener(&serve(router.clone()).await).await;
    assert_eq!(answers(&mut listening).await["status"], 200);
    let (mut listening, _) = workspace.start_listener(&serve(router).await.replace("/events", "/tea")).await;
    assert_eq!(answers(&mut listening).await["status"], 418);
    assert_eq!(listening.line().await["mistake"], "unexplained");
    // `listen` stops while a receiver hangs.
    let hanging = Endpoint::hanging().await;
    let (mut listening, _) = workspace.start_listener(&hanging.url("/")).await;
    let id = workspace.send_test_event().await;
    assert_eq!(listening.line().await["id"], json!(id));
    assert!(listening.interrupt().await.0.success());
}

#[tokio::test]
async fn listen_reports_errors_immediately() {
    let workspace = Workspace::open().await;
    let listen = |arguments: &[&str]| Program::within(workspace.path(), &[&["listen"], arguments].concat()).run();
    for url in ["http://shop.test/", "http://192.168.1.1/", "ftp://localhost/", "http://me@localhost/"] {
        assert_eq!(listen(&["--forward-to", url]).code, Some(2), "{url}");
    }
    let unknown = listen(&["--forward-to", "localhost:1", "--domain", "nobody.test"]);
    assert!(unknown.failed(1).contains("nobody.test"), "{}", unknown.err);
    let nowhere = tempfile::tempdir().expect("a folder");
    let ended = Program::within(nowhere.path(), &["listen", "--forward-to", "localhost:1"]).run();
    assert!(ended.failed(1).contains("--data-dir"), "{}", ended.err);
    // The pipe for the output has no reader.
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let ended = Program::within(workspace.path(), &["listen", "--forward-to", "localhost:1"]).stdout(writer).run();
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""));
}

/// A receiver that uses the library correctly.
async fn good(secret: &str) -> String {
    let secret = WebhookSecret::parse(secret).expect("a secret");
    let receive = move |headers: HeaderMap, body: Bytes| async move {
        let field = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let fields = EventHeaders {
            x_svc_signature: field("x-svc-signature"),
            x_svc_signature_next: field("x-svc-signature-next"),
            webhook_id: field("webhook-id"),
            webhook_timestamp: field("webhook-timestamp"),
            webhook_signature: field("webhook-signature"),
        };
        let rules = EventRules { secrets: vec![secret], allowed_sources: Vec::new() };
        match classify(&fields, &body, &rules, Clock::System.now().as_second()) {
            Ok(Post::Event) => StatusCode::NO_CONTENT,
            _ => StatusCode::UNAUTHORIZED,
        }
    };
    serve(Router::new().route("/events", post(receive))).await
}

#[tokio::test]
async fn trigger_shows_expected_and_actual_refusals() {
    let workspace = Workspace::open().await;
    let all = ["login", "--fault", "all", "--forward-to"];
    let (code, found, error) = workspace.trigger(&[&all[..], &[&good(workspace.secret()).await]].concat()).await;
    assert_eq!((code, &found["ok"], error.as_str()), (Some(0), &json!(true), ""), "{found}");
    assert_eq!(found["posts"].as_array().map(Vec::len), Some(14));
    assert_eq!(members(&found), ["event", "ok", "posts", "url"].into());
    let parsed = CustomReceiver::start(workspace.secret(), stringified).await.1;
    let trusting = serve(Router::new().route("/events", post(async || StatusCode::OK))).await;
    let forbidding = serve(Router::new().route("/events", post(async || StatusCode::FORBIDDEN))).await;
    let untimed = CustomReceiver::start(workspace.secret(), hex).await.1;
    for (url, fault, mistake) in [
        (&parsed, "parsed-body", Some("parsed_body")),
        (&parsed, "changed-body", Some("parsed_body")),
        (&trusting, "bad-signature", Some("unchecked")),
        (&trusting, "no-signature", Some("unchecked")),
        (&trusting, "other-secret", Some("unchecked")),
        (&untimed, "stale", None),
        (&forbidding, "bad-signature", None),
    ] {
        let (code, found, error) = workspace.trigger(&["test", "--fault", fault, "--forward-to", url]).await;
        assert_eq!((code, &found["ok"], error.contains("as it should")), (Some(1), &json!(false), true), "{fault}");
        assert_eq!(found["diagnosis"]["mistake"].as_str(), mistake, "{fault}: {found}");
    }
    let (code, ..) = workspace.trigger(&["test", "--fault", "repeat", "--forward-to", &untimed]).await;
    assert_eq!(code, Some(0));
}

#[tokio::test]
async fn sample_is_never_sent_as_a_live_login() {
    let workspace = Workspace::open().await;
    let mut endpoint = Endpoint::start().await;
    let event_url = endpoint.url("/own");
    let path = format!("/domains/{}", text(&workspace.domain, "id"));
    workspace.integrator.patch(&path, &json!({ "event_url": event_url })).await.with(200);
    for kind in ["login", "register", "link", "test"] {
        let (code, found, error) = workspace.trigger(&[kind]).await;
        assert_eq!((code, error.as_str()), (Some(0), ""));
        let received = endpoint.next_request().await;
        assert_eq!((received.path.as_str(), &received.json()["event"]), ("/own", &json!(kind)));
        assert_eq!(received.json()["id"], found["posts"][0]["id"]);
    }
    let live = workspace.service.integrator_of("default", Environment::Live).await;
    live.register_domain_at("shop.test", "https://shop.test/hook").await;
    let (code, _, error) = workspace.trigger(&["login", "--domain", "shop.test", "--live"]).await;
    assert!(code == Some(2) && error.contains("--forward-to"), "{error}");
    // The command needs only a secret, and no database.
    let (nowhere, url) = (tempfile::tempdir().expect("a folder"), endpoint.url("/bare"));
    let arguments = ["trigger", "login", "--secret", workspace.secret(), "--forward-to", &url, "--domain", "b.test"];
    assert_eq!(Program::within(nowhere.path(), &arguments).run_async().await.code, Some(0));
    let received = endpoint.next_request().await;
    assert!(text(&received.json()["data"], "challenge").starts_with("svc:login:b.test:"));
    let dead: SocketAddr = ([127, 0, 0, 1], 1).into();
    let (code, found, _) = workspace.trigger(&["test", "--forward-to", &dead.to_string()]).await;
    assert_eq!((code, found["posts"][0]["error"].is_string()), (Some(1), true));
}
