//! Domains: the host names of an integrator's logins.
//!
//! The rules in this module are pure functions; [`proof`] searches for ownership proofs, and
//! [`sql`] stores domains.

pub mod audit;
mod cache;
pub mod encryption_key;
mod event_selection;
mod login_rules;
pub mod overview;
mod patch;
pub mod patch_sql;
mod proof;
pub mod reseal;
pub mod seal;
pub mod sql;
pub mod system_domain;
mod well_known;

use jiff::Timestamp;
use signpost_auth::{DomainName, EventKind, WebhookSecret};
use signpost_platform::accounts::{Account, Environment};
use signpost_platform::outbound::EgressPolicy;
use signpost_store::{Parsed, columns, random};
use url::{Host, Url};

use crate::ids::DomainId;

pub use cache::{CachedDomain, DomainCache};
pub use event_selection::{EventSelection, InvalidEventSelection};
pub use login_rules::{DisplayName, InvalidLoginMethods, LoginMethod, LoginMethods, Registration};
pub use patch::DomainPatch;
pub use proof::{DomainVerifier, ProofCheck};
pub use sql::{ListedDomain, RegisterDomainError};
pub use well_known::WellKnown;

/// Error text for a domain that would share its login host with another account.
pub const SHARED_LOGIN_HOST: &str = "another account has live hosted domains here, and one of the two offers lightning: a \
                                     Lightning wallet's key is the same for all domains of a login host";

/// Maximum domains of an account in an environment, so that their list fits in a reply.
pub const MAX_DOMAINS: u32 = 1000;

columns! {
    /// A registered domain, verified or not (specification, §3).
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "the fields are the specification's, §2")]
    pub struct Domain {
        pub id: DomainId,
        pub account: Account,
        pub name: DomainName as Parsed<DomainName>,
        pub webhook_url: Url,
        pub event_url: Option<Url>,
        pub handler: HandlerKind,
        pub verification_token: ProofToken,
        pub created_at: Timestamp,
        pub verified_at: Option<Timestamp>,
        /// The time of the last check of the proof after the verification.
        pub last_checked_at: Option<Timestamp>,
        /// The time of the first failed check, if the last check failed.
        pub failing_since: Option<Timestamp>,
        /// The login methods, if the integrator set them. [`Domain::methods`] includes the default.
        pub methods: Option<LoginMethods> as Option<Parsed<LoginMethods>>,
        pub registration: Registration,
        pub display_name: Option<DisplayName>,
        /// The selected kinds of events, if the integrator set them. [`Domain::events`] includes the default.
        pub events: Option<EventSelection> as Option<Parsed<EventSelection>>,
    }
}

/// The kind of handler that answers the wallets of a domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HandlerKind {
    /// The integrator's own server answers wallets.
    #[default]
    Direct,
    /// The service answers wallets itself.
    Hosted,
}

impl HandlerKind {
    /// Returns the name in requests and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Hosted => "hosted",
        }
    }

    /// Parses the name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Direct, Self::Hosted].into_iter().find(|handler| handler.as_str() == text)
    }
}

/// The webhook secrets that sign the events of a domain. There are two between `--rotate` and `--activate`
/// (docs/handlers.md, Events).
#[derive(Clone, Debug)]
pub struct SigningSecrets {
    /// The secret that signs `X-Svc-Signature`.
    pub current: WebhookSecret,
    /// The secret that signs `X-Svc-Signature-Next`.
    pub next: Option<WebhookSecret>,
}

/// The token that an owner publishes to prove a domain: `svc-verify=<token>`. It is public, and therefore not a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofToken(String);

impl ProofToken {
    /// Creates a token from 160 random bits.
    #[must_use]
    pub fn new(random: [u8; 20]) -> Self {
        Self(format!("svc-verify={}", data_encoding::BASE32_NOPAD.encode(&random).to_lowercase()))
    }

    /// Parses a token in a reply of the API.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let token = text.strip_prefix("svc-verify=")?;
        let is_token = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_token.then(|| Self(text.to_owned()))
    }

    /// Returns the text for a TXT record.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true if a published text is this token, with or without its label.
    #[must_use]
    pub fn is_published_in(&self, published: &str) -> bool {
        let published = published.trim();
        published == self.0 || Some(published) == self.0.strip_prefix("svc-verify=")
    }
}

/// A new domain and its webhook secret, shown at the registration, and later only by the command line.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct RegisteredDomain {
    pub domain: Domain,
    pub secret: WebhookSecret,
}

/// Validates a registration and creates the domain.
///
/// # Errors
/// Returns the name of the invalid field, and the reason.
pub fn register(
    new: &NewDomain,
    account: Account,
    egress: EgressPolicy,
    now: Timestamp,
    random: DomainEntropy,
) -> Result<RegisteredDomain, (&'static str, String)> {
    let name = parse_registrable(&new.domain, account.environment).map_err(|reason| ("domain", reason))?;
    let event_url = new.event_url.as_ref().map(|text| parse_webhook_url(text, egress)).transpose();
    let event_url = event_url.map_err(|reason| ("event_url", reason))?;
    let webhook_url = parse_webhook_url(&new.webhook_url, egress).map_err(|reason| ("webhook_url", reason))?;
    let domain = Domain::new(account, name, webhook_url, now, &random);
    let domain = Domain { event_url, handler: new.handler, events: new.events.clone(), ..domain };
    Ok(RegisteredDomain { domain, secret: random.secret })
}

/// The parameters of a registration.
#[derive(Debug)]
#[expect(missing_docs, reason = "the fields are the specification's, §4")]
pub struct NewDomain {
    pub domain: String,
    pub webhook_url: String,
    pub event_url: Option<String>,
    pub handler: HandlerKind,
    pub events: Option<EventSelection>,
}

impl NewDomain {
    /// Returns the default URL for wallets and events.
    #[must_use]
    pub fn default_webhook_url(name: &str) -> String {
        match name {
            "localhost" => "http://localhost:9000/webhooks/login".to_owned(),
            name => format!("https://{name}/webhooks/login"),
        }
    }
}

/// The random values of a registration.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct DomainEntropy {
    pub id: [u8; 16],
    pub token: [u8; 20],
    pub secret: WebhookSecret,
}

impl DomainEntropy {
    /// Draws random values.
    #[must_use]
    pub fn draw() -> Self {
        Self { id: random(), token: random(), secret: WebhookSecret::from_bytes(&random()) }
    }
}

/// Parses a host name that can be owned: below a public suffix, or `localhost` in the sandbox.
fn parse_registrable(text: &str, environment: Environment) -> Result<DomainName, String> {
    let name = DomainName::parse(text).map_err(|error| error.to_string())?;
    if name.as_str() == "localhost" {
        return match environment {
            Environment::Sandbox => Ok(name),
            Environment::Live => Err("localhost is allowed in the sandbox only".to_owned()),
        };
    }
    match registrable(&name) {
        Some(_) => Ok(name),
        None => Err(format!("'{name}' is a public suffix; register a domain below it")),
    }
}

/// Returns the registrable domain, shared by related names.
fn apex(name: &DomainName) -> &str {
    registrable(name).unwrap_or(name.as_str())
}

/// Returns the registrable domain, directly below the public suffix. `None` for a public suffix.
fn registrable(name: &DomainName) -> Option<&str> {
    psl2::lookup(name.as_str())?.registrable_domain()
}

/// Parses a URL for wallets or events.
///
/// # Errors
/// Returns the reason why the URL is not allowed.
pub fn parse_webhook_url(text: &str, egress: EgressPolicy) -> Result<Url, String> {
    if text.len() > 512 {
        return Err("must have at most 512 characters".to_owned());
    }
    // Some parsers treat a backslash as a slash, and would find another host in the URL.
    if text.contains('\\') || text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err("must not contain spaces, control characters or backslashes".to_owned());
    }
    let url = Url::parse(text).map_err(|_| "must be a URL such as https://example.com/webhooks/login".to_owned())?;
    egress.check(&url).map_err(ToOwned::to_owned)?;
    Ok(url)
}

impl Domain {
    /// Creates an unverified domain with default settings.
    fn new(account: Account, name: DomainName, webhook_url: Url, now: Timestamp, random: &DomainEntropy) -> Self {
        Self {
            id: DomainId::new(now, random.id),
            account,
            name,
            webhook_url,
            event_url: None,
            handler: HandlerKind::default(),
            verification_token: ProofToken::new(random.token),
            created_at: now,
            verified_at: None,
            last_checked_at: None,
            failing_since: None,
            methods: None,
            registration: Registration::default(),
            display_name: None,
            events: None,
        }
    }

    /// Returns the login methods.
    #[must_use]
    pub fn methods(&self) -> LoginMethods {
        self.methods.clone().unwrap_or_else(|| LoginMethods::default_for(self.account.environment))
    }

    /// Returns the kinds of events that the domain receives beside test events.
    #[must_use]
    pub fn events(&self) -> EventSelection {
        self.events.clone().unwrap_or_else(|| EventSelection::default_for(self.handler))
    }

    /// Returns true if the domain receives events of this kind. Test events are always sent.
    #[must_use]
    pub fn receives(&self, kind: &EventKind) -> bool {
        *kind == EventKind::Test || self.events().contains(kind)
    }

    /// Returns the URL for events without a session: the event URL, or else the webhook URL.
    #[must_use]
    pub fn events_url(&self) -> &Url {
        self.event_url.as_ref().unwrap_or(&self.webhook_url)
    }

    /// Returns true if a session may use the webhook `url`: on the domain, below it, or on the host of the domain's
    /// webhook.
    #[must_use]
    pub fn owns_webhook(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        // `localhost` includes loopback addresses, if the outbound policy allows them.
        let is_localhost = self.name.as_str() == "localhost" && is_loopback(url);
        is_localhost || self.name.covers(host) || Some(host) == self.webhook_url.host_str()
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(v4)) => v4.is_loopback(),
        Some(Host::Ipv6(v6)) => v6.is_loopback(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_registrable_names_are_accepted() {
        for (text, live, sandbox) in [
            ("example.com", true, true),
            ("shop.example.com", true, true),
            ("EXAMPLE.com.", true, true),
            ("bücher.example", true, true),
            ("shop.test", true, true),
            ("localhost", false, true),
            ("com", false, false),
            ("co.uk", false, false),
            ("github.io", false, false),
            // A name below a wildcard that is itself the base of a wildcard.
            ("mtls.run.app", false, false),
            ("someone.github.io", true, true),
            ("127.0.0.1", false, false),
            ("example.com:8080", false, false),
            ("*.example.com", false, false),
            ("https://example.com", false, false),
            ("", false, false),
        ] {
            assert_eq!(parse_registrable(text, Environment::Live).is_ok(), live, "live {text}");
            assert_eq!(parse_registrable(text, Environment::Sandbox).is_ok(), sandbox, "sandbox {text}");
        }
    }

    #[test]
    fn proof_token_matches_with_and_without_label() {
        let token = ProofToken::new([7; 20]);
        assert!(
            token.is_published_in(token.as_str()) && token.is_published_in(&format!(" {}\n", &token.as_str()[11..]))
        );
        assert!(
            !token.is_published_in("svc-verify=")
                && !token.is_published_in("")
                && !token.is_published_in(&format!("{} x", token.as_str()))
        );
    }

    #[test]
    fn webhook_url_is_unambiguous() {
        assert!(parse_webhook_url("https://example.com/hook", EgressPolicy::Public).is_ok());
        for text in
            ["https://attacker\\@victim/", "https://example.com/a b", "https://example.com/\n", "/hook", "example.com"]
        {
            assert!(parse_webhook_url(text, EgressPolicy::Everything).is_err(), "{text}");
        }
        assert!(parse_webhook_url(&format!("https://example.com/{}", "a".repeat(512)), EgressPolicy::Public).is_err());
    }
}
