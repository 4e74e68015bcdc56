//! The system domain (docs/operate.md, The server's own domain).

use serde_json::json;
use signpost_auth::Mode;
use signpost_login::domains::{Domain, HandlerKind, sql, system_domain};
use signpost_login::ids::SessionId;
use signpost_login::sessions::{
    self, Accepted, AnswerRefusal, Flow, NewSession, Session, SessionEntropy, SessionOptions,
};
use signpost_platform::accounts::audit::Actor;
use signpost_platform::accounts::keys::{self, NewKey};
use signpost_platform::accounts::{Account, Environment};
use signpost_store::random;

use crate::harness::{Integrator, Phone, Program, Service};

async fn find_system_domain(service: &Service) -> Domain {
    let name = system_domain::name(service.app.public_url.as_ref());
    sql::find_by_name(&service.app.store, &system_domain::account(), &name)
        .await
        .expect("a database")
        .expect("the domain")
}

#[tokio::test]
async fn system_domain_persists_across_starts() {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Service::clock();
    let mut known = Vec::new();
    for public_url in ["", "", "https://Login.test:8443", "https://login.test:8443", ""] {
        let service = Service::on(folder.path(), &clock, &[("public_url", public_url)]).await;
        let domain = find_system_domain(&service).await;
        assert_eq!((domain.account.environment, domain.handler), (Environment::Live, HandlerKind::Hosted));
        known.push((domain.name.to_string(), domain.id.to_string()));
        service.stop().await;
    }
    let names: Vec<_> = known.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["localhost", "localhost", "login.test", "login.test", "localhost"]);
    assert!(known[0] == known[1] && known[1] == known[4] && known[2] == known[3], "{known:?}");
}

#[tokio::test]
async fn system_domain_is_hidden_and_has_no_keys() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::on(&folder.path().join("signpost-data"), &Service::clock(), &[]).await;
    let own = find_system_domain(&service).await;
    let live = service.integrator_of("acme", Environment::Live).await;
    assert_eq!(live.get("/domains").await.with(200), json!({ "domains": [] }));
    live.get(&format!("/domains/{}", own.id)).await.assert_error(404, "domain_not_found");
    let list = Program::within(folder.path(), &["domains", "list", "--json"]).run_async().await.json();
    assert_eq!(list, json!({ "domains": [] }));
    for command in [
        &["keys", "create", "--environment", "live", "--name", "k", "--account", "server"][..],
        &["domains", "add", "shop.test", "--account", " server "],
    ] {
        let ended = Program::within(folder.path(), command).run();
        let response = ended.failed(2);
        assert!(response.contains("server's own account"), "{response}");
    }
    // A key that is older than the reserved name.
    let key = NewKey::new(Environment::Live, random(), random());
    let account = Account { name: "server".to_owned(), environment: Environment::Live };
    keys::sql::insert(&service.app.store, &Actor::Operator, &account, "old", &key, service.clock.now())
        .await
        .expect("a stored key");
    let old = Integrator { key: Some(secrecy::ExposeSecret::expose_secret(&key.key).to_owned()), ..live };
    old.get("/domains").await.assert_error(401, "invalid_api_key");
}

#[tokio::test]
async fn system_domain_logins_send_no_events() {
    let service = Service::start().await;
    let (domain, now) = (find_system_domain(&service).await, service.clock.now());
    let phone = Phone::of(1, &service.clock);
    let new = NewSession {
        mode: Mode::Login,
        webhook_url: domain.webhook_url.clone(),
        hosted_url: None,
        metadata: None,
        confirm_code: None,
        options: SessionOptions { flow: Flow::CrossDevice, ..SessionOptions::default() },
        page: None,
        link: None,
    };
    let ttl = std::time::Duration::from_mins(5);
    let session = Session::open(&domain, new, ttl, now, SessionEntropy { id: [1; 16], nonce: [2; 16] });
    sessions::sql::insert(&service.app.store, session.clone(), None, None).await.expect("a session");
    let answer = phone.wallet.answer(&session.challenge, now.as_second(), None);
    let key = session.verify(&answer, now).expect("a valid answer");
    // The key is not accepted in another session with an equal challenge.
    let other = Session { id: SessionId::new(now, [9; 16]), ..session.clone() };
    assert!(matches!(other.accept(key.clone(), now, [3; 16]), Err(AnswerRefusal::UnknownChallenge)));
    let mut other = session.clone();
    other.account.environment = Environment::Sandbox;
    assert!(matches!(other.accept(key.clone(), now, [3; 16]), Err(AnswerRefusal::UnknownChallenge)));
    let Ok(Accepted::Login(login)) = session.clone().accept(key, now, [3; 16]) else { panic!("no login") };
    sessions::sql::store_login(&service.app.store, &login, None, None, Vec::new()).await.expect("a login");
    assert!(service.outbox().await.is_empty());
    let found =
        sessions::sql::find(&service.app.store, &system_domain::account(), &session.id).await.expect("a database");
    assert!(found.is_some_and(|session| session.is_answered()));
}
