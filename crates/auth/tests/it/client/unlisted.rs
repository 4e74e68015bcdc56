//! Tests calls that `vectors/client.json` omits: streams, images, OpenID Connect clients, users
//! without keys, sign-ins, reports, and the locator with a token.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use signpost_auth::client::{
    ClientChange, ClientRotation, ErrorCode, Finding, NewClient, NewReport, Paging, SessionStatus, Signpost, Submission,
};
use tokio::net::TcpListener;

/// A received request: the method with the path, the header `Authorization`, and the body.
type ReceivedRequest = (String, Option<String>, Value);

/// A service with a single reply, which records the requests.
#[derive(Clone)]
struct Stub {
    status: StatusCode,
    kind: &'static str,
    body: Vec<u8>,
    seen: Arc<Mutex<Vec<ReceivedRequest>>>,
}

async fn start(status: u16, kind: &'static str, body: impl Into<Vec<u8>>) -> (Stub, Signpost) {
    let status = StatusCode::from_u16(status).unwrap();
    let stub = Stub { status, kind, body: body.into(), seen: Arc::default() };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let router = Router::new().fallback(answer).with_state(stub.clone());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (stub, Signpost::new("svc_test_key").unwrap().with_base_url(&base).unwrap().with_retries(0))
}

async fn start_json(status: u16, body: &Value) -> (Stub, Signpost) {
    start(status, "application/json", body.to_string()).await
}

async fn answer(State(stub): State<Stub>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let authorization = headers.get(AUTHORIZATION).map(|value| value.to_str().unwrap().to_owned());
    let body = serde_json::from_slice(&body).unwrap_or_default();
    stub.seen.lock().unwrap().push((format!("{method} {uri}"), authorization, body));
    (stub.status, [(CONTENT_TYPE, stub.kind)], stub.body).into_response()
}

impl Stub {
    fn take(&self) -> Vec<ReceivedRequest> {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }

    /// Returns the method and the path of the only request.
    fn target(&self) -> String {
        let mut seen = self.take();
        assert_eq!(seen.len(), 1, "{seen:?}");
        seen.remove(0).0
    }
}

#[tokio::test]
async fn stream_has_each_state() {
    let events = ": keep-alive\r\n\r\nevent: status\r\ndata: {\"id\":\"sess_1\",\r\ndata: \"status\":\"pending\"}\r\n\r\n\
                  data:{\"id\":\"sess_1\",\"status\":\"expired\"}\n\n";
    let (stub, signpost) = start(200, "text/event-stream", events).await;
    let mut stream = signpost.sessions().follow("sess_1").await.unwrap();
    let mut states = Vec::new();
    while let Some(session) = stream.next().await.unwrap() {
        states.push(session.status);
    }
    assert_eq!(states, [SessionStatus::Pending, SessionStatus::Expired]);
    assert_eq!(stub.target(), "GET /v1/sessions/sess_1/events");
}

#[tokio::test]
async fn invalid_stream_is_an_error() {
    for (kind, body) in [
        ("application/json", "{}".to_owned()),
        ("text/event-stream", "data: {\n\n".to_owned()),
        ("text/event-stream", "x".repeat(70_000)),
    ] {
        let (_stub, signpost) = start(200, kind, body).await;
        let outcome = match signpost.sessions().follow("sess_1").await {
            Ok(mut stream) => stream.next().await.map(|_| ()),
            Err(error) => Err(error),
        };
        assert_eq!(outcome.unwrap_err().code, ErrorCode::InvalidResponse);
    }
    let error = json!({ "error": { "code": "session_not_found", "message": "no" } });
    let (_stub, signpost) = start_json(404, &error).await;
    assert_eq!(signpost.sessions().follow("sess_1").await.unwrap_err().code, ErrorCode::SessionNotFound);
}

#[tokio::test]
async fn stream_without_a_reply_ends_with_a_timeout() {
    // The listener does not accept connections, so no response arrives.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let signpost = super::client(listener.local_addr().unwrap().port()).with_timeout(Duration::from_millis(20));
    assert_eq!(signpost.sessions().follow("sess_1").await.unwrap_err().code, ErrorCode::Timeout);
}

#[tokio::test]
async fn png_has_its_signature() {
    let (stub, signpost) = start(200, "image/png", b"\x89PNG\r\n\x1a\nrest".to_vec()).await;
    assert_eq!(signpost.sessions().qr_png("sess_1").await.unwrap().len(), 12);
    assert_eq!(stub.target(), "GET /v1/sessions/sess_1/qr.png");
    let (_stub, signpost) = start(200, "text/html", "<h1>Hello</h1>").await;
    assert_eq!(signpost.sessions().qr_png("sess_1").await.unwrap_err().code, ErrorCode::InvalidResponse);
}

#[tokio::test]
async fn clients_are_created_changed_and_deleted() {
    let client = json!({ "client_id": "cli_1", "issuer": "https://login.example", "public": false,
        "redirect_uris": ["https://wiki.example/callback"], "post_logout_uris": [], "alg": "RS256", "email": "own",
        "pkce": true, "trusted": false, "created_at": "2023-11-14T22:13:10Z", "client_secret": "sgp_cs_1" });
    let (stub, signpost) = start_json(201, &client).await;
    let (clients, redirect_uris) = (signpost.clients(), vec!["https://wiki.example/callback".to_owned()]);
    let created = clients.create("dom_1", &NewClient { redirect_uris, ..NewClient::default() }).await.unwrap();
    assert_eq!(created.client_secret.as_ref().unwrap().expose_secret(), "sgp_cs_1");
    assert!(!format!("{created:?}").contains("sgp_cs_1"));
    let change = ClientChange { pkce: Some(false), ..ClientChange::default() };
    clients.update("dom_1", "cli_1", &change).await.unwrap();
    clients.rotate_secret("dom_1", "cli_1", ClientRotation { now: true }).await.unwrap();
    clients.get("dom_1", "cli_1").await.unwrap();
    let seen: Vec<_> = stub.take().into_iter().map(|(target, _, body)| (target, body)).collect();
    let new = json!({ "redirect_uris": ["https://wiki.example/callback"], "public": false });
    let expected = [
        ("POST /v1/domains/dom_1/clients", new),
        ("PATCH /v1/domains/dom_1/clients/cli_1", json!({ "pkce": false })),
        ("POST /v1/domains/dom_1/clients/cli_1/rotate", json!({ "now": true })),
        ("GET /v1/domains/dom_1/clients/cli_1", Value::Null),
    ];
    assert_eq!(seen, expected.map(|(target, body)| (target.to_owned(), body)));
    let (stub, signpost) = start_json(200, &json!({ "clients": [] })).await;
    signpost.clients().list("dom_1", &Paging::default()).await.unwrap();
    assert_eq!(stub.target(), "GET /v1/domains/dom_1/clients");
    let (stub, signpost) = start(204, "text/plain", "").await;
    signpost.clients().delete("dom_1", "cli_1").await.unwrap();
    assert_eq!(stub.target(), "DELETE /v1/domains/dom_1/clients/cli_1");
}

#[tokio::test]
async fn visitors_report_without_the_api_key() {
    let report = json!({ "id": "rep_1", "atm_id": 7, "seen": "gone", "at": "2023-11-14T22:13:10Z", "state": "new",
                         "weight": 1, "created_at": "2023-11-14T22:13:10Z" });
    let (stub, signpost) = start_json(201, &report).await;
    signpost.atms().report(7, &NewReport::of(Finding::Gone)).await.unwrap();
    signpost.atms().report_as_operator(7, &NewReport::of(Finding::Gone)).await.unwrap();
    let key = Some("Bearer svc_test_key".to_owned());
    let target = "POST /v1/atms/7/reports".to_owned();
    let body = json!({ "seen": "gone" });
    assert_eq!(stub.take(), [(target.clone(), None, body.clone()), (target, key, body)]);
}

#[tokio::test]
async fn operators_submit_their_atms() {
    let none = json!({ "total": 0, "first": [] });
    let outcome = json!({ "source": "a", "dry_run": true, "added": 1, "changed": 0, "unchanged": 0, "removed": 0,
        "filtered": 0, "skipped": none, "doubts": none, "columns": {}, "unused_columns": none });
    let (stub, signpost) = start_json(200, &outcome).await;
    let location = json!({ "lat": 1, "lon": 2 }).as_object().unwrap().clone();
    let outcome = signpost.atms().submit(&Submission { locations: vec![location] }).await.unwrap();
    assert_eq!((outcome.added, outcome.dry_run), (1, true));
    assert_eq!(stub.target(), "POST /v1/atms/submissions");
}

#[tokio::test]
async fn locator_gets_its_own_token() {
    let reply = json!({ "result": { "content": [{ "text": "no" }], "isError": true } });
    let (stub, signpost) = start_json(200, &reply).await;
    assert_eq!(signpost.atms().get(7).await.unwrap_err().code, ErrorCode::ToolError);
    let url = signpost.atms().mcp_url().join("/other").unwrap();
    let other = signpost.with_mcp_url(url.as_str()).unwrap().with_mcp_token("token").unwrap();
    assert_eq!(other.atms().mcp_url(), url);
    assert_eq!(other.atms().get(7).await.unwrap_err().code, ErrorCode::ToolError);
    let seen: Vec<_> = stub.take().into_iter().map(|(target, authorization, _)| (target, authorization)).collect();
    let token = Some("Bearer token".to_owned());
    assert_eq!(seen, [("POST /mcp".to_owned(), None), ("POST /other".to_owned(), token)]);
}

#[test]
fn invalid_locator_options_are_rejected() {
    let signpost = || Signpost::new("svc_test_key").unwrap();
    for url in ["/mcp", "ftp://a/mcp", "https://me@a/mcp"] {
        assert_eq!(signpost().with_mcp_url(url).unwrap_err().code, ErrorCode::InvalidArgument, "{url}");
    }
    assert_eq!(signpost().with_mcp_token("").unwrap_err().code, ErrorCode::InvalidArgument);
}
