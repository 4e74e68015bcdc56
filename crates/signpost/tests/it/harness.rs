//! A server of one test's own, and the actors that speak to it.

#[path = "../contract/harness/database.rs"]
mod database;

use std::path::Path;
use std::time::Duration;

use axum::http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use reqwest::header::HeaderMap;
use reqwest::{Client, Method};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use signpost::account::{Account, Environment};
use signpost::app::App;
use signpost::clock::Clock;
use signpost::config::{Config, Origin, Written};
use signpost::id;
use signpost::keys::NewKey;
use signpost::serve::Server;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub(crate) use database::database;

/// When every test begins.
pub(crate) const START: i64 = 1_800_000_000;

/// A running server. Dropped, it is cut off; [`TestServer::stop`] ends it as an operator would.
pub(crate) struct TestServer {
    pub(crate) app: App,
    client: Client,
    running: JoinHandle<anyhow::Result<()>>,
    stop: oneshot::Sender<()>,
}

/// What a test reads of a reply.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
    pub(crate) text: String,
}

/// Somebody's server with a key.
#[derive(Clone)]
pub(crate) struct Integrator {
    client: Client,
    base: String,
    key: String,
}

/// A server with a database of its own, the default settings, the limits off.
pub(crate) async fn server() -> TestServer {
    server_with(&[]).await
}

/// The same with other settings.
pub(crate) async fn server_with(settings: &[(&str, &str)]) -> TestServer {
    start(settings, &database().await, None).await
}

/// A server whose database is a file, which the next one finds again.
pub(crate) async fn server_in(folder: &Path, settings: &[(&str, &str)]) -> TestServer {
    start(settings, "", Some(folder)).await
}

async fn start(settings: &[(&str, &str)], database_url: &str, folder: Option<&Path>) -> TestServer {
    let mut written = Written::default();
    let mut set = |key: &str, value: &str| written.set(key, value, Origin::Flag);
    set("listen", "127.0.0.1:0");
    set("database_url", database_url);
    if let Some(folder) = folder {
        set("data_dir", folder.to_str().unwrap());
    }
    for limit in ["mcp", "sse", "create_session", "get_session", "verify", "domains", "answer", "submissions"] {
        set(&format!("rate_limit_{limit}"), "off");
    }
    for (key, value) in settings {
        set(key, value);
    }
    let clock = Clock::manual(Timestamp::from_second(START).unwrap());
    let server = Server::open(Config::new(&written).unwrap(), clock).await.unwrap();
    let (stop, stopped) = oneshot::channel();
    let app = server.app.clone();
    let running = tokio::spawn(server.run(async { drop(stopped.await) }));
    TestServer { app, client: client(), running, stop }
}

#[expect(clippy::disallowed_methods, reason = "the tests are the other side of every guard")]
pub(crate) fn client() -> Client {
    drop(rustls::crypto::ring::default_provider().install_default());
    Client::builder().no_proxy().timeout(Duration::from_secs(20)).build().unwrap()
}

impl TestServer {
    /// An integrator of the default account, in the sandbox.
    pub(crate) async fn integrator(&self) -> Integrator {
        self.integrator_of("default", Environment::Sandbox).await
    }

    pub(crate) async fn integrator_of(&self, name: &str, environment: Environment) -> Integrator {
        let account = Account { name: name.to_owned(), environment };
        let key = NewKey::new(environment, id::random(), id::random());
        self.app.store.insert_key(&account, "test", &key, self.app.clock.now()).await.unwrap();
        let key = key.key.expose_secret().to_owned();
        Integrator { client: self.client.clone(), base: self.url(environment.path()), key }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.app.listen)
    }

    /// Lets time pass.
    pub(crate) fn pass(&self, seconds: i64) {
        self.app.clock.advance(SignedDuration::from_secs(seconds));
    }

    /// A request by nobody in particular.
    pub(crate) async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let reply = send(&self.client, method, &self.url(path), headers, body).await;
        crate::schemas::check(body, &reply.body);
        reply
    }

    /// A JSON-RPC message to `/mcp`.
    pub(crate) async fn rpc(&self, message: &Value) -> Reply {
        self.send(Method::POST, "/mcp", &[("content-type", "application/json")], &message.to_string()).await
    }

    /// A tool call, as the simplest client makes it.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Reply {
        let params = json!({ "name": tool, "arguments": arguments });
        self.rpc(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })).await
    }

    /// Ends the server as SIGTERM does.
    pub(crate) async fn stop(self) {
        drop(self.stop);
        self.running.await.unwrap().unwrap();
    }
}

impl Integrator {
    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send(Method::GET, path, "").await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Reply {
        self.send(Method::POST, path, &body.to_string()).await
    }

    pub(crate) async fn send(&self, method: Method, path: &str, body: &str) -> Reply {
        let authorization = format!("Bearer {}", self.key);
        let headers = [("authorization", authorization.as_str()), ("content-type", "application/json")];
        send(&self.client, method, &format!("{}{path}", self.base), &headers, body).await
    }

    /// A request with this key and no content type.
    pub(crate) async fn send_bare(&self, method: Method, path: &str, body: &str) -> Reply {
        let authorization = format!("Bearer {}", self.key);
        let headers = [("authorization", authorization.as_str())];
        send(&self.client, method, &format!("{}{path}", self.base), &headers, body).await
    }

    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// Registers a domain whose wallets post to `webhook_url`.
    pub(crate) async fn register(&self, domain: &str, webhook_url: &str) -> Value {
        let reply = self.post("/domains", json!({ "domain": domain, "webhook_url": webhook_url })).await;
        reply.expect(201)
    }

    /// Registers `example.com` and opens a session on it.
    pub(crate) async fn session(&self) -> Value {
        self.register("example.com", "https://example.com/login").await;
        self.post("/sessions", json!({ "domain": "example.com" })).await.expect(201)
    }
}

impl Reply {
    /// The body of a reply with this status.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        self.body
    }

    /// The details of an error with this status and code.
    #[track_caller]
    pub(crate) fn expect_error(self, status: u16, code: &str) -> Value {
        assert_eq!((self.status, self.body["error"]["code"].as_str()), (status, Some(code)), "{}", self.text);
        self.body["error"]["details"].clone()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

async fn send(client: &Client, method: Method, url: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    try_send(client, method, url, headers, body).await.expect("the server answers")
}

/// Sends a request, and checks what every reply must have. Nothing where there is no whole reply.
async fn try_send(client: &Client, method: Method, url: &str, headers: &[(&str, &str)], body: &str) -> Option<Reply> {
    let mut request = client.request(method, url).body(body.to_owned());
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = request.send().await.ok()?;
    let (status, headers) = (response.status(), response.headers().clone());
    let text = response.text().await.ok()?;
    let body: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
    assert!(headers["x-request-id"].to_str().unwrap().starts_with("req_"));
    // An error of the authentication service is an envelope, whatever went wrong.
    if (status.is_client_error() || status.is_server_error()) && body.get("jsonrpc").is_none() && !text.is_empty() {
        let error = &body["error"];
        assert!(error["code"].is_string() && error["message"].is_string(), "{status} {text}");
        assert!(error["details"].is_object() && error.as_object().unwrap().len() == 3, "{status} {text}");
    }
    assert_eq!(status == StatusCode::UNAUTHORIZED, headers.contains_key("www-authenticate"));
    Some(Reply { status: status.as_u16(), headers, body, text })
}
