//! Runs the program in this process, on separate threads.

use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::thread;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use signpost::config::{Config, Origin, RawSettings};
use signpost::server::{App, HttpServer};
use signpost_auth::{QrData, Wallet};
use signpost_platform::accounts::audit::Actor;
use signpost_platform::accounts::keys::{self, NewKey};
use signpost_platform::accounts::{Account, Environment};
use signpost_platform::clock::Clock;

use crate::{patch, post, send_request};

/// The address of a running program, with an API key for its sandbox.
#[derive(Clone, Debug)]
pub struct ApiTarget {
    /// The listen address.
    pub address: SocketAddr,
    /// The `authorization` header of a request.
    pub authorization: String,
}

/// A server that runs until the process ends.
#[derive(Debug)]
pub struct RunningServer {
    /// The address and the API key of the server.
    pub target: ApiTarget,
    /// The services of the server.
    pub app: Arc<App>,
}

impl ApiTarget {
    /// Sends a POST request. Returns the body of the response.
    ///
    /// # Errors
    /// Returns an error if the request is rejected.
    pub async fn post(&self, path: &str, body: &str) -> Result<Vec<u8>> {
        send_request(self.address, &post(path, &self.authorization, body)).await
    }

    /// Registers a domain. Returns its ID.
    ///
    /// # Errors
    /// Returns an error if the server rejects the domain.
    pub async fn register(&self, domain: &str, webhook_url: &str) -> Result<String> {
        let body = json!({ "domain": domain, "webhook_url": webhook_url }).to_string();
        let created: Value = serde_json::from_slice(&self.post("/sandbox/v1/domains", &body).await?)?;
        Ok(created["id"].as_str().context("an id")?.to_owned())
    }

    /// Registers a hosted domain.
    ///
    /// # Errors
    /// Returns an error if the server rejects the domain.
    pub async fn host(&self, domain: &str, webhook_url: &str) -> Result<()> {
        let path = format!("/sandbox/v1/domains/{}", self.register(domain, webhook_url).await?);
        send_request(self.address, &patch(&path, &self.authorization, r#"{"handler":"hosted"}"#)).await?;
        Ok(())
    }

    /// Returns the request that creates a session for the domain `localhost`.
    #[must_use]
    pub fn creation(&self) -> Vec<u8> {
        post("/sandbox/v1/sessions", &self.authorization, r#"{"domain":"localhost"}"#)
    }

    /// Creates a session for the domain `localhost`.
    ///
    /// # Errors
    /// Returns an error if the server rejects the session.
    pub async fn create(&self) -> Result<Value> {
        Ok(serde_json::from_slice(&send_request(self.address, &self.creation()).await?)?)
    }

    /// Creates a session. Returns its ID, and the request with which the wallet of this number
    /// answers it.
    ///
    /// # Errors
    /// Returns an error if the server rejects the session.
    pub async fn sign_login(&self, number: u64) -> Result<(String, Vec<u8>)> {
        let session = self.create().await?;
        let qr = QrData::parse(session["qr_data"].as_str().context("qr_data")?)?;
        let mut secret = [1; 32];
        secret[..8].copy_from_slice(&(number + 1).to_be_bytes());
        let answer = Wallet::from_bytes(secret)?.answer(qr.challenge(), qr.challenge().issued_at, None);
        let id = session["id"].as_str().context("id")?.to_owned();
        let path = format!("/sandbox/v1/sessions/{id}/authenticate");
        Ok((id, post(&path, &self.authorization, &serde_json::to_string(&answer)?)))
    }
}

/// Starts the server on two threads, without rate limits and with its database in memory.
/// `settings` override these defaults.
///
/// # Errors
/// Returns an error if the server does not start.
pub fn start_with(settings: &[(&str, &str)]) -> Result<RunningServer> {
    let mut raw = RawSettings::default();
    raw.set("listen", "127.0.0.1:0", Origin::Flag);
    for limit in ["mcp", "sse", "create_session", "get_session", "verify", "domains", "answer", "token"] {
        raw.set(&format!("rate_limit_{limit}"), "off", Origin::Flag);
    }
    if !settings.iter().any(|(key, _)| ["data_dir", "database_url"].contains(key)) {
        raw.set("database_url", "sqlite::memory:", Origin::Flag);
    }
    for (key, value) in settings {
        raw.set(key, *value, Origin::Flag);
    }
    run(Config::new(&raw)?)
}

fn run(config: Config) -> Result<RunningServer> {
    let (sender, started) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        runtime.block_on(async {
            let server = HttpServer::open(config, Clock::System).await?;
            let authorization = authorization(&server.app).await?;
            let app = Arc::clone(&server.app);
            let target = ApiTarget { address: app.listen, authorization };
            sender.send(RunningServer { target, app }).context("the receiver is gone")?;
            server.run(std::future::pending()).await
        })
    });
    started.recv().context("the server did not start")
}

async fn authorization(app: &App) -> Result<String> {
    let account = Account { name: "bench".to_owned(), environment: Environment::Sandbox };
    let key = NewKey::new(Environment::Sandbox, signpost_store::random(), signpost_store::random());
    keys::sql::insert(&app.store, &Actor::Operator, &account, "bench", &key, app.clock.now()).await?;
    Ok(format!("authorization: Bearer {}\r\n", secrecy::ExposeSecret::expose_secret(&key.key)))
}
