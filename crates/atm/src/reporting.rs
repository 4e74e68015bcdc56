//! Acceptance of reports about ATMs from the API and from the report form.

use std::net::IpAddr;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use signpost_locator::{AtmId, fold};
use signpost_platform::accounts::{Account, Environment, KeyId};
use signpost_platform::limits::{Caller, Exceeded, Limit, Rate, customer_network};
use signpost_platform::web::problem::{Problem, error_body};
use signpost_store::random;

use crate::catalogue::{CatalogueEntry, OPERATOR, Snapshot};
use crate::reports::admission::{Admission, AdmissionError, InvalidReport, MAX_PER_NETWORK, ValidReport, admit};
use crate::reports::proof::check_proof;
use crate::reports::sql::{self, ReportOrigin, ReportWrite};
use crate::reports::{DecidedBy, MachineReport, ModerationReason, ReportId, ReportState, Weight};
use crate::service::AtmService;
use crate::visitors::KnownVisitor;

/// Rate limit for all reports to a server process, checked before the database is accessed.
const ALL_REPORTS: Rate = Rate { count: 600, window: Duration::from_mins(1) };
/// Minimum age of an account for a high weight of its reports.
const HIGH_WEIGHT_AGE: SignedDuration = SignedDuration::from_hours(7 * 24);
/// Maximum number of attempts to store a report after conflicts with other reports.
const MAX_ATTEMPTS: usize = 20;

/// The sender of a report.
#[derive(Clone, Debug)]
pub(crate) enum ReportSender {
    /// A person, identified by the client address and the account, if signed in.
    Person(Caller, Option<KnownVisitor>),
    /// An operator with an API key, who may report only about its own ATMs.
    Operator(Account, KeyId),
}

/// A validated report with the context that is needed to accept it.
#[derive(Debug)]
pub(crate) struct ReportRequest<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) atm: AtmId,
    pub(crate) sent: ValidReport,
    /// The proof of work, if the client sent it.
    pub(crate) pow: Option<&'a str>,
    pub(crate) sender: ReportSender,
}

/// An accepted report.
#[derive(Debug)]
pub(crate) struct AcceptedReport {
    pub(crate) report: MachineReport,
    /// `true` if the report was stored, `false` if it repeats an earlier report by the person.
    pub(crate) is_new: bool,
}

/// The reason why a report is rejected.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReportRefusal {
    #[error("no ATM has this ID; it may be gone from its sources")]
    AtmNotFound,
    #[error("reports of this person are not accepted here; ask the operator of this server")]
    ReporterBanned,
    #[error("pow: {0}; send another one, or none")]
    InvalidProof(&'static str),
    #[error("this ATM is not among those that your account has submitted; report it without an API key")]
    NotYourAtm,
    #[error(transparent)]
    Problem(#[from] Problem),
}

/// Accepts and stores a report about an ATM. In the sandbox, the report is checked but not stored.
pub(crate) async fn accept_report(
    service: &AtmService,
    environment: Environment,
    request: ReportRequest<'_>,
) -> Result<AcceptedReport, ReportRefusal> {
    let ReportRequest { snapshot, atm, sent, pow, sender } = request;
    let entry = snapshot.get(atm).ok_or(ReportRefusal::AtmNotFound)?;
    let now = service.clock.now();
    let mut report = draft(entry, sent, now);
    if let Some(pow) = pow {
        let Some(proof) = check_proof(report.atm_id, report.seen, pow, now) else {
            return Err(ReportRefusal::InvalidProof(
                "SHA-256 of 'ATM|SEEN|DAY|POW' must begin with 20 zero bits, with the day of today in UTC",
            ));
        };
        report.proof = Some(proof);
    }
    match sender {
        ReportSender::Operator(account, key) => {
            if sql::is_banned(&service.store, key.as_str()).await.map_err(Problem::from)? {
                return Err(ReportRefusal::ReporterBanned);
            }
            let source = format!("{OPERATOR}{}", account.name);
            if !entry.atm.claims.iter().any(|claim| *claim.source == *source) {
                return Err(ReportRefusal::NotYourAtm);
            }
            store_decision(service, environment, report, &key).await
        }
        ReportSender::Person(caller, person) => {
            count(service, &caller).await?;
            if environment == Environment::Sandbox {
                return Ok(AcceptedReport { report, is_new: true });
            }
            store_admitted(service, report, &caller, person).await
        }
    }
}

/// Counts a report against the rate limits of its address, of its network and of all clients, in this order, so that a
/// flood from a single network does not exhaust the common limit.
async fn count(service: &AtmService, caller: &Caller) -> Result<(), Problem> {
    let elapsed = service.clock.elapsed();
    let limits = &service.limits;
    limits.check(Limit::Reports, caller, elapsed).await.map_err(Problem::RateLimited)?;
    if let Some(address) = address_of(caller) {
        let network = Caller::Network(customer_network(address).into());
        let counted = limits.check_rate(Limit::Reports, &network, MAX_PER_NETWORK, elapsed).await;
        counted.map_err(|exceeded| Problem::RateLimited(Exceeded { name: "reports_of_network", ..exceeded }))?;
    }
    let all = limits.check_rate(Limit::Reports, &Caller::All, ALL_REPORTS, elapsed).await;
    all.map_err(Problem::RateLimited)
}

/// Creates a report with its content, but without proof, sender and decision.
fn draft(entry: &CatalogueEntry, sent: ValidReport, now: Timestamp) -> MachineReport {
    let id = ReportId::new(now, random());
    let text_hash = sent.text_hash();
    MachineReport {
        voice: id.clone(),
        id,
        atm_id: entry.atm.id,
        operator: operator_of(entry),
        seen: sent.seen,
        how: sent.how,
        seen_at: sent.at,
        text: sent.text,
        text_hash,
        reporter: None,
        weight: Weight::Low,
        proof: None,
        created_at: now,
        held: None,
        state: ReportState::Shown,
        decided_by: None,
        decided_at: None,
        decided_from: None,
        address: None,
        network: None,
    }
}

/// Returns the folded name of the ATM's operator, for the report limits. Empty if the operator is unknown.
fn operator_of(entry: &CatalogueEntry) -> String {
    let record = &entry.atm.record;
    record.operator.as_deref().or(record.brand.as_deref()).map(fold).unwrap_or_default()
}

/// Stores a report of the ATM's operator as a decision.
async fn store_decision(
    service: &AtmService,
    environment: Environment,
    report: MachineReport,
    key: &KeyId,
) -> Result<AcceptedReport, ReportRefusal> {
    let report = MachineReport {
        reporter: Some(key.to_string()),
        state: ReportState::Accepted,
        decided_by: Some(DecidedBy::Operator),
        decided_at: Some(report.created_at),
        ..report
    };
    if environment == Environment::Sandbox {
        return Ok(AcceptedReport { report, is_new: true });
    }
    for _ in 0..MAX_ATTEMPTS {
        let version = sql::read_version(&service.store).await.map_err(Problem::from)?;
        if let Some(accepted) = store(service, report.clone(), version).await? {
            return Ok(accepted);
        }
    }
    Err(busy().into())
}

/// Stores a report of a person, if the limits on reports allow it.
async fn store_admitted(
    service: &AtmService,
    report: MachineReport,
    caller: &Caller,
    person: Option<KnownVisitor>,
) -> Result<AcceptedReport, ReportRefusal> {
    let now = report.created_at;
    let per_address = service.limits.rate_of(Limit::Reports);
    let salts = sql::read_salts(&service.store, now).await.map_err(Problem::from)?;
    let address = salts.map(|salt| address_of(caller).map(|address| salt.hash(address)).unwrap_or_default());
    let is_settled = person.as_ref().is_some_and(|person| now.duration_since(person.since) >= HIGH_WEIGHT_AGE);
    let weight = if is_settled { Weight::High } else { Weight::Low };
    let since = per_address.map(|rate| now - SignedDuration::try_from(rate.window).unwrap_or_default());
    let origin = ReportOrigin {
        person: person.map(|person| person.id),
        weight,
        operator: report.operator.clone(),
        address_since: since.unwrap_or(now),
        address,
    };
    let [today, _] = origin.address.clone();
    let report = MachineReport {
        reporter: origin.person.clone(),
        weight,
        address: not_empty(today.address),
        network: not_empty(today.network),
        ..report
    };
    let turn = service.report_slots.next().await.ok_or_else(busy)?;
    for _ in 0..MAX_ATTEMPTS {
        let others = sql::read_others(&service.store, &report, &origin, now).await.map_err(Problem::from)?;
        let (state, held) = match admit(report.seen, &others, per_address, report.proof.is_some(), now)? {
            Admission::Stored(state, held) => (state, held),
            Admission::Repetition(repetition) => {
                match sql::find(&service.store, &repetition).await.map_err(Problem::from)? {
                    Some(report) => return Ok(AcceptedReport { report, is_new: false }),
                    None => continue,
                }
            }
        };
        let voice = others.first_by_reporter.unwrap_or_else(|| report.id.clone());
        let report = MachineReport { voice, held, state, ..report.clone() };
        if let Some(accepted) = store(service, report, others.version).await? {
            drop(turn);
            return Ok(accepted);
        }
    }
    Err(busy().into())
}

fn not_empty(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

/// Stores a report. Returns `None` if other reports have changed since `version`.
async fn store(
    service: &AtmService,
    report: MachineReport,
    version: i64,
) -> Result<Option<AcceptedReport>, ReportRefusal> {
    match sql::insert(&service.store, report.clone(), version).await.map_err(Problem::from)? {
        ReportWrite::Changed => Ok(None),
        ReportWrite::ProofUsed => Err(ReportRefusal::InvalidProof("it was used before")),
        ReportWrite::Stored => {
            let seen = report.seen.as_str();
            let state = report.state.as_str();
            let why = report.held.map(|held| if held == ModerationReason::Flood { "flood" } else { "burst" });
            tracing::info!(report = %report.id, atm = report.atm_id.get(), seen, state, why, "report taken");
            service.catalogue.changed.notify_one();
            Ok(Some(AcceptedReport { report, is_new: true }))
        }
    }
}

fn address_of(caller: &Caller) -> Option<IpAddr> {
    match caller {
        Caller::Address(address) => Some(*address),
        _ => None,
    }
}

fn busy() -> Problem {
    Problem::Unavailable("too many reports are being stored".to_owned())
}

impl From<AdmissionError> for ReportRefusal {
    fn from(refused: AdmissionError) -> Self {
        match refused {
            AdmissionError::Banned => Self::ReporterBanned,
            AdmissionError::TooMany(name, rate, wait) => Problem::RateLimited(Exceeded { name, rate, wait }).into(),
            AdmissionError::Full => Problem::Unavailable("the queue of reports is full".to_owned()).into(),
        }
    }
}

impl From<InvalidReport> for ReportRefusal {
    fn from(bad: InvalidReport) -> Self {
        Problem::field(bad.field, bad.reason).into()
    }
}

impl IntoResponse for ReportRefusal {
    fn into_response(self) -> Response {
        let text = self.to_string();
        let status_and_code = match self {
            Self::AtmNotFound => (StatusCode::NOT_FOUND, "atm_not_found"),
            Self::ReporterBanned => (StatusCode::FORBIDDEN, "reporter_banned"),
            Self::InvalidProof(_) => (StatusCode::UNPROCESSABLE_ENTITY, "invalid_proof"),
            Self::NotYourAtm => (StatusCode::FORBIDDEN, "atm_not_yours"),
            Self::Problem(problem) => return problem.into_response(),
        };
        error_body(status_and_code, &text, &json!({}))
    }
}
