//! The program itself, in this process, on threads of its own.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use signpost::config::{Config, Origin, RawSettings};
use signpost::server::{App, HttpServer};
use signpost_platform::accounts::keys::{self, NewKey};
use signpost_platform::accounts::{Account, Environment};
use signpost_platform::clock::Clock;

use crate::{ask, patch, post};

/// A server that runs until the process ends, and a sandbox key that opens it.
#[derive(Debug)]
pub struct Running {
    /// Where it listens.
    pub address: SocketAddr,
    /// What its requests reach.
    pub app: Arc<App>,
    /// The `authorization` line of a request.
    pub authorization: String,
}

impl Running {
    /// Registers a domain whose wallets the server answers.
    ///
    /// # Errors
    /// Where the server refuses it.
    pub async fn host(&self, domain: &str, webhook_url: &str) -> Result<()> {
        let body = json!({ "domain": domain, "webhook_url": webhook_url }).to_string();
        let made = ask(self.address, &post("/sandbox/v1/domains", &self.authorization, &body)).await?;
        let made: Value = serde_json::from_slice(&made)?;
        let path = format!("/sandbox/v1/domains/{}", made["id"].as_str().context("an id")?);
        ask(self.address, &patch(&path, &self.authorization, r#"{"handler":"hosted"}"#)).await?;
        Ok(())
    }
}

/// Starts the server on its own two threads, limits off; its database is a file in `data_dir`, or memory.
///
/// # Errors
/// Where it does not start.
pub fn start(data_dir: Option<&Path>) -> Result<Running> {
    start_with(data_dir, "off")
}

/// The same with a limit for messages to `/mcp`.
///
/// # Errors
/// Where it does not start.
pub fn start_with(data_dir: Option<&Path>, limit: &str) -> Result<Running> {
    run(config(data_dir, limit)?)
}

/// The same on a database by its address.
///
/// # Errors
/// Where it does not start.
pub fn start_on(database_url: &str) -> Result<Running> {
    start_on_with(database_url, &[])
}

/// The same with other settings.
///
/// # Errors
/// Where it does not start.
pub fn start_on_with(database_url: &str, settings: &[(&str, &str)]) -> Result<Running> {
    let mut raw = raw_settings("off");
    raw.set("database_url", database_url, Origin::Flag);
    for (key, value) in settings {
        raw.set(key, *value, Origin::Flag);
    }
    run(Config::new(&raw)?)
}

fn run(config: Config) -> Result<Running> {
    let (told, started) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        runtime.block_on(async {
            let server = HttpServer::open(config, Clock::System).await?;
            let authorization = authorization(&server.app).await?;
            let app = Arc::clone(&server.app);
            told.send(Running { address: app.listen, app, authorization }).context("nobody waits")?;
            server.run(std::future::pending()).await
        })
    });
    started.recv().context("the server did not start")
}

fn config(data_dir: Option<&Path>, limit: &str) -> Result<Config> {
    let mut raw = raw_settings(limit);
    match data_dir {
        Some(folder) => raw.set("data_dir", folder.display().to_string(), Origin::Flag),
        None => raw.set("database_url", "sqlite::memory:", Origin::Flag),
    }
    Ok(Config::new(&raw)?)
}

fn raw_settings(limit: &str) -> RawSettings {
    let mut raw = RawSettings::default();
    raw.set("listen", "127.0.0.1:0", Origin::Flag);
    for limit in ["mcp", "sse", "create_session", "get_session", "verify", "domains", "answer"] {
        raw.set(&format!("rate_limit_{limit}"), "off", Origin::Flag);
    }
    raw.set("rate_limit_mcp", limit, Origin::Flag);
    raw
}

async fn authorization(app: &App) -> Result<String> {
    let account = Account { name: "bench".to_owned(), environment: Environment::Sandbox };
    let key = NewKey::new(Environment::Sandbox, signpost_store::random(), signpost_store::random());
    keys::sql::insert(&app.store, &account, "bench", &key, app.clock.now()).await?;
    Ok(format!("authorization: Bearer {}\r\n", secrecy::ExposeSecret::expose_secret(&key.key)))
}
