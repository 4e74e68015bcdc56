//! The command `signpost serve`: runs the server.

use anyhow::Result;
use clap::Args;
use serde_json::json;
use signpost_platform::accounts::Environment;
use signpost_platform::accounts::audit::Actor;
use signpost_platform::clock::Clock;
use signpost_platform::observe::telemetry;

use super::Session;
use super::stop_signal::stop_signal;
use crate::config::{Origin, RawSettings, Service};
use crate::console::operators;
use crate::server::{App, HttpServer};

#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Listen address [default: 127.0.0.1:8080]; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// URL at which clients reach the server [default: the listen address]
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Maximum time to wait until PostgreSQL is ready; 0 exits immediately [default: 2m]
    #[arg(long, value_name = "DURATION")]
    wait_for_database: Option<String>,
    /// URL of Redis or Valkey, to share rate limits between several servers
    #[arg(long, value_name = "URL")]
    redis_url: Option<String>,
    /// Services to run: atm, auth [default: both]
    #[arg(long, value_name = "LIST")]
    services: Option<String>,
    /// File of your own advisories: notices about law and fraud
    #[arg(long, value_name = "FILE")]
    advisories: Option<String>,
    /// Log format: text, json [default: text]
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<String>,
}

impl Serve {
    /// Sets the flags in the settings.
    pub(super) fn set(&self, raw: &mut RawSettings) {
        let flags = [
            ("listen", &self.listen),
            ("public_url", &self.public_url),
            ("wait_for_database", &self.wait_for_database),
            ("redis_url", &self.redis_url),
            ("services", &self.services),
            ("advisories", &self.advisories),
            ("log_format", &self.log_format),
        ];
        for (key, value) in flags {
            if let Some(value) = value {
                raw.set(key, value, Origin::Flag);
            }
        }
    }
}

pub(super) async fn run(session: Session) -> Result<()> {
    let Session { config, json, .. } = session;
    let telemetry = telemetry::start(config.log, config.log_format, config.otlp_endpoint.as_ref())?;
    let mut stop = Box::pin(stop_signal()?);
    let server = tokio::select! {
        biased;
        server = HttpServer::open(config, Clock::System) => server?,
        () = &mut stop => {
            tracing::info!("server stopped");
            telemetry.end().await;
            return Ok(());
        }
    };
    if json {
        println!("{}", addresses(&server));
    } else {
        println!("{}", banner(&server.app, create_setup_link(&server.app).await?.as_deref()));
    }
    let done = server.run(stop).await;
    telemetry.end().await;
    done
}

fn addresses(server: &HttpServer) -> serde_json::Value {
    let app = &server.app;
    let base = &app.base_url;
    let mut addresses = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "listen": app.listen.to_string(),
        "data": app.config.database_shown(),
        "public_address": app.public_address,
        "mcp": format!("{base}/mcp"),
        "sse": format!("{base}/sse"),
        "health": format!("{base}/health"),
        "live": format!("{base}{}", Environment::Live.path()),
        "sandbox": format!("{base}{}", Environment::Sandbox.path()),
    });
    if let Some(metrics) = server.metrics_listen() {
        addresses["metrics"] = json!(format!("http://{metrics}/metrics"));
    }
    if app.config.console_reach().is_some() {
        addresses["console"] = json!(format!("{}/console", app.public_address));
    }
    addresses
}

/// Creates a link for the first operator. `None` if there is no console, or it has an operator.
async fn create_setup_link(app: &App) -> Result<Option<String>> {
    if app.config.console_reach().is_none() || operators::has_any(&app.store).await? {
        return Ok(None);
    }
    let token = operators::make_link(&app.store, &Actor::Server, app.clock.now()).await?;
    Ok(token.map(|token| operators::setup_link(&app.public_address, &token)))
}

/// Returns the addresses, and a command to try next for each service.
fn banner(app: &App, setup: Option<&str>) -> String {
    let base = &app.base_url;
    let public_address = &app.public_address;
    let program = program();
    let mut lines = vec![
        format!("signpost {} is ready on {public_address}", env!("CARGO_PKG_VERSION")),
        format!("Data: {}", app.config.database_shown()),
    ];
    if app.config.services.contains(&Service::Atm) {
        let snapshot = app.atm.catalogue.snapshot();
        let machines = snapshot.len();
        let kind = if snapshot.is_sample() { "fictional sample machines" } else { "machines" };
        lines.extend([
            String::new(),
            format!("ATM locator ({machines} {kind})"),
            format!("  MCP          {base}/mcp   (event stream: {base}/sse)"),
            format!("  Try it       curl -s {base}/mcp -H 'content-type: application/json' -d '{EXAMPLE}'"),
            format!("  Your data    {program} atms import FILE.csv"),
        ]);
    }
    if app.config.services.contains(&Service::Auth) {
        let [live, sandbox] = Environment::ALL.map(Environment::path);
        lines.extend([
            String::new(),
            "Passwordless authentication".to_owned(),
            format!("  Live         {base}{live}"),
            format!("  Sandbox      {base}{sandbox}"),
            format!("  Next         {program} keys create --environment sandbox --name first"),
        ]);
    }
    if app.config.console_reach().is_some() {
        let console = match setup {
            Some(link) => format!("{link}   (once, for 30 minutes)"),
            None => format!("{public_address}/console"),
        };
        lines.extend([String::new(), format!("Console {console}")]);
    }
    lines.extend([String::new(), format!("Health {public_address}/health · stop with Ctrl-C")]);
    lines.join("\n")
}

/// Returns the path that this process was started with, so that printed commands can be pasted.
pub(super) fn program() -> String {
    std::env::args().next().unwrap_or_else(|| "signpost".to_owned())
}

const EXAMPLE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_nearest_bitcoin_atm","arguments":{"location":"Miami, FL"}}}"#;
