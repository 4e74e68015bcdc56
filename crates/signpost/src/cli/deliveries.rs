//! The command `signpost deliveries`: inspects and retries deliveries of events.

use anyhow::{Context, Result, bail};
use clap::{Subcommand, ValueEnum};
use serde_json::{Value, json};
use signpost_login::domains;
use signpost_login::events::attempts::PastAttempt;
use signpost_login::events::refusal::explain_refusal;
use signpost_login::events::retries::MAX_RETRIED;
use signpost_login::events::{self, DeliveryListItem, RetryScope};
use signpost_login::ids::{DomainId, EventId};
use signpost_platform::accounts::audit::Actor;
use signpost_platform::clock::Clock;
use signpost_store::{Store, random};

use crate::cli::domains::DomainSelector;
use crate::cli::{Session, Usage, table};

#[derive(Debug, Subcommand)]
pub(super) enum Deliveries {
    /// List deliveries of all accounts, newest first
    List {
        /// Only deliveries in this state
        #[arg(long, value_enum)]
        state: Option<DeliveryState>,
        /// Maximum number of results
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
    },
    /// Show a delivery with its body, its last attempts and the reason of a rejection
    ///
    /// Shows up to 20 attempts. If the endpoint rejected the last attempt, `refused` has the
    /// probable reason and the fix: `{reason, text, mending}`. Sends nothing to the endpoint.
    Show {
        /// Event ID, as shown by 'deliveries list'
        id: String,
    },
    /// List failing endpoints, longest outage first
    Endpoints {
        /// Maximum number of results
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
    },
    /// Send an event again; its ID stays the same
    ///
    /// A running server sends it within a second. The retry schedule starts again.
    Retry {
        /// Event ID, as shown by 'deliveries list'
        id: Option<String>,
        /// Retry all failed events, up to 100,000 at a time
        #[arg(long, conflicts_with = "id")]
        failed: bool,
        /// Only events of the domain with this ID
        #[arg(long, value_name = "ID", requires = "failed", value_parser = parse_domain_id)]
        domain: Option<DomainId>,
    },
    /// Send a test event to a domain's event URL
    ///
    /// A running server sends it within a second; 'deliveries show' has the result. With --json:
    /// `{id}`.
    Test {
        #[command(flatten)]
        selector: DomainSelector,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum DeliveryState {
    Pending,
    Delivered,
    Failed,
}

impl Deliveries {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        let store = session.store()?;
        match self {
            Self::List { state, limit } => list(session, &store, state, limit).await,
            Self::Endpoints { limit } => endpoints(session, &store, limit).await,
            Self::Show { id } => show(session, &store, &id).await,
            Self::Retry { id, failed, domain } => retry(session, &store, id.as_deref(), failed, domain.as_ref()).await,
            Self::Test { selector } => send_test(session, &store, &selector).await,
        }
    }
}

fn parse_domain_id(text: &str) -> Result<DomainId, String> {
    DomainId::parse(text).ok_or_else(|| "use an ID such as dom_…; 'signpost domains list' shows all".to_owned())
}

fn event_id(id: &str) -> Result<EventId> {
    EventId::parse(id).with_context(|| format!("no event has the ID {id}; 'signpost deliveries list' shows all"))
}

async fn list(session: &Session, store: &Store, state: Option<DeliveryState>, limit: u32) -> Result<()> {
    let state = state.map(|state| match state {
        DeliveryState::Pending => "pending",
        DeliveryState::Delivered => "delivered",
        DeliveryState::Failed => "failed",
    });
    let events = events::deliveries::list_all(store, state, limit).await?;
    session.print(&json!({ "deliveries": events }), || {
        let rows = events.iter().map(|DeliveryListItem { delivery: event, .. }| {
            let result = event.last_error.clone().or_else(|| event.last_status.map(|status| status.to_string()));
            [
                event.id.to_string(),
                event.state.clone(),
                event.attempts.to_string(),
                event.created_at.to_string(),
                event.url.clone(),
                result.unwrap_or_default(),
            ]
        });
        table(["ID", "STATE", "ATTEMPTS", "CREATED", "URL", "LAST RESULT"], rows)
    })
}

async fn endpoints(session: &Session, store: &Store, limit: u32) -> Result<()> {
    let endpoints = events::endpoints::list_failing(store, limit).await?;
    session.print(&json!({ "endpoints": endpoints }), || {
        let rows = endpoints.iter().map(|failing| {
            let state = failing.disabled_at.map_or_else(|| "failing".to_owned(), |at| format!("disabled since {at}"));
            let environment = failing.environment.to_string();
            [failing.endpoint.clone(), failing.account.clone(), environment, failing.failing_since.to_string(), state]
        });
        table(["ENDPOINT", "ACCOUNT", "ENVIRONMENT", "FAILING SINCE", "STATE"], rows)
    })
}

async fn show(session: &Session, store: &Store, id: &str) -> Result<()> {
    let found = events::deliveries::find_in_any_account(store, &event_id(id)?).await?;
    let event = found.with_context(|| format!("no event has the ID {id}; 'signpost deliveries list' shows all"))?;
    let row = &event.delivery;
    let attempts = events::attempts::read_past_attempts(row.past_attempts.as_deref())?;
    // The delivery is shown even if the secrets cannot be decrypted.
    let secrets = domains::sql::find_secrets(store, &session.config.login.seal(), &row.domain_id).await.ok().flatten();
    let mut document = json!(event);
    document["past_attempts"] = attempts.iter().map(PastAttempt::to_view).collect();
    if row.state != "delivered"
        && let Some(reason) = explain_refusal(&attempts, secrets.as_ref())
    {
        document["refused"] = reason.to_view();
    }
    document["body"] = serde_json::from_str::<Value>(&row.body).unwrap_or_else(|_| row.body.clone().into());
    session.print(&document, || format!("{document:#}"))
}

async fn send_test(session: &Session, store: &Store, selector: &DomainSelector) -> Result<()> {
    let domain = selector.find_domain(store).await?;
    let now = Clock::System.now();
    let id = EventId::new(now, random());
    let id = events::deliveries::send_test_event(store, &domain, id, &Actor::Operator, now).await?;
    session.print(&json!({ "id": id }), || format!("{id} queued; a running server sends it within a second"))
}

async fn retry(
    session: &Session,
    store: &Store,
    id: Option<&str>,
    failed: bool,
    domain: Option<&DomainId>,
) -> Result<()> {
    let one = id.map(event_id).transpose()?;
    let choice = match (&one, domain) {
        (Some(id), _) => RetryScope::One(id, None),
        (None, Some(domain)) => RetryScope::FailedOfDomain(domain),
        (None, None) if failed => RetryScope::Failed,
        (None, None) => {
            return Err(Usage("name an event ID, or add --failed to retry all failed events".to_owned()).into());
        }
    };
    let count = events::retries::retry(store, choice, &Actor::Operator, Clock::System.now()).await?;
    if let Some(id) = one
        && count == 0
    {
        bail!("no event has the ID {id}, or it is being sent right now; 'signpost deliveries list' shows all");
    }
    session.print(&json!({ "retried": count }), || {
        let more = if count < MAX_RETRIED { "" } else { ". More may be left: run this again" };
        format!("{count} events queued; a running server sends them within a second{more}")
    })
}
