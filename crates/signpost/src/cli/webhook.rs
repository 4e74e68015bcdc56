//! The command `signpost webhook`: signs and verifies events by hand.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{ArgGroup, Args, Subcommand};
use serde_json::{Map, Value, json};
use signpost_auth::WebhookSecret;
use signpost_auth::diagnosis::{EventDiagnosis, KnownSecret, examine, remedies};
use signpost_auth::receiver::EventHeaders;
use signpost_login::domains::SigningSecrets;
use signpost_login::events::signatures;
use signpost_login::ids::EventId;
use signpost_platform::clock::Clock;
use signpost_store::random;
use url::Url;

use super::domain_filter::DomainFilter;
use super::signer::{DomainChoice, other_secrets};
use super::{Session, Usage, shell_quoted};
use crate::receiver::SignatureFields;

/// Maximum size of a body, in bytes: sixteen times the limit of receivers.
const MAX_BODY_LEN: u64 = 1 << 20;
/// Maximum difference of an event's time to a receiver's clock, in seconds.
const TOLERANCE_SECS: i64 = 300;

#[derive(Debug, Subcommand)]
pub(super) enum Webhook {
    /// Sign an event's body
    ///
    /// Prints the header fields with the signature of the body, or a curl command that posts it.
    /// With --json: `{headers}`.
    Sign(SignBody),
    /// Verify an event's signature, and diagnose a mismatch
    ///
    /// Pass the secret and the body exactly as your receiver has them: common mistakes with either
    /// are detected, with the fix. Exit code 1 if the signature does not match. The time is not
    /// verified, but the output has a warning if a receiver would reject it now.
    ///
    /// With --json: `{valid, mistakes: [{mistake, text, mending}], reason}`.
    Verify(VerifyBody),
}

#[derive(Debug, Args)]
pub(super) struct SignBody {
    /// File with the body [default: standard input]
    file: Option<PathBuf>,
    #[command(flatten)]
    secret: SecretSource,
    /// Event ID [default: the body's id, or a new one]
    #[arg(long)]
    id: Option<String>,
    /// Time of sending, in Unix seconds [default: now]
    #[arg(long, value_name = "UNIX")]
    timestamp: Option<i64>,
    /// Print a command that posts the event to this URL
    #[arg(long, value_name = "URL")]
    curl: Option<Url>,
}

#[derive(Debug, Args)]
pub(super) struct VerifyBody {
    /// File with the body [default: standard input]
    file: Option<PathBuf>,
    #[command(flatten)]
    secret: SecretSource,
    /// A received header field, NAME: VALUE; can be repeated
    #[arg(short = 'H', long, value_name = "FIELD")]
    header: Vec<String>,
    /// File with the received header fields, one per line
    #[arg(long, value_name = "FILE")]
    headers: Option<PathBuf>,
}

/// The flags that select a signing secret.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("signing_secret").args(["secret", "secret_file", "domain"]).required(true))]
pub(super) struct SecretSource {
    /// The signing secret, exactly as it is configured
    #[arg(long, value_name = "WHSEC")]
    secret: Option<String>,
    /// File with the signing secret, and nothing else
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
    /// Domain ID or name, as shown by 'domains list': its signing secret
    #[arg(long)]
    domain: Option<String>,
    #[command(flatten)]
    domain_filter: DomainFilter,
}

/// The given secrets, and other secrets that a receiver may use by mistake.
struct GivenSecrets {
    /// The values as configured, which may be no text by mistake.
    values: Vec<Vec<u8>>,
    others: Vec<KnownSecret>,
}

impl Webhook {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        match self {
            Self::Sign(sign) => sign.run(session).await,
            Self::Verify(verify) => verify.run(session).await,
        }
    }
}

impl SignBody {
    async fn run(self, session: &Session) -> Result<()> {
        let Self { file, secret, id, timestamp, curl } = self;
        let mut secrets = Vec::new();
        for value in secret.read(session).await?.values {
            let text = String::from_utf8_lossy(&value);
            // A file may end with a line break.
            secrets.push(WebhookSecret::parse(text.trim()).map_err(|error| Usage(error.to_string()))?);
        }
        let mut secrets = secrets.into_iter();
        let current = secrets.next().context("no secret")?;
        let secrets = SigningSecrets { current, next: secrets.next() };
        let body = read_body(file.as_deref())?;
        let now = Clock::System.now();
        let id = id.or_else(|| body_id(&body)).unwrap_or_else(|| EventId::new(now, random()).to_string());
        let fields = signatures(&id, &body, &secrets, timestamp.unwrap_or(now.as_second()));
        if let Some((name, _)) = fields.iter().find(|(_, value)| value.contains(char::is_control)) {
            return Err(Usage(format!("--id: {name} must be one line")).into());
        }
        let headers: Map<String, Value> =
            fields.iter().map(|(name, value)| ((*name).to_owned(), value.as_str().into())).collect();
        session.print(&json!({ "headers": headers }), || match &curl {
            Some(url) => curl_command(url, file.as_deref(), &fields),
            None => fields.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join("\n"),
        })
    }
}

fn body_id(body: &[u8]) -> Option<String> {
    serde_json::from_slice::<Value>(body).ok()?["id"].as_str().filter(|id| !id.is_empty()).map(str::to_owned)
}

fn curl_command(url: &Url, file: Option<&Path>, fields: &SignatureFields) -> String {
    let file = file.map_or_else(|| "-".to_owned(), |file| file.display().to_string());
    let mut words =
        vec!["curl -sS -i".to_owned(), shell_quoted(url.as_str()), "-H 'content-type: application/json'".to_owned()];
    words.extend(fields.iter().map(|(name, value)| format!("-H {}", shell_quoted(&format!("{name}: {value}")))));
    words.push(format!("--data-binary {}", shell_quoted(&format!("@{file}"))));
    words.join(" ")
}

impl VerifyBody {
    async fn run(self, session: &Session) -> Result<()> {
        let Self { file, secret, header, headers } = self;
        let mut lines = header;
        if let Some(file) = headers {
            lines.extend(read_text(&file)?.lines().map(str::to_owned));
        }
        let headers = EventHeaders::from_fields(|name| find_field(&lines, name));
        let has_signature = headers.x_svc_signature.is_some() || headers.webhook_signature.is_some();
        if !has_signature && find_field(&lines, "svix-signature").is_none() {
            let reason = "no signature: give the fields x-svc-signature, webhook-id, webhook-timestamp and \
                          webhook-signature with --header or --headers";
            return Err(Usage(reason.to_owned()).into());
        }
        let secrets = secret.read(session).await?;
        let body = read_body(file.as_deref())?;
        let examined =
            secrets.values.iter().map(|value| examine(|name| find_field(&lines, name), &body, value, &secrets.others));
        let best = examined.min_by_key(|examined| match examined {
            EventDiagnosis::Valid => 0,
            EventDiagnosis::Explained(mistakes) => mistakes.len(),
            EventDiagnosis::Unexplained(_) => usize::MAX,
        });
        let examination = best.context("no secret")?;
        session.print(&document(&examination), || text(&examination, age(&headers).as_deref()))?;
        if examination == EventDiagnosis::Valid { Ok(()) } else { bail!("the signature does not match") }
    }
}

/// Returns the value of a header field in lines of `NAME: VALUE`.
fn find_field<'a>(lines: &'a [String], name: &str) -> Option<&'a str> {
    let mut fields = lines.iter().filter_map(|line| line.split_once(':'));
    let (_, value) = fields.find(|(field, _)| field.trim().eq_ignore_ascii_case(name))?;
    Some(value.trim())
}

/// Returns a warning if a receiver would reject the event because of its time.
fn age(headers: &EventHeaders<'_>) -> Option<String> {
    let sent_at: i64 = headers.webhook_timestamp?.parse().ok()?;
    let age = Clock::System.now().as_second().saturating_sub(sent_at);
    if age.saturating_abs() <= TOLERANCE_SECS {
        return None;
    }
    Some(format!("It was sent {age} s ago: a receiver refuses what is more than {TOLERANCE_SECS} s from its time."))
}

fn document(examination: &EventDiagnosis) -> Value {
    match examination {
        EventDiagnosis::Valid => json!({ "valid": true, "mistakes": [] }),
        EventDiagnosis::Explained(mistakes) => {
            let mistakes = mistakes.iter().map(|mistake| {
                json!({ "mistake": mistake.code(), "text": mistake.to_string(), "mending": remedies(mistake, None) })
            });
            json!({ "valid": false, "mistakes": mistakes.collect::<Vec<_>>() })
        }
        EventDiagnosis::Unexplained(reason) => json!({ "valid": false, "mistakes": [], "reason": reason }),
    }
}

fn text(examination: &EventDiagnosis, age: Option<&str>) -> String {
    let mut lines = Vec::new();
    match examination {
        EventDiagnosis::Valid => lines.push("The signature matches.".to_owned()),
        EventDiagnosis::Explained(mistakes) => {
            for mistake in mistakes {
                lines.push(mistake.to_string());
                lines.extend(remedies(mistake, None).into_iter().map(|line| format!("  {line}")));
            }
        }
        EventDiagnosis::Unexplained(reason) => {
            let ask = "is the secret that of this domain, and the body as it came?";
            lines.push(format!("unexplained: {reason}, and no known mistake explains it: {ask}"));
        }
    }
    lines.extend(age.map(str::to_owned));
    lines.join("\n")
}

impl SecretSource {
    async fn read(self, session: &Session) -> Result<GivenSecrets> {
        let Self { secret, secret_file, domain, domain_filter } = self;
        if domain.is_some() {
            let store = session.store()?;
            let choice = DomainChoice { domain, domain_filter };
            let signing = choice.only(session, &store).await?;
            let SigningSecrets { current, next } = signing.secrets;
            let secrets = std::iter::once(current).chain(next);
            let values = secrets.map(|secret| secret.reveal().as_bytes().to_vec()).collect();
            return Ok(GivenSecrets { values, others: Vec::new() });
        }
        let value = match (secret, secret_file) {
            (Some(secret), _) => secret.into_bytes(),
            (None, Some(file)) => read_body(Some(&file))?,
            (None, None) => bail!("no secret: use --secret-file, --secret or --domain"),
        };
        Ok(GivenSecrets { values: vec![value], others: installation_secrets(session).await })
    }
}

/// Returns the secrets of the domains of this installation, if any.
async fn installation_secrets(session: &Session) -> Vec<KnownSecret> {
    if !session.has_store() {
        return Vec::new();
    }
    match session.store() {
        Ok(store) => other_secrets(session, &store, None).await,
        Err(_) => Vec::new(),
    }
}

fn read_text(file: &Path) -> Result<String> {
    String::from_utf8(read_body(Some(file))?).with_context(|| format!("{} is no text", file.display()))
}

/// Reads a file or standard input, up to [`MAX_BODY_LEN`].
fn read_body(file: Option<&Path>) -> Result<Vec<u8>> {
    let body = match file.filter(|file| *file != Path::new("-")) {
        Some(file) => std::fs::File::open(file)
            .and_then(read_bounded)
            .with_context(|| format!("cannot read {}", file.display()))?,
        None => read_bounded(std::io::stdin().lock())?,
    };
    if body.len() as u64 > MAX_BODY_LEN {
        let source = file.map_or_else(|| "the body".to_owned(), |file| file.display().to_string());
        bail!("{source} is longer than {MAX_BODY_LEN} bytes");
    }
    Ok(body)
}

/// Reads at most [`MAX_BODY_LEN`] and a byte.
fn read_bounded(source: impl Read) -> std::io::Result<Vec<u8>> {
    let mut body = Vec::new();
    source.take(MAX_BODY_LEN + 1).read_to_end(&mut body)?;
    Ok(body)
}
