//! The service of standard login: what its requests and jobs can reach.

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
use signpost_platform::observe::line_gate::LineGate;
use signpost_platform::pages::cookie::CookieHash;
use signpost_platform::read_rows::ReadRows;
use signpost_platform::web::PublicDocument;
use signpost_store::Row;
use tokio::sync::Mutex;

use crate::grants::{AppSession, BearerHash, TokenStanding};
use crate::jose::{SigningAlgorithm, Unable, jws};
use crate::signing_keys::making::{Beginning, WantedKey, make_key};
use crate::signing_keys::read_rings::ReadRings;
use crate::signing_keys::{KeyRing, sql};

/// How many kinds of mistakes of a proxy are logged apart.
pub const FORWARD_FAULTS: usize = 6;

/// The service of standard login. Cheap to clone; built once, when the server starts.
#[derive(Clone, Debug)]
pub struct OpenidService(Arc<OpenidParts>);

/// The parts of an [`OpenidService`].
#[derive(Debug)]
pub struct OpenidParts {
    /// The login service, whose page logs people in.
    pub login: LoginService,
    /// The signing keys as they were read last.
    rings: ReadRings,
    /// Held by the one who makes the first key, which keeps a core busy.
    making: Mutex<()>,
    /// That no key can be made is said once, however many ask for one.
    unable: Once,
    /// Sessions of applications that need not be read again.
    pub app_sessions: ReadCache<CookieHash, Arc<AppSession>>,
    /// Sessions of applications as they were when they were read last.
    pub read_app_sessions: ReadRows<CookieHash, AppSession, Vec<Row>>,
    /// Realms that need not be read again.
    pub realms: ReadCache<DomainId, Arc<Domain>>,
    /// What issuers say of themselves, as it was put together for their address.
    pub discoveries: ReadRows<DomainId, PublicDocument, String>,
    /// The keys of an environment, as they were put together from those with these names.
    key_sets: ReadRows<Environment, PublicDocument, Vec<String>>,
    /// Access tokens of realms that need not be read again.
    pub access_tokens: ReadCache<(DomainId, BearerHash), Arc<TokenStanding>>,
    /// Which mistakes of a proxy were logged lately.
    pub forward_faults: LineGate<FORWARD_FAULTS>,
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
    /// The service on the login service.
    #[must_use]
    pub fn new(login: LoginService) -> Self {
        Self(Arc::new(OpenidParts {
            login,
            rings: ReadRings::default(),
            making: Mutex::default(),
            unable: Once::new(),
            app_sessions: ReadCache::new(|session| session.facts.size()),
            // The rows take about as much as what they say.
            read_app_sessions: ReadRows::new(|session: &AppSession| 2 * session.facts.size()),
            // A name, and a few addresses.
            realms: ReadCache::new(|_| 2048),
            // About twice as long as it is.
            discoveries: ReadRows::new(|_| 4096),
            key_sets: ReadRows::new(|_| 4096),
            access_tokens: ReadCache::new(|standing| standing.facts.size()),
            forward_faults: LineGate::default(),
        }))
    }

    /// Signs claims with the key of this moment; `typ` says what they are (`JWT`, `at+jwt`). The first key is made here.
    ///
    /// # Errors
    /// [`Unable`] where there is no key and none can be made, or as [`Store::read`](signpost_store::Store::read).
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

    /// The claims of a token that a server of this deployment signed, also where it is over or the key signs no more; `None`
    /// for every other text. Whoever asks compares `iss`, since all realms of an environment share its keys, and `exp`
    /// where that matters.
    ///
    /// # Errors
    /// As [`Store::read`](signpost_store::Store::read).
    pub async fn verify_own_token(&self, environment: Environment, token: &str) -> Result<Option<Value>> {
        let Some(token) = jws::parse(token) else { return Ok(None) };
        let ring = self.find_ring(environment).await?;
        if let Some(key) = ring.find(&token.kid) {
            return Ok(token.verify(key));
        }
        // Another server may have made the key a moment ago.
        self.rings.invalidate(environment);
        let ring = self.find_ring(environment).await?;
        Ok(ring.find(&token.kid).and_then(|key| token.verify(key)))
    }

    /// What relying parties verify with: a JWK Set, put together anew where other keys are in it than before. The first keys
    /// are made here, so that whoever comes before the first login keeps no empty set.
    ///
    /// # Errors
    /// As [`Store::read`](signpost_store::Store::read).
    pub async fn find_key_set(&self, environment: Environment) -> Result<Arc<PublicDocument>> {
        for algorithm in SigningAlgorithm::ALL {
            match self.find_ring_with(environment, algorithm).await {
                Err(error) if error.is::<Unable>() => self.unable.call_once(|| {
                    tracing::error!(%algorithm, error = format!("{error:#}"), "no key signs ID tokens");
                }),
                found => drop(found?),
            }
        }
        let (ring, now) = (self.find_ring(environment).await?, self.clock.now());
        self.key_sets.understand(&environment, ring.published_names(now), |_| {
            Ok(PublicDocument::new("application/json", &json!({ "keys": ring.published(now) })))
        })
    }

    /// The keys of an environment, among them one of this algorithm.
    async fn find_ring_with(&self, environment: Environment, algorithm: SigningAlgorithm) -> Result<Arc<KeyRing>> {
        let ring = self.find_ring(environment).await?;
        if ring.has(algorithm) {
            return Ok(ring);
        }
        let _making = self.making.lock().await;
        // Somebody else may have made it meanwhile, or does while this one is being made: then that one counts.
        let there = sql::list_all(&self.store).await?;
        if !there.iter().any(|key| key.environment == environment && key.algorithm == algorithm) {
            let wanted = WantedKey { environment, algorithm, beginning: Beginning::Announced, pkcs8: None };
            make_key(&self.store, &self.seal, wanted, &there, &Actor::Server, self.clock.now()).await?;
        }
        self.rings.invalidate(environment);
        self.find_ring(environment).await
    }

    async fn find_ring(&self, environment: Environment) -> Result<Arc<KeyRing>> {
        let read = || sql::list(&self.store, environment);
        self.rings.find(environment, self.clock.elapsed(), &self.seal, read).await
    }
}
