//! A server on an embedded database answers from memory while nobody wrote to the file, and not a moment longer: the command
//! line, which is another process, writes to it as well.

use signpost_store::{params, step};
use tempfile::tempdir;

use crate::forward_flow::{App, realm};
use crate::harness::{Service, beside_server, text};
use crate::openid_flow::Realm;

#[tokio::test]
async fn an_access_token_ends_with_what_it_stands_on_whoever_took_that_away() {
    for (what, statement) in [
        ("the token", "DELETE FROM openid_tokens"),
        ("its time", "UPDATE openid_tokens SET expires_at = 1"),
        ("the grant", "UPDATE openid_grants SET revoked_at = 1"),
        ("the client", "DELETE FROM openid_clients"),
        ("the key", "UPDATE users SET public_key = public_key || '0'"),
        ("the handler", "UPDATE domains SET handler = 'direct'"),
        ("the sign-out", "UPDATE hosted_users SET signed_out_at = (SELECT MAX(authenticated_at) FROM openid_grants)"),
    ] {
        let folder = tempdir().expect("a folder");
        let service = Service::on(folder.path(), &Service::clock(), &[]).await;
        let beside = beside_server(folder.path());
        let mut realm = Realm::of(service, |settings| settings.is_trusted = true).await;
        let tokens = realm.tokens(&[]).await;
        for _ in 0..3 {
            realm.party.userinfo(text(&tokens, "access_token")).await.with(200);
        }
        beside.write([step(statement, params![])]).await.expect("a database");
        let status = realm.party.userinfo(text(&tokens, "access_token")).await.status;
        assert!([401, 404].contains(&status), "{what}: {status}");
    }
}

#[tokio::test]
async fn what_is_said_of_a_user_is_what_stands_in_the_file() {
    let folder = tempdir().expect("a folder");
    let service = Service::on(folder.path(), &Service::clock(), &[]).await;
    let beside = beside_server(folder.path());
    let mut realm = Realm::of(service, |settings| settings.is_trusted = true).await;
    let tokens = realm.tokens(&[]).await;
    for (number, name) in ["Ada", "Grace", "Ada"].into_iter().enumerate() {
        let statement = "UPDATE hosted_users SET name = $1";
        let store = if number % 2 == 0 { &beside } else { &realm.service.app.store };
        store.write([step(statement, params![name])]).await.expect("a database");
        for _ in 0..2 {
            assert_eq!(realm.party.userinfo(text(&tokens, "access_token")).await.with(200)["name"], name);
        }
    }
}

#[tokio::test]
async fn an_application_behind_a_proxy_is_closed_at_once() {
    for statement in [
        "DELETE FROM openid_clients",
        "UPDATE openid_grants SET revoked_at = 1",
        "UPDATE users SET public_key = public_key || '0'",
        "DELETE FROM openid_tokens WHERE kind = 'session'",
    ] {
        let folder = tempdir().expect("a folder");
        let service = Service::on(folder.path(), &Service::clock(), &[]).await;
        let (_, mut browser, domain) = realm(&service).await;
        let mut app = App::of(&service, &domain, Some(&["*"])).await;
        app.logs_in(&mut browser).await;
        for _ in 0..3 {
            assert!(app.is_let_in().await, "{statement}");
        }
        beside_server(folder.path()).write([step(statement, params![])]).await.expect("a database");
        assert!(!app.is_let_in().await, "{statement}");
    }
}

#[tokio::test]
async fn whoever_asks_for_a_session_sees_what_another_process_did_to_it() {
    let folder = tempdir().expect("a folder");
    let service = Service::on(folder.path(), &Service::clock(), &[]).await;
    let integrator = service.shop().await;
    let session = integrator.opens("shop.test").await;
    for _ in 0..3 {
        assert_eq!(integrator.sees(&session).await.with(200)["status"], "pending");
    }
    let beside = beside_server(folder.path());
    beside.write([step("UPDATE sessions SET cancelled_at = created_at", params![])]).await.expect("a database");
    integrator.sees(&session).await.refused(410, "session_cancelled");
    beside.write([step("DELETE FROM sessions", params![])]).await.expect("a database");
    integrator.sees(&session).await.refused(404, "session_not_found");
}
