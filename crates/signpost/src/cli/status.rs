//! The command `signpost status`: prints the state of an installation.

use anyhow::{Result, bail};
use serde_json::{Map, Value, json};
use signpost_platform::clock::Clock;
use signpost_platform::outbound::{NameResolver, Outbound};

use super::{Session, status_through_api};
use crate::doctor::{CatalogueFacts, CheckFinding, DatabaseFacts, Grade, Installation, MAX_NAMED, check_installation};

/// Prints the state of the installation.
///
/// # Errors
/// Returns an error if a check does not pass.
pub(super) async fn run(session: &Session) -> Result<()> {
    if let Some(api) = &session.api {
        return status_through_api::run(session, api).await;
    }
    let store = session.store()?;
    let outbound = Outbound::new(&NameResolver::System);
    let installation = Installation::inspect(&session.config, Ok(store), &outbound, None, Clock::System.now()).await;
    let database = match &installation.database {
        Ok(database) => database,
        Err(reason) => bail!("{reason}"),
    };
    let findings = check_installation(&installation).into_iter();
    let attention: Vec<_> = findings.filter(|finding| finding.grade != Grade::Pass).collect();
    session.print(&document(&installation, database, &attention), || text(&installation, database, &attention))?;
    if attention.is_empty() { Ok(()) } else { bail!("to look at: {}", attention.len()) }
}

fn document(installation: &Installation, database: &DatabaseFacts, attention: &[CheckFinding]) -> Value {
    let mut server = Map::new();
    server.insert("address".to_owned(), json!(installation.server.address));
    server.insert("answering".to_owned(), json!(installation.server.version.is_ok()));
    let (member, text) = match &installation.server.version {
        Ok(version) => ("version", version),
        Err(reason) => ("error", reason),
    };
    server.insert(member.to_owned(), json!(text));
    if let Some(address) = &installation.server.public_address {
        server.insert("public_address".to_owned(), json!(address));
    }
    let mut document = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "server": server,
        "database": installation.settings.database,
        "domains": database.domains,
        "users": database.users,
        "pending_sessions": database.pending_sessions,
        "events": database.events,
        "catalogue": database.catalogue,
        "failing_feeds": database.failing_feeds,
        "attention": attention,
    });
    if let Ok(places) = &installation.places {
        document["places"] = json!(places);
    }
    if let Ok(advisories) = &installation.advisories {
        document["advisories"] = json!(advisories);
    }
    document
}

fn text(installation: &Installation, database: &DatabaseFacts, attention: &[CheckFinding]) -> String {
    let DatabaseFacts { domains, events, catalogue, .. } = database;
    let server = &installation.server;
    let answers = match &server.version {
        Ok(version) => format!("version {version} answers at {}", server.address),
        Err(_) => format!("no answer at {}", server.address),
    };
    let places = match &installation.places {
        Ok(places) => format!("{} {}", places.places, places.origin),
        Err(_) => "cannot be read".to_owned(),
    };
    let advisories = match &installation.advisories {
        Ok(advisories) => advisories.rows.to_string(),
        Err(_) => "cannot be read".to_owned(),
    };
    let disabled = events.disabled_endpoints.len();
    let or_more = if disabled < MAX_NAMED as usize { "" } else { " or more" };
    let oldest = events.oldest_waiting_at.map(|at| format!(" since {at}")).unwrap_or_default();
    let kind =
        if catalogue.sample { " fictional samples".to_owned() } else { format!(", sources: {}", catalogue.sources) };
    let age = data_date(catalogue);
    let rows = [
        ("server", answers),
        ("address", server.public_address.clone().unwrap_or_else(|| "none yet".to_owned())),
        ("database", installation.settings.database.clone()),
        ("domains", format!("{} live, {} sandbox; {} verified", domains.live, domains.sandbox, domains.verified)),
        ("users", database.users.to_string()),
        ("sessions", format!("{} pending", database.pending_sessions)),
        ("events", format!("{} waiting{oldest}, {} failed", events.waiting, events.failed)),
        ("endpoints", format!("{} failing, {disabled}{or_more} disabled", events.failing_endpoints)),
        ("ATMs", format!("{}{kind}{age}", catalogue.machines)),
        ("places", places),
        ("advisories", advisories),
    ];
    let mut lines: Vec<_> = rows.iter().map(|(label, text)| format!("{label:10}  {text}")).collect();
    lines.push(String::new());
    if attention.is_empty() {
        lines.push("Nothing needs you.".to_owned());
    }
    for CheckFinding { check, found, remedy, .. } in attention {
        let remedy = remedy.as_deref().unwrap_or_default();
        lines.push(signpost_text::clean_line(&format!("{check}: {found}; {remedy}")).to_string());
    }
    lines.join("\n")
}

/// Returns the dates of the newest data and of the last import, preceded by a comma.
fn data_date(catalogue: &CatalogueFacts) -> String {
    let data = match (catalogue.data_as_of, catalogue.oldest_data_as_of) {
        (Some(newest), Some(oldest)) => format!(", data of {oldest} to {newest}"),
        (Some(newest), None) => format!(", data of {newest}"),
        (None, _) => ", data without a date".to_owned(),
    };
    match catalogue.imported_at {
        Some(at) if !catalogue.sample => format!("{data}, imported {at}"),
        _ => data,
    }
}
