//! The OpenID Connect service: the state that its requests and jobs share.

use std::ops::Deref;
use std::sync::{Arc, Once};

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::{Value, json};
use signpost_login::LoginService;
use signpost_login::domains::Domain;
use signpost_login::ids::DomainId;
use signpost_platform::accounts::Environment;
use signpost_platform::accounts::audit::Actor;
use signpost_platform::cache::ReadCache;
use signpost_platform::observe::log_limiter::LogLimiter;
use signpost_platform::pages::cookie::CookieHash;
use signpost_platform::parsed_rows::ParsedRows;
use signpost_platform::web::PublicDocument;
use signpost_store::Row;
use tokio::sync::Mutex;

use crate::grants::{AppSession, TokenHash, ValidToken};
use crate::jose::{RsaUnsupported, SigningAlgorithm, jws};
use crate::signing_keys::creation::{Activation, NewSigningKey, create_key};
use crate::signing_keys::key_ring_cache::KeyRingCache;
use crate::signing_keys::{KeyRing, sql};

/// Number of kinds of proxy faults. Each kind has its own log limit.
pub const FORWARD_FAULTS: usize = 6;

/// The OpenID Connect service. Cheap to clone; created once, when the server starts.
#[derive(Clone, Debug)]
pub struct OpenidService(Arc<OpenidParts>);

/// The parts of an [`OpenidService`].
#[derive(Debug)]
pub struct OpenidParts {
    /// The login service. Its login page logs the users in.
    pub login: LoginService,
    /// The cache of the signing keys.
    key_rings: KeyRingCache,
    /// A lock for the generation of the first key, because generating an RSA key occupies a core
    /// for some time.
    key_generation: Mutex<()>,
    /// Ensures that a missing key that cannot be generated is logged only once.
    missing_key_logged: Once,
    /// The cache of applications' sessions.
    pub app_sessions: ReadCache<CookieHash, Arc<AppSession>>,
    /// Applications' sessions with the rows that they were parsed from.
    pub parsed_app_sessions: ParsedRows<CookieHash, AppSession, Vec<Row>>,
    /// The cache of the issuers' domains.
    pub tenants: ReadCache<DomainId, Arc<Domain>>,
    /// Rendered discovery documents, with the issuer URLs that they were rendered for.
    pub discovery_documents: ParsedRows<DomainId, PublicDocument, String>,
    /// Rendered JWK Sets, with the IDs of their keys.
    key_sets: ParsedRows<Environment, PublicDocument, Vec<String>>,
    /// The cache of access tokens, by issuer and token.
    pub access_tokens: ReadCache<(DomainId, TokenHash), Arc<ValidToken>>,
    /// Limits the log lines of each kind of proxy fault.
    pub forward_faults: LogLimiter<FORWARD_FAULTS>,
}

/// The state of the routes below the issuers of an environment.
#[derive(Clone, Debug)]
pub(crate) struct IssuerState {
    pub(crate) service: OpenidService,
    pub(crate) environment: Environment,
}

impl Deref for OpenidService {
    type Target = OpenidParts;

    fn deref(&self) -> &OpenidParts {
        &self.0
    }
}

impl Deref for OpenidParts {
    type Target = LoginService;

    fn deref(&self) -> &LoginService {
        &self.login
    }
}

impl OpenidService {
    /// Creates the service.
    #[must_use]
    pub fn new(login: LoginService) -> Self {
        Self(Arc::new(OpenidParts {
            login,
            key_rings: KeyRingCache::default(),
            key_generation: Mutex::default(),
            missing_key_logged: Once::new(),
            app_sessions: ReadCache::new(|session| session.facts.size()),
            // The rows are about as large as the session.
            parsed_app_sessions: ParsedRows::new(|session: &AppSession| 2 * session.facts.size()),
            // A domain consists mainly of a name and a few URLs.
            tenants: ReadCache::new(|_| 2048),
            // This is about twice the length of a document.
            discovery_documents: ParsedRows::new(|_| 4096),
            key_sets: ParsedRows::new(|_| 4096),
            access_tokens: ReadCache::new(|token| token.facts.size()),
            forward_faults: LogLimiter::default(),
        }))
    }

    /// Signs claims with the current key. `typ` is the type of the token (`JWT`, `at+jwt`). Generates the first key if
    /// there is none.
    ///
    /// # Errors
    /// Returns [`RsaUnsupported`] if there is no key and none can be generated, or an error if the
    /// database cannot be read.
    pub async fn sign_token(
        &self,
        environment: Environment,
        algorithm: SigningAlgorithm,
        claims: &impl Serialize,
        typ: &str,
    ) -> Result<String> {
        let ring = self.find_ring_with(environment, algorithm).await?;
        let signer = ring.find_signer(algorithm, self.clock.now());
        jws::sign(signer.context("the key that should sign was erased")?, typ, claims)
    }

    /// Returns the claims of a token that was signed by this deployment, expired tokens and retired keys included.
    /// `None` for any other text. The caller must compare `iss`, because all issuers of an environment share its keys,
    /// and `exp` if it matters.
    ///
    /// # Errors
    /// Returns an error if the database cannot be read.
    pub async fn verify_own_token(&self, environment: Environment, token: &str) -> Result<Option<Value>> {
        let Some(token) = jws::parse(token) else { return Ok(None) };
        let ring = self.find_ring(environment).await?;
        if let Some(key) = ring.find(&token.kid) {
            return Ok(token.verify(key));
        }
        // Another server may have generated the key a moment ago.
        self.key_rings.invalidate(environment);
        let ring = self.find_ring(environment).await?;
        Ok(ring.find(&token.kid).and_then(|key| token.verify(key)))
    }

    /// Returns the JWK Set of an environment, rendered again if its keys have changed. Generates the first keys if
    /// there are none, so that no relying party caches an empty set.
    ///
    /// # Errors
    /// Returns an error if the database cannot be read.
    pub async fn find_key_set(&self, environment: Environment) -> Result<Arc<PublicDocument>> {
        for algorithm in SigningAlgorithm::ALL {
            match self.find_ring_with(environment, algorithm).await {
                Err(error) if error.is::<RsaUnsupported>() => self.missing_key_logged.call_once(|| {
                    tracing::error!(%algorithm, error = format!("{error:#}"), "no key signs ID tokens");
                }),
                found => drop(found?),
            }
        }
        let ring = self.find_ring(environment).await?;
        let now = self.clock.now();
        self.key_sets.parse(&environment, ring.published_names(now), |_| {
            Ok(PublicDocument::new("application/json", &json!({ "keys": ring.published(now) })))
        })
    }

    /// Returns the keys of an environment, with at least one key of this algorithm.
    async fn find_ring_with(&self, environment: Environment, algorithm: SigningAlgorithm) -> Result<Arc<KeyRing>> {
        let ring = self.find_ring(environment).await?;
        if ring.has(algorithm) {
            return Ok(ring);
        }
        let _guard = self.key_generation.lock().await;
        // Another task or server may have generated a key. If another server generates a key
        // concurrently, that key is used.
        let existing = sql::list_all(&self.store).await?;
        if !existing.iter().any(|key| key.environment == environment && key.algorithm == algorithm) {
            let new_key = NewSigningKey { environment, algorithm, activation: Activation::Announced, pkcs8: None };
            create_key(&self.store, &self.seal, new_key, &existing, &Actor::Server, self.clock.now()).await?;
        }
        self.key_rings.invalidate(environment);
        self.find_ring(environment).await
    }

    async fn find_ring(&self, environment: Environment) -> Result<Arc<KeyRing>> {
        let read = sql::list(&self.store, environment);
        self.key_rings.find(environment, self.clock.elapsed(), &self.seal, read).await
    }
}
