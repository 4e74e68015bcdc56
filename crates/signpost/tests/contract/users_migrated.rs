//! Users that were there before they had ids, and those that servers of that version add while both run.

use std::path::Path;

use data_encoding::HEXLOWER;
use k256::elliptic_curve::sec1::ToSec1Point;
use serde_json::{Value, json};
use signpost::server::schema::SCHEMA;
use signpost_auth::PublicKey;
use signpost_login::ids::{CredentialId, DomainId, UserId};
use signpost_login::users::{Credential, HostedUser, sql};
use signpost_platform::accounts::Environment;
use signpost_store::{Schema, Store, params, step};

use crate::harness::{Phone, Service, database, text};
use crate::hosted::{opens, posts};

const DOMAIN: &str = "dom_01kbq8e6me0123456789abcdefghjkmnpqr0";
const OTHER: &str = "dom_01kbq8e6mezyxwvtsrqpnmkjhgfedcba9870";
const CREATED_AT: i64 = 1_799_990_000_123;
const MIGRATIONS_BEFORE: usize = 9;

const INSERT_DOMAIN: &str = "
    INSERT INTO domains (id, account, environment, name, apex, webhook_url, webhook_secret, verification_token, created_at,
                         handler)
    VALUES ($1, 'acme', $2, 'shop.test', 'shop.test', 'http://127.0.0.1:1/hook', 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=', 'svc-verify=x', 1, 'hosted')";

const INSERT_USER: &str =
    "INSERT INTO users (domain_id, public_key, created_at, last_login_at) VALUES ($1, $2, $3, $4)";

/// What a server of the version before sees in a database.
fn as_before(url: &str) -> Store {
    after(MIGRATIONS_BEFORE, url)
}

/// A database as a server sees it that knows so many migrations.
fn after(migrations: usize, url: &str) -> Store {
    let migrations = &SCHEMA.migrations[..migrations];
    let schema = Schema { migrations, tables: &[], single_rows: &[], watched: &[] };
    Store::open(url, Box::leak(Box::new(schema))).expect("a database")
}

/// A database that outlives whoever has it open.
async fn place(folder: &Path) -> String {
    match database().await {
        memory if memory.starts_with("sqlite") => format!("sqlite:{}", folder.join("store.sqlite").display()),
        server => server,
    }
}

async fn write(store: &Store, sql: &'static str, values: Vec<signpost_store::Value>) {
    assert!(store.write([step(sql, values)]).await.expect("a database").is_committed());
}

async fn fill(store: &Store, users: u8) {
    for (domain, environment) in [(DOMAIN, "sandbox"), (OTHER, "live")] {
        write(store, INSERT_DOMAIN, params![domain, environment]).await;
        for somebody in 1..=users {
            let key = Phone::of(somebody, &Service::clock()).public_key();
            let created_at = CREATED_AT + i64::from(somebody / 4);
            let last_login_at = (somebody % 2 == 0).then_some(CREATED_AT + 5000);
            write(store, INSERT_USER, params![domain, key, created_at, last_login_at]).await;
        }
    }
}

async fn list(store: &Store, domain: &str) -> Vec<(HostedUser, Vec<Credential>)> {
    let domain = DomainId::parse(domain).expect("an id");
    sql::list(store, &domain, None, 100).await.expect("users that can be read")
}

fn ids(users: &[(HostedUser, Vec<Credential>)]) -> Vec<(UserId, String, CredentialId, String)> {
    let of = |(user, own): &(HostedUser, Vec<Credential>)| {
        let [credential] = &**own else { panic!("one credential, not {own:?}") };
        let petname = user.petname.as_str().to_owned();
        (user.id.clone(), petname, credential.id.clone(), credential.public_key.clone())
    };
    users.iter().map(of).collect()
}

#[tokio::test]
async fn every_old_user_becomes_one_with_a_wallet_and_keeps_its_id() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = place(folder.path()).await;
    let old = as_before(&url);
    fill(&old, 30).await;
    old.close().await;
    let mut known = Vec::new();
    for _ in 0..3 {
        let store = Store::open(&url, &SCHEMA).expect("a database");
        let (here, there) = (list(&store, DOMAIN).await, list(&store, OTHER).await);
        store.close().await;
        known.push((ids(&here), ids(&there)));
        for (user, credentials) in here.iter().chain(&there) {
            let [credential] = &**credentials else { panic!("one credential") };
            assert!((0..8).contains(&(user.created_at.as_millisecond() - CREATED_AT)));
            assert_eq!((user.id.time(), credential.id.time()), (user.created_at, user.created_at));
            assert_eq!((user.created_at, user.last_login_at), (credential.added_at, credential.last_used_at));
            assert_eq!((credential.kind.as_str(), &*credential.name), ("wallet", "Wallet"));
        }
    }
    known.dedup();
    let [(here, there)] = &*known else { panic!("ids that change") };
    let mut all: Vec<_> =
        here.iter().chain(there).flat_map(|(user, _, own, _)| [user.to_string(), own.to_string()]).collect();
    all.sort();
    all.dedup();
    assert_eq!((here.len(), there.len(), all.len()), (30, 30, 120));
    let mut petnames: Vec<_> = here.iter().map(|(_, petname, ..)| petname).collect();
    petnames.sort();
    petnames.dedup();
    assert_eq!(petnames.len(), 30);
}

/// The same key in its 65 bytes.
fn uncompressed(key: &str) -> String {
    let bytes = HEXLOWER.decode(key.as_bytes()).expect("hex");
    let point = k256::PublicKey::from_sec1_bytes(&bytes).expect("a key");
    HEXLOWER.encode(point.to_sec1_point(false).as_bytes())
}

#[tokio::test]
async fn an_old_user_logs_in_with_either_spelling_of_the_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = place(folder.path()).await;
    let old = as_before(&url);
    fill(&old, 2).await;
    old.close().await;
    let service = Service::open(&[("database_url", &url)], Service::clock()).await;
    let integrator = service.integrator().await;
    let phone = Phone::of(1, &service.clock);
    let users = integrator.get(&format!("/domains/{DOMAIN}/users")).await.with(200);
    let own = |user: &&Value| user["public_key"] == json!(phone.public_key());
    let id = users["users"].as_array().expect("a list").iter().find(own).expect("the user")["id"].clone();
    for spelled in [phone.public_key(), phone.public_key().to_uppercase(), uncompressed(&phone.public_key())] {
        let session = opens(&integrator, "login").await;
        let mut answer = phone.answers(&session);
        answer["public_key"] = json!(spelled);
        posts(&integrator, &session, &answer).await.with(200);
        let seen = integrator.sees(&session).await.with(200);
        assert_eq!((&seen["user"]["id"], &seen["user"]["public_key"]), (&id, &json!(spelled)));
    }
    let again = opens(&integrator, "register").await;
    assert_eq!(posts(&integrator, &again, &phone.answers(&again)).await.status, 409);
    assert!(text(&users["users"][0], "petname").contains('-'));
    service.stop().await;
}

/// A rolling restart: what the older server writes, the newer one has to live with, and the other way round.
#[tokio::test]
async fn servers_of_both_versions_see_whom_the_other_adds_and_deletes() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = place(folder.path()).await;
    let old = as_before(&url);
    fill(&old, 3).await;
    let service = Service::open(&[("database_url", &url)], Service::clock()).await;
    let integrator = service.integrator().await;
    let phone = |somebody| Phone::of(somebody, &service.clock);
    let enters = async |mode: &str, somebody: u8| {
        let session = opens(&integrator, mode).await;
        let status = posts(&integrator, &session, &phone(somebody).answers(&session)).await.status;
        (status, integrator.sees(&session).await.with(200)["user"]["id"].clone())
    };
    // The older one registers 8 and 9, and deletes 1.
    for somebody in [8, 9] {
        let values = params![DOMAIN, phone(somebody).public_key(), CREATED_AT, None::<i64>];
        write(&old, INSERT_USER, values).await;
    }
    let delete = "DELETE FROM users WHERE domain_id = $1 AND public_key = $2";
    write(&old, delete, params![DOMAIN, phone(1).public_key()]).await;
    let (status, id) = enters("login", 8).await;
    assert_eq!((status, enters("login", 8).await), (200, (200, id)));
    assert_eq!((enters("register", 9).await.0, enters("login", 1).await.0), (409, 404));
    // The newer one registers 7, deletes 2 and knows all of them.
    assert_eq!(enters("register", 7).await.0, 200);
    let users = format!("/domains/{DOMAIN}/users");
    let gone = integrator.request(reqwest::Method::DELETE, &format!("{users}/{}", phone(2).public_key()));
    assert_eq!(crate::harness::send(gone).await.status, 204);
    let listed = integrator.get(&users).await.with(200)["users"].clone();
    let mut keys: Vec<_> = listed.as_array().expect("a list").iter().map(|user| text(user, "public_key")).collect();
    keys.sort_unstable();
    let mut expected: Vec<_> = [3, 7, 8, 9].map(|somebody| phone(somebody).public_key()).into();
    expected.sort_unstable();
    assert_eq!(keys, expected);
    // The older one finds the same keys.
    let found = "SELECT public_key FROM users WHERE domain_id = $1 ORDER BY public_key";
    let found = old.read(found, params![DOMAIN]).await.expect("a database");
    assert_eq!(found.iter().map(|row| row.text(0).expect("a key").to_owned()).collect::<Vec<_>>(), expected);
    assert_eq!(enters("register", 1).await.0, 200);
    old.close().await;
    service.stop().await;
}

#[tokio::test]
async fn a_key_that_no_wallet_has_is_given_no_user() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = place(folder.path()).await;
    let old = as_before(&url);
    fill(&old, 1).await;
    let service = Service::open(&[("database_url", &url)], Service::clock()).await;
    write(&old, INSERT_USER, params![DOMAIN, "02zz", CREATED_AT, None::<i64>]).await;
    old.close().await;
    let integrator = service.integrator_of("acme", Environment::Sandbox).await;
    integrator.get(&format!("/domains/{DOMAIN}/users")).await.refused(500, "internal_error");
    let domain = DomainId::parse(DOMAIN).expect("an id");
    let phone = Phone::of(1, &service.clock);
    let key = PublicKey::parse(&phone.public_key()).expect("a key");
    assert!(sql::find_by_key(&service.app.store, &domain, &key.into()).await.expect("a database").is_some());
    service.stop().await;
}

#[tokio::test]
async fn a_server_works_on_the_tables_of_every_older_version() {
    for known in 1..SCHEMA.migrations.len() {
        let folder = tempfile::tempdir().expect("a folder");
        let url = place(folder.path()).await;
        after(known, &url).close().await;
        let service = Service::open(&[("database_url", &url), ("services", "atm,auth")], Service::clock()).await;
        let integrator = service.shop().await;
        let session = integrator.opens("shop.test").await;
        integrator.hands_in(&session, &service.phone().answers(&session)).await.with(200);
        assert_eq!(integrator.sees(&session).await.with(200)["status"], "authenticated", "{known} migrations");
        service.stop().await;
    }
}
