//! `POST /sessions`, each on disk before it is answered, against the same server with its database in memory.

use anyhow::Result;
use signpost_login::domains::{self, DomainEntropy, HandlerKind, NewDomain, register};
use signpost_platform::accounts::audit::Actor;
use signpost_platform::accounts::{Account, Environment};
use signpost_platform::outbound::Reach;

use signpost_bench::server::Running;
use signpost_bench::{Variant, post, print, requests_per_second, server};

const CONNECTIONS: usize = 128;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (memory, durable) = (server::start(None)?, server::start(Some(folder.path()))?);
    let variants = [variant("in memory", &memory).await?, variant("durable", &durable).await?];
    let served = requests_per_second(&variants, CONNECTIONS).await?;
    println!("sessions: ratio of durable (synchronous=FULL) to memory, 128 connections (goal 0.5)");
    print("POST /sessions, database in memory", served[0], served[0]);
    print("POST /sessions, on disk before the answer", served[1], served[0]);
    Ok(())
}

async fn variant(name: &'static str, running: &Running) -> Result<Variant> {
    let app = &running.app;
    let account = Account { name: "bench".to_owned(), environment: Environment::Sandbox };
    let new = NewDomain {
        domain: "example.com".to_owned(),
        webhook_url: "https://example.com/login".to_owned(),
        event_url: None,
        handler: HandlerKind::Direct,
    };
    let domain = register(&new, account, Reach::Public, app.clock.now(), DomainEntropy::draw());
    let domain = domain.map_err(|(field, reason)| anyhow::anyhow!("{field}: {reason}"))?;
    domains::sql::insert(&app.store, &app.login.seal, &domain, &Actor::Operator)
        .await?
        .map_err(|error| anyhow::anyhow!("{error:?}"))?;
    let request = post("/sandbox/v1/sessions", &running.authorization, r#"{"domain":"example.com","mode":"login"}"#);
    Ok(Variant { name, address: running.address, request })
}
