//! The keys that sign ID tokens: created once, published before they sign and until their last token expires, and
//! stored encrypted (docs/operate.md, Rotation).

use std::fs;
use std::path::Path;

use data_encoding::{BASE64, BASE64URL_NOPAD};
use futures_util::future::join_all;
use jiff::{SignedDuration, Timestamp};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use signpost_login::domains::{Domain, system_domain};
use signpost_openid::OpenidService;
use signpost_openid::jose::{PublicJwk, SigningAlgorithm, generate_pkcs8};
use signpost_openid::signing_keys::creation::{Activation, NewSigningKey, create_key, rotate_due_keys};
use signpost_openid::signing_keys::sql;
use signpost_platform::accounts::Environment;
use signpost_platform::accounts::audit::{self, Actor};

use crate::harness::{Program, Service, config, text};

const HOUR: SignedDuration = SignedDuration::from_hours(1);
const DAY: SignedDuration = SignedDuration::from_hours(24);
const KEY: &str = "0303030303030303030303030303030303030303030303030303030303030303";
const OTHER: &str = "0404040404040404040404040404040404040404040404040404040404040404";

/// Returns the server's system domain, an issuer that always exists.
async fn find_system_domain(service: &Service) -> Domain {
    let app = &service.app;
    system_domain::find_or_register(&app.store, None, &app.public_address, app.clock.now())
        .await
        .expect("the system domain")
}

async fn jwks(service: &Service) -> Vec<Value> {
    let path = format!("/{}/jwks", find_system_domain(service).await.id);
    let reply = service.visitor().get(&path).await.with(200);
    reply["keys"].as_array().expect("keys").clone()
}

/// Returns the published keys of a server without a listening address.
async fn key_set(server: &OpenidService) -> Vec<Value> {
    let set = server.find_key_set(Environment::Live).await.expect("a database");
    let body = set.reply(&axum::http::HeaderMap::new()).into_body();
    let body = axum::body::to_bytes(body, 1 << 20).await.expect("a whole body");
    let set: Value = serde_json::from_slice(&body).expect("JSON");
    set["keys"].as_array().expect("keys").clone()
}

fn kids(keys: &[Value], algorithm: &str) -> Vec<String> {
    keys.iter().filter(|key| key["alg"] == algorithm).map(|key| text(key, "kid").to_owned()).collect()
}

async fn sign(openid: &OpenidService, algorithm: SigningAlgorithm) -> String {
    let signed = openid.sign_token(Environment::Live, algorithm, &json!({ "sub": "usr_1" }), "JWT").await;
    signed.expect("a token")
}

fn kid(token: &str) -> String {
    let header = BASE64URL_NOPAD.decode(token.split('.').next().expect("a header").as_bytes()).expect("base64");
    let header: Value = serde_json::from_slice(&header).expect("JSON");
    text(&header, "kid").to_owned()
}

/// Returns true if a relying party with these keys accepts a token.
fn verifies(keys: &[Value], token: &str) -> bool {
    let (signed, signature) = token.rsplit_once('.').expect("a token");
    let Some(found) = keys.iter().find(|key| key["kid"] == kid(token)) else { return false };
    let needed = match text(found, "kty") {
        "RSA" => json!({ "kty": "RSA", "n": found["n"], "e": found["e"] }),
        _ => json!({ "kty": "EC", "crv": found["crv"], "x": found["x"], "y": found["y"] }),
    };
    let key: PublicJwk = serde_json::from_value(needed).expect("a key");
    key.verifies(signed.as_bytes(), &BASE64URL_NOPAD.decode(signature.as_bytes()).expect("base64"))
}

async fn rotate(service: &Service, algorithm: SigningAlgorithm, activation: Activation) -> String {
    let wanted = NewSigningKey { environment: Environment::Live, algorithm, activation, pkcs8: None };
    let app = &service.app;
    let there = sql::list_all(&app.store).await.expect("a database");
    let made = create_key(&app.store, &app.login.seal, wanted, &there, &Actor::Operator, app.clock.now()).await;
    made.expect("a key").expect("a signing key").kid
}

#[tokio::test]
async fn two_servers_create_one_first_key_per_algorithm() {
    let service = Service::start().await;
    let servers = [service.app.openid.clone(), OpenidService::new(service.app.login.clone())];
    let asked = (0..32).map(|number| {
        let openid = servers[number % 2].clone();
        async move { sign(&openid, SigningAlgorithm::ALL[number / 2 % 2]).await }
    });
    let tokens = join_all(asked).await;
    let keys = jwks(&service).await;
    let [rsa, ec] = ["RS256", "ES256"].map(|algorithm| kids(&keys, algorithm));
    assert_eq!((keys.len(), rsa.len(), ec.len()), (2, 1, 1));
    assert_eq!(keys[0]["alg"], "RS256", "relying parties may use the first key");
    for token in &tokens {
        assert!(verifies(&keys, token));
        for server in &servers {
            let claims = server.verify_own_token(Environment::Live, token).await.expect("a database");
            assert_eq!(claims, Some(json!({ "sub": "usr_1" })));
            let elsewhere = server.verify_own_token(Environment::Sandbox, token).await.expect("a database");
            assert_eq!(elsewhere, None, "the sandbox has separate keys");
        }
    }
    let made = audit::sql::list(&service.app.store, None, Timestamp::UNIX_EPOCH, "", "signing_key.created", 100).await;
    assert_eq!(made.expect("a database").len(), 2);
}

#[tokio::test]
async fn token_of_another_servers_new_key_is_valid() {
    let service = Service::start().await;
    let (one, other) = (&service.app.openid, OpenidService::new(service.app.login.clone()));
    let known =
        async |token: &str| other.verify_own_token(Environment::Live, token).await.expect("a database").is_some();
    // The other server has cached that there is no key.
    assert!(!known(&format!("{}.e30.AAAA", BASE64URL_NOPAD.encode(br#"{"alg":"ES256","kid":"x"}"#))).await);
    assert!(known(&sign(one, SigningAlgorithm::Es256).await).await);
}

#[tokio::test]
async fn published_keys_are_public_keys() {
    let service = Service::start().await;
    let keys = jwks(&service).await;
    let members = |key: &Value| key.as_object().expect("a key").keys().cloned().collect::<Vec<_>>();
    assert_eq!(members(&keys[0]), ["alg", "e", "kid", "kty", "n", "use"]);
    assert_eq!(members(&keys[1]), ["alg", "crv", "kid", "kty", "use", "x", "y"]);
    assert!(keys.iter().all(|key| key["use"] == "sig"));
    assert_eq!(BASE64URL_NOPAD.decode(text(&keys[0], "n").as_bytes()).expect("base64").len(), 256);
}

#[tokio::test]
async fn rotation_invalidates_no_token() {
    let service = Service::start().await;
    let (openid, algorithm) = (&service.app.openid, SigningAlgorithm::Es256);
    let before = sign(openid, algorithm).await;
    let next = rotate(&service, algorithm, Activation::Announced).await;
    service.advance_clock(SignedDuration::from_secs(5));
    let keys = jwks(&service).await;
    assert_eq!(kids(&keys, "ES256"), [kid(&before), next.clone()], "the next key is announced");
    service.advance_clock(DAY - HOUR);
    assert_eq!(kid(&sign(openid, algorithm).await), kid(&before));
    service.advance_clock(HOUR);
    let after = sign(openid, algorithm).await;
    assert_eq!(kid(&after), next);
    service.advance_clock(DAY * 2 - HOUR);
    let keys = jwks(&service).await;
    assert!(verifies(&keys, &before) && verifies(&keys, &after));
    service.advance_clock(HOUR);
    let keys = jwks(&service).await;
    assert!(!verifies(&keys, &before) && verifies(&keys, &after));
    let own =
        async |token: &str| openid.verify_own_token(Environment::Live, token).await.expect("a database").is_some();
    assert!(own(&before).await && own(&after).await, "as a hint it is known still");
}

#[tokio::test]
async fn next_key_is_published_before_it_signs() {
    let service = Service::start().await;
    let (one, other) = (service.app.openid.clone(), OpenidService::new(service.app.login.clone()));
    let algorithm = SigningAlgorithm::Es256;
    let old = kid(&sign(&one, algorithm).await);
    assert_eq!(kid(&sign(&other, algorithm).await), old);
    let soon = rotate(&service, algorithm, Activation::Soon).await;
    service.advance_clock(SignedDuration::from_secs(9));
    for server in [&one, &other] {
        assert_eq!(kid(&sign(server, algorithm).await), old);
        assert_eq!(kids(&key_set(server).await, "ES256"), [old.clone(), soon.clone()]);
    }
    service.advance_clock(SignedDuration::from_secs(1));
    for server in [&one, &other] {
        assert_eq!(kid(&sign(server, algorithm).await), soon);
    }
}

#[tokio::test]
async fn tokens_of_a_compromised_key_are_invalid() {
    let service = Service::start().await;
    let (openid, algorithm) = (&service.app.openid, SigningAlgorithm::Es256);
    let (before, other) = (sign(openid, algorithm).await, sign(openid, SigningAlgorithm::Rs256).await);
    rotate(&service, algorithm, Activation::Announced).await;
    let new = rotate(&service, algorithm, Activation::Compromised).await;
    service.advance_clock(SignedDuration::from_secs(5));
    let keys = jwks(&service).await;
    assert_eq!(kids(&keys, "ES256"), [&*new]);
    assert!(!verifies(&keys, &before) && verifies(&keys, &other), "keys of the other algorithm stay");
    assert_eq!(openid.verify_own_token(Environment::Live, &before).await.expect("a database"), None);
    assert_eq!(kid(&sign(openid, algorithm).await), new);
}

#[tokio::test]
async fn servers_create_the_next_key_once() {
    let service = Service::start().await;
    let (app, algorithm) = (&service.app, SigningAlgorithm::Es256);
    let keep = async || rotate_due_keys(&app.store, &app.login.seal, app.clock.now()).await.expect("a database");
    let first = kid(&sign(&app.openid, algorithm).await);
    service.advance_clock(DAY * 89 - HOUR);
    assert_eq!(keep().await, 0);
    service.advance_clock(HOUR);
    // A server's job may have created it already.
    assert!(join_all([keep(), keep(), keep()]).await.into_iter().sum::<usize>() <= 1);
    assert_eq!(keep().await, 0);
    let rows = async || sql::list(&app.store, Environment::Live).await.expect("a database");
    assert_eq!(rows().await.iter().map(|row| row.number).collect::<Vec<_>>(), [1, 2]);
    service.advance_clock(DAY * 3 - HOUR);
    keep().await;
    assert!(rows().await.iter().all(|row| !row.private_key.is_erased()));
    service.advance_clock(HOUR);
    keep().await;
    let erased: Vec<_> = rows().await.iter().map(|row| (row.kid == first, row.private_key.is_erased())).collect();
    assert_eq!(erased, [(true, true), (false, false)]);
    service.advance_clock(SignedDuration::from_secs(5));
    assert_ne!(kid(&sign(&app.openid, algorithm).await), first, "the key ring excludes erased keys");
    // The third key became due in between.
    service.advance_clock(DAY * 90);
    keep().await;
    let numbers: Vec<_> = rows().await.iter().map(|row| row.number).collect();
    assert_eq!(numbers, [2, 3]);
}

#[tokio::test]
async fn slow_clock_signs_with_a_published_key() {
    let service = Service::start().await;
    let (openid, algorithm, skew) = (&service.app.openid, SigningAlgorithm::Es256, SignedDuration::from_mins(2));
    let slow = || service.clock.set(service.clock.now() - skew);
    let right = || service.clock.set(service.clock.now() + skew);
    // Another server created the first key at a time two minutes ahead.
    let first = kid(&sign(openid, algorithm).await);
    slow();
    assert_eq!(kid(&sign(openid, algorithm).await), first);
    right();
    let next = rotate(&service, algorithm, Activation::Soon).await;
    service.advance_clock(SignedDuration::from_secs(10));
    assert_eq!(kid(&sign(openid, algorithm).await), next);
    slow();
    let late = sign(openid, algorithm).await;
    assert_eq!(kid(&late), first);
    right();
    assert!(verifies(&jwks(&service).await, &late));
}

#[tokio::test]
async fn keys_are_encrypted_in_backups_and_moves() {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Service::clock();
    let plain = Service::on(folder.path(), &clock, &[]).await;
    let (keys, token) = (jwks(&plain).await, sign(&plain.app.openid, SigningAlgorithm::Rs256).await);
    plain.stop().await;
    let data_dir = folder.path().to_str().expect("a path");
    let run = |arguments: &[&str], key: &str, old: &str| {
        let program = Program::within(folder.path(), &[&["--data-dir", data_dir, "--json"], arguments].concat());
        program.env("SIGNPOST_SEAL_KEY", key).env("SIGNPOST_SEAL_KEY_OLD", old).run().json()
    };
    assert_eq!(run(&["domains", "seal"], KEY, "")["signing_keys"], 2);
    assert_eq!(run(&["domains", "seal"], OTHER, KEY)["signing_keys"], 2);
    assert_eq!(run(&["domains", "seal"], OTHER, "")["signing_keys"], 0);
    for key in ["", KEY] {
        let settings = [("data_dir", data_dir), ("seal_key", key)];
        let refused = signpost::server::HttpServer::open(config(&settings), clock.clone()).await;
        let error = format!("{:#}", refused.expect_err("a refusal"));
        assert!(error.contains("cannot decrypt 2 of 2 keys") && error.contains("SIGNPOST_SEAL_KEY"), "{error}");
    }
    let unsealed = Program::within(folder.path(), &["--data-dir", data_dir, "signing-keys", "rotate"]).run();
    assert!(unsealed.failed(1).contains("SIGNPOST_SEAL_KEY"), "{}", unsealed.err);
    let [file, copy, moved] = ["signpost", "copy", "moved"].map(|name| folder.path().join(format!("{name}.sqlite")));
    run(&["backup", copy.to_str().expect("a path")], "", "");
    let [from, to] = [&file, &moved].map(|file| format!("sqlite:{}", file.display()));
    run(&["move", "--from", &from, "--to", &to], "", "");
    for file in [&file, &copy, &moved] {
        let settings = [("database_url", &*format!("sqlite:{}", file.display())), ("seal_key", OTHER)];
        let service = Service::open(&settings, clock.clone()).await;
        assert_eq!(jwks(&service).await, keys);
        let claims = service.app.openid.verify_own_token(Environment::Live, &token).await.expect("a database");
        assert!(claims.is_some() && kid(&sign(&service.app.openid, SigningAlgorithm::Rs256).await) == kid(&token));
        let rows =
            service.app.store.read("SELECT private_key FROM signing_keys", Vec::new()).await.expect("a database");
        assert!(rows.iter().all(|row| row.text(0).expect("a text").starts_with("sealed1:")));
        service.stop().await;
    }
}

/// Writes an operator's private key like `openssl genpkey`. Returns its path.
fn write_pem(folder: &Path, name: &str, algorithm: SigningAlgorithm) -> String {
    let key = generate_pkcs8(algorithm).expect("a key");
    let file = folder.join(name);
    let lines = BASE64.encode(key.expose_secret());
    let text = format!("-----BEGIN PRIVATE KEY-----\n{lines}\n-----END PRIVATE KEY-----\n");
    fs::write(&file, text).expect("a file");
    file.to_str().expect("a path").to_owned()
}

#[test]
fn operator_lists_rotates_and_imports_keys() {
    let folder = tempfile::tempdir().expect("a folder");
    crate::harness::embedded_database(&folder.path().join("signpost-data"));
    let run = |arguments: &[&str]| Program::within(folder.path(), &[&["signing-keys"], arguments].concat()).run();
    let list = |arguments: &[&str]| run(&[&["list", "--json"], arguments].concat()).json()["signing_keys"].clone();
    assert_eq!(list(&[]), json!([]));
    let first = run(&["rotate", "--json"]).json();
    let message = ["environment", "algorithm", "state"].map(|member| text(&first, member).to_owned());
    assert_eq!(message, ["live", "RS256", "signing"], "the first key needs no announcement");
    let pem = write_pem(folder.path(), "own.pem", SigningAlgorithm::Rs256);
    let second = run(&["rotate", "--pem", &pem, "--json"]).json();
    assert_eq!(second["state"], "next");
    let (created, active) = (text(&second, "created_at"), text(&second, "active_from"));
    let [created, active] = [created, active].map(|text| text.parse::<Timestamp>().expect("a time"));
    assert_eq!(active.duration_since(created), DAY);
    let third = run(&["rotate", "--now", "--json"]).json();
    let response = run(&["rotate", "--sandbox", "--alg", "es256"]).out;
    assert!(response.contains("ES256, sandbox) signs now"), "{response}");
    let live = list(&["--live"]);
    let listed: Vec<_> = live.as_array().expect("a list").iter().map(|key| key["kid"].clone()).collect();
    assert_eq!(listed, [&first, &second, &third].map(|key| key["kid"].clone()));
    assert_eq!(list(&["--sandbox"]).as_array().map(Vec::len), Some(1));
    let table = run(&["list"]).out;
    assert!(table.starts_with("ID") && table.lines().count() == 5, "{table}");
    let response = run(&["rotate", "--compromised"]).out;
    assert!(response.contains("signs now; the keys before it were deleted"), "{response}");
    assert_eq!(list(&["--live"]).as_array().map(Vec::len), Some(1));
}

#[test]
fn invalid_key_error_has_a_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    crate::harness::embedded_database(&folder.path().join("signpost-data"));
    let rotate =
        |arguments: &[&str]| Program::within(folder.path(), &[&["signing-keys", "rotate"], arguments].concat()).run();
    let ec = write_pem(folder.path(), "ec.pem", SigningAlgorithm::Es256);
    let missing = folder.path().join("missing.pem").display().to_string();
    let other = folder.path().join("other.pem").display().to_string();
    fs::write(&other, "-----BEGIN RSA PRIVATE KEY-----\nAAEC\n-----END RSA PRIVATE KEY-----\n").expect("a file");
    for (arguments, expected) in [
        (&["--pem", &missing][..], "missing.pem"),
        (&["--pem", &other], "openssl pkcs8 -topk8"),
        (&["--pem", &ec], "no RSA key for RS256"),
    ] {
        let error = rotate(arguments);
        assert!(error.failed(1).contains(expected), "{}", error.err);
    }
    let used = ["--pem", &ec, "--alg", "ES256"];
    assert_eq!(rotate(&used).code, Some(0));
    for place in ["--live", "--sandbox"] {
        let again = rotate(&[&used[..], &[place]].concat());
        assert!(again.failed(1).contains("this key was used before"), "{}", again.err);
    }
    assert_eq!(rotate(&["--now", "--compromised"]).code, Some(2));
    assert_eq!(rotate(&["--live", "--sandbox"]).code, Some(2));
    assert_eq!(rotate(&["--alg", "HS256"]).code, Some(2));
}
