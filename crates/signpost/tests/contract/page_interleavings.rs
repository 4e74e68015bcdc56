//! However what happens to one page interleaves, the store and a model of four states agree: nothing takes effect but on
//! what was seen, and there is one event or none.

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
/// The hash of it.
const HASH: &str = "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0";

/// What one of several requests does next; between its look and its deed the others may do anything.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Look(usize),
    Renew(usize),
    Switch(usize),
    Answer(usize),
    /// With the secret of the browser that began the login, or with another one.
    Complete(usize, bool),
    Cancel(usize),
    Wait(i64),
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let deed = prop_oneof![
        6 => (0..ACTORS).prop_map(Deed::Look),
        2 => (0..ACTORS).prop_map(Deed::Renew),
        1 => (0..ACTORS).prop_map(Deed::Switch),
        3 => (0..ACTORS).prop_map(Deed::Answer),
        3 => ((0..ACTORS), any::<bool>()).prop_map(|(actor, is_own)| Deed::Complete(actor, is_own)),
        1 => (0..ACTORS).prop_map(Deed::Cancel),
        2 => (0_i64..70).prop_map(Deed::Wait),
    ];
    prop::collection::vec(deed, 1..32)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stands {
    Waiting,
    Answered,
    Done,
    Cancelled,
}

#[derive(Debug, PartialEq)]
struct Truth {
    challenge: String,
    expires_at: Timestamp,
    stands: Stands,
}

struct World {
    store: Store,
    now: Timestamp,
    wallet: Wallet,
    domain: Domain,
    code: String,
    /// What each actor saw when it last looked.
    seen: [Session; ACTORS],
    truth: Truth,
}

impl World {
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
            page: Some(PageTerms { mode: Mode::Login, confirm: false, purpose: PagePurpose::Site, application: None }),
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
        let (truth, code) = (truth(&session), code.reveal().to_owned());
        let mut world =
            Self { store, now, wallet, domain, code, seen: [session.clone(), session.clone(), session], truth };
        world.seen = [world.look().await, world.look().await, world.look().await];
        world
    }

    async fn look(&self) -> Session {
        let found = sessions::sql::find(&self.store, &self.domain.account, &self.seen[0].id).await;
        found.expect("a database").expect("a session")
    }

    /// Whether what an actor saw is still so, as far as a new code or an answer depends on it.
    fn is_up_to_date(&self, actor: usize) -> bool {
        self.truth.stands == Stands::Waiting && self.seen[actor].challenge.to_string() == self.truth.challenge
    }

    async fn happens(&mut self, deed: Deed) {
        match deed {
            Deed::Wait(seconds) => self.now += SignedDuration::from_secs(seconds),
            Deed::Look(actor) => self.seen[actor] = self.look().await,
            Deed::Renew(actor) => {
                let new = self.seen[actor].clone().renew(Renewal::ByHand, TTL, self.now, random());
                self.shows(actor, new).await;
            }
            Deed::Switch(actor) => {
                let random = SwitchEntropy { nonce: random(), number: random() };
                let new = self.seen[actor].clone().switch(Mode::Register, hosted_url(), None, TTL, self.now, random);
                self.shows(actor, new).await;
            }
            Deed::Answer(actor) => self.answers(actor).await,
            Deed::Complete(actor, is_own) => self.completes(actor, is_own).await,
            Deed::Cancel(actor) => {
                if self.seen[actor].check_pending(self.now).is_ok() {
                    self.cancels().await;
                }
            }
        }
        assert_eq!(truth(&self.look().await), self.truth, "{deed:?}");
        let events = self.store.read("SELECT 1 FROM deliveries", Vec::new()).await.expect("a database");
        assert_eq!(events.len(), usize::from(self.truth.stands == Stands::Done));
    }

    async fn shows(&mut self, actor: usize, new: Result<Session, AnswerRefusal>) {
        let Ok(new) = new else { return };
        let took = is_session_written(sessions::sql::refresh(&self.store, &new, &self.seen[actor].challenge).await);
        assert_eq!(took, self.is_up_to_date(actor), "a new code by what was seen of {:?}", self.truth);
        if took {
            self.truth = truth(&new);
        }
    }

    async fn answers(&mut self, actor: usize) {
        let old = self.seen[actor].clone();
        let (code, number) = (old.qr_data().expect("a code"), old.confirm_code.as_ref().map(ConfirmCode::reveal));
        let answer = self.wallet.answer_code(&code, number, self.now.as_second(), None);
        let Ok(key) = old.verify(&answer, self.now) else { return };
        assert!(old.is_confirmed_by(&answer));
        let Ok(Accepted::AnsweredOnPage(new)) = old.clone().accept(key, self.now, random()) else {
            panic!("what was verified just now is accepted")
        };
        let took = is_session_written(page_sql::store_answer(&self.store, &new, None).await);
        assert_eq!(took, self.is_up_to_date(actor), "an answer by what was seen of {:?}", self.truth);
        if took {
            self.truth = truth(&new);
        }
    }

    async fn completes(&mut self, actor: usize, is_own: bool) {
        let secret = if is_own { SECRET } else { "another" };
        let old = self.seen[actor].clone();
        match old.complete(&self.code, Some(secret), self.now, random()) {
            Ok(login) => {
                assert!(is_own);
                let url = self.domain.webhook_url.clone();
                let stored = sessions::sql::store_login(&self.store, &login, Some(&url), None, Vec::new()).await;
                let took = is_session_written(stored);
                assert_eq!(took, self.truth.stands == Stands::Answered, "{:?}", self.truth);
                if took {
                    self.truth = truth(&login.session);
                }
            }
            Err(AnswerRefusal::Browser) => {
                assert!(!is_own);
                self.cancels().await;
            }
            Err(_) => {}
        }
    }

    async fn cancels(&mut self) {
        let took = is_session_written(sessions::sql::cancel(&self.store, &self.seen[0], self.now).await);
        let is_open = matches!(self.truth.stands, Stands::Waiting | Stands::Answered);
        assert_eq!(took, is_open, "{:?}", self.truth);
        if took {
            self.truth.stands = Stands::Cancelled;
        }
    }
}

fn hosted_url() -> url::Url {
    "https://login.test/v1/hosted/login".parse().expect("a URL")
}

fn truth(session: &Session) -> Truth {
    let stands = match session.state {
        SessionState::Pending => Stands::Waiting,
        SessionState::Answered { .. } => panic!("on a page there is no code for wallets"),
        SessionState::AnsweredOnPage { .. } => Stands::Answered,
        SessionState::Authenticated { .. } => Stands::Done,
        SessionState::Cancelled { .. } => Stands::Cancelled,
    };
    Truth { challenge: session.challenge.to_string(), expires_at: session.expires_at, stands }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_happens_to_a_page_takes_effect_only_on_what_was_seen(deeds in deeds()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let mut world = World::new().await;
            for deed in deeds {
                world.happens(deed).await;
            }
        });
    }
}
