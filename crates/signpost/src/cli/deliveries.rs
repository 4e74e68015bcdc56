//! The command `signpost deliveries`: inspects and retries deliveries of events.

use anyhow::{Context, Result, bail};
use clap::{Subcommand, ValueEnum};
use serde_json::{Value, json};
use signpost_login::domains;
use signpost_login::events::attempts::PastAttempt;
use signpost_login::events::refusal::explain_refusal;
use signpost_login::events::retries::MAX_RETRIED;
use signpost_login::events::{self, RetryScope};
use signpost_login::ids::{DomainId, EventId};
use signpost_platform::accounts::audit::Actor;
use signpost_platform::clock::Clock;
use signpost_store::{Store, random};

use crate::cli::api::ServiceApi;
use crate::cli::backend::{Backend, or_unknown};
use crate::cli::domains::DomainSelector;
use crate::cli::{Session, Usage, table};

/// The headings of the list.
const HEADINGS: [&str; 6] = ["ID", "STATE", "ATTEMPTS", "CREATED", "URL", "LAST RESULT"];

#[derive(Debug, Subcommand)]
pub(super) enum Deliveries {
    /// List deliveries of all accounts, newest first; with --api of the account of the key
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
    /// probable reason and the fix: `{reason, text, mending}`. Sends nothing to the endpoint. With
    /// --api: the document of `GET /deliveries/{id}`, without attempts and reason.
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
        let backend = session.backend()?;
        match self {
            Self::List { state, limit } => list(session, &backend, state, limit).await,
            Self::Endpoints { limit } => endpoints(session, &backend, limit).await,
            Self::Show { id } => show(session, &backend, &id).await,
            Self::Retry { id, failed, domain } => {
                retry(session, &backend, id.as_deref(), failed, domain.as_ref()).await
            }
            Self::Test { selector } => send_test(session, &backend, &selector).await,
        }
    }
}

fn parse_domain_id(text: &str) -> Result<DomainId, String> {
    DomainId::parse(text).ok_or_else(|| "use an ID such as dom_…; 'signpost domains list' shows all".to_owned())
}

fn event_id(id: &str) -> Result<EventId> {
    EventId::parse(id).with_context(|| unknown_event(id))
}

fn unknown_event(id: &str) -> String {
    format!("no event has the ID {id}; 'signpost deliveries list' shows all")
}

async fn list(session: &Session, backend: &Backend, state: Option<DeliveryState>, limit: u32) -> Result<()> {
    let state = state.map(|state| match state {
        DeliveryState::Pending => "pending",
        DeliveryState::Delivered => "delivered",
        DeliveryState::Failed => "failed",
    });
    let events: Vec<Value> = match backend {
        Backend::Database(store) => {
            events::deliveries::list_all(store, state, limit).await?.iter().map(|event| json!(event)).collect()
        }
        Backend::Api(api) => api.list_deliveries(state, limit).await?,
    };
    session.print(&json!({ "deliveries": events }), || table(HEADINGS, events.iter().map(row)))
}

/// Returns the cells of a delivery in the list.
fn row(event: &Value) -> [String; 6] {
    let cell = |member: &str| match &event[member] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let result = if event["last_error"].is_null() { cell("last_status") } else { cell("last_error") };
    [cell("id"), cell("state"), cell("attempts"), cell("created_at"), cell("url"), result]
}

async fn endpoints(session: &Session, backend: &Backend, limit: u32) -> Result<()> {
    let reason = "the API has no list of failing endpoints ('deliveries list --state failed' shows their events)";
    let store = backend.database(reason, "deliveries endpoints")?;
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

async fn show(session: &Session, backend: &Backend, id: &str) -> Result<()> {
    let event_id = event_id(id)?;
    let document = match backend {
        Backend::Database(store) => {
            stored_delivery(session, store, &event_id).await?.with_context(|| unknown_event(id))?
        }
        Backend::Api(api) => {
            api.delivery(&event_id).await.map_err(|failure| or_unknown(failure, &unknown_event(id)))?
        }
    };
    session.print(&document, || format!("{document:#}"))
}

/// Returns the delivery in the database, with its attempts and the reason of a rejection.
async fn stored_delivery(session: &Session, store: &Store, id: &EventId) -> Result<Option<Value>> {
    let Some(event) = events::deliveries::find_in_any_account(store, id).await? else { return Ok(None) };
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
    Ok(Some(document))
}

async fn send_test(session: &Session, backend: &Backend, selector: &DomainSelector) -> Result<()> {
    let id = match backend {
        Backend::Database(store) => {
            let domain = selector.find_domain(backend).await?;
            let now = Clock::System.now();
            let id = EventId::new(now, random());
            events::deliveries::send_test_event(store, &domain, id, &Actor::Operator, now).await?
        }
        Backend::Api(api) => {
            let domain = backend.find_domain_id(&selector.domain_filter, &selector.domain).await?;
            api.send_test_event(&domain).await?
        }
    };
    session.print(&json!({ "id": id }), || format!("{id} queued; a running server sends it within a second"))
}

async fn retry(
    session: &Session,
    backend: &Backend,
    id: Option<&str>,
    failed: bool,
    domain: Option<&DomainId>,
) -> Result<()> {
    let one = id.map(event_id).transpose()?;
    if one.is_none() && !failed {
        return Err(Usage("name an event ID, or add --failed to retry all failed events".to_owned()).into());
    }
    let count = match backend {
        Backend::Database(store) => {
            let choice = match (&one, domain) {
                (Some(id), _) => RetryScope::One(id, None),
                (None, Some(domain)) => RetryScope::FailedOfDomain(domain),
                (None, None) => RetryScope::Failed,
            };
            events::retries::retry(store, choice, &Actor::Operator, Clock::System.now()).await?
        }
        Backend::Api(api) => retry_through_api(api, one.as_ref(), domain).await?,
    };
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

async fn retry_through_api(api: &ServiceApi, one: Option<&EventId>, domain: Option<&DomainId>) -> Result<usize> {
    if domain.is_some() {
        let reason = "the API retries the failed events of all domains of the account: omit --domain";
        return Err(Usage(reason.to_owned()).into());
    }
    let Some(id) = one else { return Ok(api.retry_failed_deliveries().await?) };
    api.retry_delivery(id).await.map_err(|failure| or_unknown(failure, &unknown_event(id.as_str())))?;
    Ok(1)
}
