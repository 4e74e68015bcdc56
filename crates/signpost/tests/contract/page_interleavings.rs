//! A model of four states agrees with the store for all interleavings of requests on a page: writes apply only to the
//! read state, and at most one event results.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use signpost::server::schema::SCHEMA;
use signpost_auth::{Mode, Wallet};
use signpost_login::domains::{Domain, HandlerKind};
use signpost_login::sessions::{
    self, Accepted, AnswerRefusal, BrowserHash, ConfirmCode, Flow, NewSession, PageOwner, PagePurpose, PageTerms,
    Renewal, Session, SessionOptions, SessionState, SwitchEntropy, page_sql,
};
use signpost_platform::pages::cookie::CookieSecret;
use signpost_store::{Store, random};

use crate::harness::is_session_written;
use crate::interleavings::register_domain;

const ACTORS: usize = 3;
const TTL: Duration = Duration::from_mins(5);
const SECRET: &str = "abc";
/// The hash of [`SECRET`].
const HASH: &str = "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0";

/// The next step of a request; other requests may run between its read and its write.
#[derive(Clone, Copy, Debug)]
enum Action {
    Read(usize),
    Renew(usize),
    Switch(usize),
    Answer(usize),
    /// True with the secret of the browser that began the login, false with another secret.
    Complete(usize, bool),
    Cancel(usize),
    Wait(i64),
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let action = prop_oneof![
        6 => (0..ACTORS).prop_map(Action::Read),
        2 => (0..ACTORS).prop_map(Action::Renew),
        1 => (0..ACTORS).prop_map(Action::Switch),
        3 => (0..ACTORS).prop_map(Action::Answer),
        3 => ((0..ACTORS), any::<bool>()).prop_map(|(actor, is_own)| Action::Complete(actor, is_own)),
        1 => (0..ACTORS).prop_map(Action::Cancel),
        2 => (0_i64..70).prop_map(Action::Wait),
    ];
    prop::collection::vec(action, 1..32)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Status {
    Waiting,
    Answered,
    Done,
    Cancelled,
}

#[derive(Debug, PartialEq)]
struct ExpectedState {
    challenge: String,
    expires_at: Timestamp,
    status: Status,
}

struct System {
    store: Store,
    now: Timestamp,
    wallet: Wallet,
    domain: Domain,
    code: String,
    /// The session that each actor last read.
    seen: [Session; ACTORS],
    expected: ExpectedState,
}

impl System {
    async fn new() -> Self {
        let store = Store::open("sqlite::memory:", &SCHEMA).expect("a database");
        let now = Timestamp::from_second(1_800_000_000).expect("a time");
        let domain = register_domain(&store, HandlerKind::Hosted, now).await;
        let options = SessionOptions { flow: Flow::Page, browser_hash: BrowserHash::parse(HASH), ..<_>::default() };
        let new = NewSession {
            mode: Mode::Login,
            webhook_url: domain.webhook_url.clone(),
            hosted_url: Some(hosted_url()),
            metadata: None,
            confirm_code: Some(ConfirmCode::new([1; 8])),
            options,
            page: Some(PageTerms {
                mode: Mode::Login,
                confirm: false,
                purpose: PagePurpose::Site,
                application: None,
                user: None,
                first_key: false,
            }),
            link: None,
        };
        let random = sessions::SessionEntropy { id: [3; 16], nonce: [4; 16] };
        let session = Session::open(&domain, new, TTL, now, random);
        sessions::sql::insert(&store, session.clone(), None, None).await.expect("a database");
        let cookie = CookieSecret::from_bytes([5; 32]);
        let code = Session::page_code_for(&cookie, &session.id);
        let owner = PageOwner { cookie: cookie.hash(), code: code.hash() };
        page_sql::claim(&store, &session, &owner).await.expect("a page without an owner");
        let wallet = Wallet::from_bytes([7; 32]).expect("a key");
        let (expected, code) = (expected(&session), code.reveal().to_owned());
        let mut system =
            Self { store, now, wallet, domain, code, seen: [session.clone(), session.clone(), session], expected };
        system.seen = [system.read().await, system.read().await, system.read().await];
        system
    }

    async fn read(&self) -> Session {
        let found = sessions::sql::find(&self.store, &self.domain.account, &self.seen[0].id).await;
        found.expect("a database").expect("a session")
    }

    /// Returns true if the challenge that an actor read is current and pending.
    fn is_up_to_date(&self, actor: usize) -> bool {
        self.expected.status == Status::Waiting && self.seen[actor].challenge.to_string() == self.expected.challenge
    }

    async fn apply(&mut self, action: Action) {
        match action {
            Action::Wait(seconds) => self.now += SignedDuration::from_secs(seconds),
            Action::Read(actor) => self.seen[actor] = self.read().await,
            Action::Renew(actor) => {
                let new = self.seen[actor].clone().renew(Renewal::ByHand, TTL, self.now, random());
                self.refresh_page(actor, new).await;
            }
            Action::Switch(actor) => {
                let random = SwitchEntropy { nonce: random(), number: random() };
                let new = self.seen[actor].clone().switch(Mode::Register, hosted_url(), None, TTL, self.now, random);
                self.refresh_page(actor, new).await;
            }
            Action::Answer(actor) => self.post_answer(actor).await,
            Action::Complete(actor, is_own) => self.complete_login(actor, is_own).await,
            Action::Cancel(actor) => {
                if self.seen[actor].check_pending(self.now).is_ok() {
                    self.cancel_login().await;
                }
            }
        }
        assert_eq!(expected(&self.read().await), self.expected, "{action:?}");
        let events = self.store.read("SELECT 1 FROM deliveries", Vec::new()).await.expect("a database");
        assert_eq!(events.len(), usize::from(self.expected.status == Status::Done));
    }

    async fn refresh_page(&mut self, actor: usize, new: Result<Session, AnswerRefusal>) {
        let Ok(new) = new else { return };
        let took = is_session_written(sessions::sql::refresh(&self.store, &new, &self.seen[actor].challenge).await);
        assert_eq!(took, self.is_up_to_date(actor), "a new code with the state read at {:?}", self.expected);
        if took {
            self.expected = expected(&new);
        }
    }

    async fn post_answer(&mut self, actor: usize) {
        let old = self.seen[actor].clone();
        let (code, number) = (old.qr_data().expect("a code"), old.confirm_code.as_ref().map(ConfirmCode::reveal));
        let answer = self.wallet.answer_code(&code, number, self.now.as_second(), None);
        let Ok(key) = old.verify(&answer, self.now) else { return };
        assert!(old.is_confirmed_by(&answer));
        let Ok(Accepted::AnsweredOnPage(new)) = old.clone().accept(key, self.now, random()) else {
            panic!("a verified answer was rejected")
        };
        let took = is_session_written(page_sql::store_answer(&self.store, &new, None).await);
        assert_eq!(took, self.is_up_to_date(actor), "an answer with the state read at {:?}", self.expected);
        if took {
            self.expected = expected(&new);
        }
    }

    async fn complete_login(&mut self, actor: usize, is_own: bool) {
        let secret = if is_own { SECRET } else { "another" };
        let old = self.seen[actor].clone();
        match old.complete(&self.code, Some(secret), self.now, random()) {
            Ok(login) => {
                assert!(is_own);
                let url = self.domain.webhook_url.clone();
                let stored = sessions::sql::store_login(&self.store, &login, Some(&url), None, Vec::new()).await;
                let took = is_session_written(stored);
                assert_eq!(took, self.expected.status == Status::Answered, "{:?}", self.expected);
                if took {
                    self.expected = expected(&login.session);
                }
            }
            Err(AnswerRefusal::Browser) => {
                assert!(!is_own);
                self.cancel_login().await;
            }
            Err(_) => {}
        }
    }

    async fn cancel_login(&mut self) {
        let took = is_session_written(sessions::sql::cancel(&self.store, &self.seen[0], self.now).await);
        let is_open = matches!(self.expected.status, Status::Waiting | Status::Answered);
        assert_eq!(took, is_open, "{:?}", self.expected);
        if took {
            self.expected.status = Status::Cancelled;
        }
    }
}

fn hosted_url() -> url::Url {
    "https://login.test/v1/hosted/login".parse().expect("a URL")
}

fn expected(session: &Session) -> ExpectedState {
    let status = match session.state {
        SessionState::Pending => Status::Waiting,
        SessionState::Answered { .. } => panic!("on a page there is no code for wallets"),
        SessionState::AnsweredOnPage { .. } => Status::Answered,
        SessionState::Authenticated { .. } => Status::Done,
        SessionState::Cancelled { .. } => Status::Cancelled,
    };
    ExpectedState { challenge: session.challenge.to_string(), expires_at: session.expires_at, status }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn writes_apply_only_to_the_read_state(actions in actions()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let mut system = System::new().await;
            for action in actions {
                system.apply(action).await;
            }
        });
    }
}
