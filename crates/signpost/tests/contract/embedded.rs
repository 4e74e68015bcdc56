//! A server on an embedded database answers from its cache while the file does not change, and detects writes of other
//! processes, such as the command line, almost immediately.

use std::time::{Duration, Instant};

use signpost_store::{Statement, Store, params};
use tempfile::tempdir;

use crate::forward_flow::{App, tenant};
use crate::harness::{Service, open_separately, text};
use crate::openid_flow::Tenant;

/// Writes to the database like a command; returns when the server can detect the change of the file.
async fn write_externally(service: &Service, beside: &Store, statement: &'static str) {
    let (store, begun) = (&service.app.store, Instant::now());
    let before = store.file_state();
    beside.write([Statement::new(statement, params![])]).await.expect("a database");
    while store.file_state() == before {
        assert!(begun.elapsed() < Duration::from_secs(30), "the server saw nothing of it");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn external_writes_invalidate_access_tokens() {
    for (what, statement) in [
        ("the token", "DELETE FROM openid_tokens"),
        ("its time", "UPDATE openid_tokens SET expires_at = 1"),
        ("the grant", "UPDATE openid_grants SET revoked_at = 1"),
        ("the client", "DELETE FROM openid_clients"),
        ("the key", "UPDATE credentials SET public_key = public_key || '0'"),
        ("the handler", "UPDATE domains SET handler = 'direct'"),
        ("the sign-out", "UPDATE users SET signed_out_at = (SELECT MAX(authenticated_at) FROM openid_grants)"),
    ] {
        let folder = tempdir().expect("a folder");
        let service = Service::on(folder.path(), &Service::clock(), &[]).await;
        let beside = open_separately(folder.path());
        let mut tenant = Tenant::of(service, |settings| settings.is_trusted = true).await;
        let tokens = tenant.tokens(&[]).await;
        for _ in 0..3 {
            tenant.party.userinfo(text(&tokens, "access_token")).await.with(200);
        }
        write_externally(&tenant.service, &beside, statement).await;
        let status = tenant.party.userinfo(text(&tokens, "access_token")).await.status;
        assert!([401, 404].contains(&status), "{what}: {status}");
    }
}

#[tokio::test]
async fn user_claims_match_the_file() {
    let folder = tempdir().expect("a folder");
    let service = Service::on(folder.path(), &Service::clock(), &[]).await;
    let beside = open_separately(folder.path());
    let mut tenant = Tenant::of(service, |settings| settings.is_trusted = true).await;
    let tokens = tenant.tokens(&[]).await;
    for (number, name) in ["Ada", "Grace", "Ada"].into_iter().enumerate() {
        let statement = ["UPDATE users SET name = 'Ada'", "UPDATE users SET name = 'Grace'"][number % 2];
        if number % 2 == 0 {
            write_externally(&tenant.service, &beside, statement).await;
        } else {
            tenant.service.app.store.write([Statement::new(statement, params![])]).await.expect("a database");
        }
        for _ in 0..2 {
            assert_eq!(tenant.party.userinfo(text(&tokens, "access_token")).await.with(200)["name"], name);
        }
    }
}

#[tokio::test]
async fn forward_auth_headers_match_the_file() {
    let folder = tempdir().expect("a folder");
    let service = Service::on(folder.path(), &Service::clock(), &[]).await;
    let (_, mut browser, domain) = tenant(&service).await;
    let mut app = App::of(&service, &domain, Some(&["*"])).await;
    app.log_in(&mut browser).await;
    let beside = open_separately(folder.path());
    for name in ["Ada", "Grace"] {
        beside.write([Statement::new("UPDATE users SET name = $1", params![name])]).await.expect("a database");
        for _ in 0..3 {
            assert_eq!(app.navigate("caddy").await.headers["remote-name"], name);
        }
    }
}

#[tokio::test]
async fn external_writes_end_app_sessions() {
    for statement in [
        "DELETE FROM openid_clients",
        "UPDATE openid_grants SET revoked_at = 1",
        "UPDATE credentials SET public_key = public_key || '0'",
        "DELETE FROM openid_tokens WHERE kind = 'session'",
    ] {
        let folder = tempdir().expect("a folder");
        let service = Service::on(folder.path(), &Service::clock(), &[]).await;
        let (_, mut browser, domain) = tenant(&service).await;
        let mut app = App::of(&service, &domain, Some(&["*"])).await;
        app.log_in(&mut browser).await;
        for _ in 0..3 {
            assert!(app.is_let_in().await, "{statement}");
        }
        write_externally(&service, &open_separately(folder.path()), statement).await;
        assert!(!app.is_let_in().await, "{statement}");
    }
}

#[tokio::test]
async fn reads_of_a_session_see_external_writes() {
    let folder = tempdir().expect("a folder");
    let service = Service::on(folder.path(), &Service::clock(), &[]).await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    for _ in 0..3 {
        assert_eq!(integrator.get_session(&session).await.with(200)["status"], "pending");
    }
    let beside = open_separately(folder.path());
    write_externally(&service, &beside, "UPDATE sessions SET cancelled_at = created_at").await;
    integrator.get_session(&session).await.assert_error(410, "session_cancelled");
    write_externally(&service, &beside, "DELETE FROM sessions").await;
    integrator.get_session(&session).await.assert_error(404, "session_not_found");
}
