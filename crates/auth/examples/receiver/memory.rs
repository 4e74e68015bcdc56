//! Stores the sessions, users and events of the example in memory.

use std::collections::{HashMap, VecDeque};
use std::error::Error;
use std::sync::{Mutex, MutexGuard, PoisonError};

use data_encoding::BASE64URL_NOPAD;
use signpost_auth::client::{Metadata, NewSession, Signpost, SignpostError};
use signpost_auth::receiver::{CodeBinding, HandlerRefusal, Host, LoggedIn, ShownCode, Site, SiteOrigin};
use signpost_auth::{Answer, Challenge, DomainName, Event, Mode, PublicKey, QrData, VerificationError, VerifiedAnswer};

/// Maximum number of codes, of logins and of events. The oldest entry is evicted first.
const MAX_ENTRIES: usize = 10_000;
/// Lifetime of a login, in seconds.
const LOGIN_MAX_AGE_SECS: u32 = 24 * 60 * 60;
/// Lifetime of the cookie of a code in seconds, longer than the period in which a code can be
/// refreshed.
const CODE_MAX_AGE_SECS: u32 = 30 * 60;

/// The storage of the application. A real application would use its database.
pub(crate) struct Memory {
    signpost: Signpost,
    domain: DomainName,
    origin: SiteOrigin,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    codes: BoundedMap<Code>,
    users: BoundedMap<PublicKey>,
    logins: BoundedMap<PublicKey>,
    events: BoundedMap<()>,
}

/// A session of the service, with the code that a browser displays.
#[derive(Clone)]
struct Code {
    challenge: Challenge,
    expires_at: i64,
    binding: [u8; 32],
    return_url: String,
    answered_by: Option<PublicKey>,
    completed: bool,
}

/// A code to display in a browser.
pub(crate) struct Shown {
    pub(crate) sid: String,
    pub(crate) qr: QrData,
    pub(crate) set_cookie: String,
}

impl Memory {
    pub(crate) fn new(signpost: Signpost, domain: DomainName, origin: SiteOrigin) -> Self {
        Self { signpost, domain, origin, state: Mutex::default() }
    }

    pub(crate) fn domain(&self) -> &DomainName {
        &self.domain
    }

    /// Creates a session at the service, and binds its code to the browser by a cookie.
    pub(crate) async fn open(&self, mode: Mode, return_url: String) -> Result<Shown, Box<dyn Error + Send + Sync>> {
        let new = NewSession {
            mode: Some(mode),
            webhook_url: Some(format!("{}/webhooks/{mode}", self.origin)),
            metadata: Some(Metadata::returning_to(&return_url)),
            ..NewSession::on(self.domain.as_str())
        };
        let session = self.signpost.sessions().create(&new).await?;
        println!("{mode} {} opened", session.id);
        let qr = QrData::parse(&session.qr_data)?;
        let code = Code {
            challenge: qr.challenge().clone(),
            expires_at: qr.expires_at(),
            binding: random(),
            return_url,
            answered_by: None,
            completed: false,
        };
        let set_cookie = CodeBinding::from_bytes(code.binding).set_cookie(&session.id, &self.origin, CODE_MAX_AGE_SECS);
        self.state().codes.insert(session.id.clone(), code);
        Ok(Shown { sid: session.id, qr, set_cookie })
    }

    /// Replaces an expired code at the service. The cookie of the browser stays valid.
    pub(crate) async fn refresh(&self, sid: &str) -> Result<QrData, Box<dyn Error + Send + Sync>> {
        let qr = QrData::parse(&self.signpost.sessions().refresh(sid).await?.qr_data)?;
        println!("{} {sid} refreshed", qr.challenge().mode);
        if let Some(code) = self.state().codes.get_mut(sid) {
            code.challenge = qr.challenge().clone();
            code.expires_at = qr.expires_at();
        }
        Ok(qr)
    }

    /// Returns the user of the login cookie, if any.
    pub(crate) fn logged_in(&self, cookies: &str) -> Option<PublicKey> {
        let login = self.origin.cookie("login", cookies)?;
        self.state().logins.get_mut(login).cloned()
    }

    /// Ends a login. Returns the cookie header that deletes its cookie.
    pub(crate) fn log_out(&self, cookies: &str) -> String {
        if let Some(login) = self.origin.cookie("login", cookies) {
            self.state().logins.remove(login);
        }
        self.origin.set_cookie("login", "", 0)
    }

    /// Marks the session as answered, first at the service, which accepts only one of several
    /// concurrent answers.
    async fn mark(&self, sid: &str, key: &PublicKey, answer: &Answer) -> Result<LoggedIn, HandlerRefusal> {
        if let Err(error) = self.signpost.sessions().authenticate(sid, answer).await {
            println!("{sid} not authenticated: {error}");
            return Err(refusal(&error));
        }
        let mut state = self.state();
        state.users.insert(key.canonical(), key.clone());
        if let Some(code) = state.codes.get_mut(sid) {
            code.answered_by = Some(key.clone());
        }
        println!("{sid} authenticated by {}", key.canonical());
        Ok(LoggedIn::default())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Host for Memory {
    type Session = String;
    type User = PublicKey;

    async fn find_session(&self, challenge: &Challenge, now: i64) -> Result<Option<String>, HandlerRefusal> {
        let waits = |code: &Code| code.challenge == *challenge && now < code.expires_at && code.answered_by.is_none();
        Ok(self.state().codes.find(waits))
    }

    async fn find_user(&self, _: &String, key: &PublicKey) -> Result<Option<PublicKey>, HandlerRefusal> {
        Ok(self.state().users.get_mut(&key.canonical()).cloned())
    }

    async fn log_in(&self, sid: String, user: PublicKey, answer: &VerifiedAnswer) -> Result<LoggedIn, HandlerRefusal> {
        self.mark(&sid, &user, answer.answer()).await
    }

    /// Registers the user of an answer. Of two concurrent registrations with a key, the second
    /// finds the existing user.
    async fn register(&self, sid: String, answer: &VerifiedAnswer) -> Result<LoggedIn, HandlerRefusal> {
        self.mark(&sid, answer.key(), answer.answer()).await
    }
}

impl Site for Memory {
    async fn find_code(&self, sid: &str) -> Result<Option<ShownCode>, HandlerRefusal> {
        Ok(self.state().codes.get_mut(sid).map(|code| ShownCode {
            binding: CodeBinding::from_bytes(code.binding),
            authenticated: code.answered_by.is_some(),
            return_url: Some(code.return_url.clone()),
        }))
    }

    async fn complete_login(&self, sid: &str) -> Result<Option<String>, HandlerRefusal> {
        let mut state = self.state();
        let Some(code) = state.codes.get_mut(sid).filter(|code| !code.completed) else { return Ok(None) };
        let Some(user) = code.answered_by.clone() else { return Ok(None) };
        code.completed = true;
        println!("{sid} logged in {}", user.canonical());
        let login = BASE64URL_NOPAD.encode(&random());
        state.logins.insert(login.clone(), user);
        Ok(Some(self.origin.set_cookie("login", &login, LOGIN_MAX_AGE_SECS)))
    }

    async fn accept_event(&self, event: Event) -> Result<bool, HandlerRefusal> {
        let new = self.state().events.insert(event.identity(), ());
        let again = if new { "" } else { " again" };
        println!("event {} {} {}{again}", event.identity(), event.event, event.session_id);
        Ok(new)
    }
}

/// Returns the response to the wallet when the service rejects its answer.
fn refusal(error: &SignpostError) -> HandlerRefusal {
    match error.status {
        Some(404 | 409 | 410) => HandlerRefusal::NoPendingSession,
        Some(406) => HandlerRefusal::NotVerified(VerificationError::Mismatch),
        Some(408) => HandlerRefusal::StaleTimestamp,
        Some(429) => {
            HandlerRefusal::RateLimited { retry_after: error.retry_after.unwrap_or(1).max(1), headers: Vec::new() }
        }
        _ => HandlerRefusal::Internal,
    }
}

/// A map that evicts its oldest entry when it is full.
struct BoundedMap<T> {
    entries: HashMap<String, T>,
    order: VecDeque<String>,
}

impl<T> Default for BoundedMap<T> {
    fn default() -> Self {
        Self { entries: HashMap::new(), order: VecDeque::new() }
    }
}

impl<T> BoundedMap<T> {
    /// Inserts a value. Returns `false`, without a change, if the key exists.
    fn insert(&mut self, key: String, value: T) -> bool {
        if self.entries.contains_key(&key) {
            return false;
        }
        if self.order.len() >= MAX_ENTRIES
            && let Some(oldest) = self.order.pop_front()
        {
            self.entries.remove(&oldest);
        }
        self.order.push_back(key.clone());
        self.entries.insert(key, value);
        true
    }

    fn get_mut(&mut self, key: &str) -> Option<&mut T> {
        self.entries.get_mut(key)
    }

    fn find(&self, wanted: impl Fn(&T) -> bool) -> Option<String> {
        self.entries.iter().find(|(_, value)| wanted(value)).map(|(key, _)| key.clone())
    }

    fn remove(&mut self, key: &str) {
        self.entries.remove(key);
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the edge: the library takes random bytes from here")]
fn random() -> [u8; 32] {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    bytes
}
