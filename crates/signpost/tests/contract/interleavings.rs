//! Property test: for any interleaving of answers and refreshes of a session, the store matches a small model.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use signpost::server::schema::SCHEMA;
use signpost_auth::{Mode, Wallet, WebhookSecret};
use signpost_login::domains::seal::Seal;
use signpost_login::domains::{self, Domain};
use signpost_login::sessions::{self, Accepted, NewSession, Session, SessionOptions, SessionState};
use signpost_platform::accounts::audit::Actor;
use signpost_platform::accounts::{Account, Environment};
use signpost_platform::outbound::EgressPolicy;
use signpost_store::{Store, random};

use crate::harness::is_session_written;

const ACTORS: usize = 3;
const TTL: Duration = Duration::from_mins(5);

/// The next step of an actor. Other actors may take steps between its read and its write.
#[derive(Clone, Copy, Debug)]
enum Action {
    Look(usize),
    Refresh(usize),
    Answer(usize),
    Wait(i64),
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let action = prop_oneof![
        (0..ACTORS).prop_map(Action::Look),
        (0..ACTORS).prop_map(Action::Look),
        (0..ACTORS).prop_map(Action::Refresh),
        (0..ACTORS).prop_map(Action::Answer),
        (0_i64..200).prop_map(Action::Wait),
    ];
    prop::collection::vec(action, 1..24)
}

/// The expected state of the session: challenge, expiry, and whether it was answered.
#[derive(Debug, PartialEq)]
struct ExpectedState {
    challenge: String,
    expires_at: Timestamp,
    is_answered: bool,
}

struct System {
    store: Store,
    now: Timestamp,
    wallet: Wallet,
    domain: Domain,
    /// The session as last read by each actor.
    seen: [Session; ACTORS],
    expected: ExpectedState,
}

/// Registers the domain `shop.test` in the database.
pub(crate) async fn register_domain(store: &Store, handler: domains::HandlerKind, now: Timestamp) -> Domain {
    let account = Account { name: "acme".to_owned(), environment: Environment::Live };
    let new = domains::NewDomain {
        domain: "shop.test".to_owned(),
        webhook_url: "https://shop.test/".to_owned(),
        event_url: None,
        handler,
        events: None,
    };
    let secret = WebhookSecret::from_bytes(&[1; 32]);
    let random = domains::DomainEntropy { id: [1; 16], token: [2; 20], secret };
    let registered = domains::register(&new, account, EgressPolicy::Public, now, random).expect("a domain");
    let kept = domains::sql::insert(store, &Seal::default(), &registered, &Actor::Operator).await;
    kept.expect("a new domain");
    registered.domain
}

impl System {
    async fn new() -> Self {
        let store = Store::open("sqlite::memory:", &SCHEMA).expect("a database");
        let now = Timestamp::from_second(1_800_000_000).expect("a time");
        let domain = register_domain(&store, domains::HandlerKind::Direct, now).await;
        let random = sessions::SessionEntropy { id: [3; 16], nonce: [4; 16] };
        let new = NewSession {
            mode: Mode::Login,
            webhook_url: domain.webhook_url.clone(),
            hosted_url: None,
            metadata: None,
            confirm_code: None,
            options: SessionOptions::default(),
            page: None,
            link: None,
        };
        let session = Session::open(&domain, new, TTL, now, random);
        sessions::sql::insert(&store, session.clone(), None, None).await.expect("a database");
        let wallet = Wallet::from_bytes([7; 32]).expect("a key");
        let expected = expected(&session);
        Self { store, now, wallet, domain, seen: [session.clone(), session.clone(), session], expected }
    }

    async fn look(&self) -> Session {
        let found = sessions::sql::find(&self.store, &self.domain.account, &self.seen[0].id).await;
        found.expect("a database").expect("a session")
    }

    /// Checks that the challenge read by an actor is current and unanswered.
    fn is_up_to_date(&self, actor: usize) -> bool {
        !self.expected.is_answered && self.seen[actor].challenge.to_string() == self.expected.challenge
    }

    async fn apply(&mut self, action: Action) {
        match action {
            Action::Wait(seconds) => self.now += SignedDuration::from_secs(seconds),
            Action::Look(actor) => self.seen[actor] = self.look().await,
            Action::Refresh(actor) => {
                let old = self.seen[actor].clone();
                let Ok(new) = old.clone().refresh(TTL, self.now, random()) else { return };
                let took = is_session_written(sessions::sql::refresh(&self.store, &new, &old.challenge).await);
                assert_eq!(took, self.is_up_to_date(actor), "a refresh with the state read at {:?}", self.expected);
                if took {
                    self.expected = expected(&new);
                }
            }
            Action::Answer(actor) => {
                let old = self.seen[actor].clone();
                let answer = self.wallet.answer(&old.challenge, self.now.as_second(), None);
                let Ok(key) = old.verify(&answer, self.now) else { return };
                let Ok(Accepted::Login(login)) = old.accept(key, self.now, random()) else { return };
                let url = &self.domain.webhook_url;
                let stored = sessions::sql::store_login(&self.store, &login, Some(url), None, Vec::new()).await;
                let took = is_session_written(stored);
                assert_eq!(took, self.is_up_to_date(actor), "an answer with the state read at {:?}", self.expected);
                if took {
                    self.expected = expected(&login.session);
                }
            }
        }
        assert_eq!(expected(&self.look().await), self.expected);
        let events = self.store.read("SELECT 1 FROM deliveries", Vec::new()).await.expect("a database");
        assert_eq!(events.len(), usize::from(self.expected.is_answered));
    }
}

fn expected(session: &Session) -> ExpectedState {
    let is_answered = matches!(session.state, SessionState::Authenticated { .. });
    ExpectedState { challenge: session.challenge.to_string(), expires_at: session.expires_at, is_answered }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn writes_require_an_unchanged_session(actions in actions()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let mut system = System::new().await;
            for action in actions {
                system.apply(action).await;
            }
        });
    }
}
