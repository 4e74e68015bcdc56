//! An invalid stored session is an error, and is never read as a session with fewer requirements.

use serde_json::json;
use signpost_login::ids::SessionId;
use signpost_platform::accounts::Environment;
use signpost_store::{Statement, Value};

use crate::harness::{Service, text};
use crate::page_flow::{
    SECRET, browser, complete_session, create_session, register_hosted_domain, scan_and_answer, visit_page,
};

#[tokio::test]
async fn session_with_invalid_columns_is_an_error() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let user = r#"user_json = '{"public_key":"02","device_info":{}}'"#;
    let (terms, hash) = (r#"page_terms = '{"mode":"login","confirm":false}'"#, "0".repeat(64));
    for change in [
        "confirm_code = '7'",
        "confirm_code = ''",
        "confirm_code = 'ab'",
        "confirm_code = '420'",
        "answer = '{}', completion = NULL",
        "completion = 'x'",
        "answer = 'junk', completion = 'x'",
        &format!("authenticated_at = 1, cancelled_at = 1, {user}"),
        &format!("authenticated_at = 1, answer = '{{}}', completion = 'x', {user}"),
        "cancelled_at = 1, completion = 'x'",
        "authenticated_at = 1, user_json = '{'",
        "hosted_url = 'nowhere'",
        "requester = '7'",
        "browser_hash = 'abc'",
        "page_until = 5",
        "page_terms = '{}'",
        &format!("page_until = 5, {terms}, page_cookie = '{hash}'"),
        &format!("page_until = 5, {terms}, page_cookie = 'x', page_code = 'x'"),
        &format!("page_until = 5, {terms}, notice = '{{}}'"),
        &format!("page_until = 5, {terms}, replaced_challenge = 'svc'"),
        &format!("page_cookie = '{hash}', page_code = '{hash}'"),
        r#"notice = '{"reason":"host","at":"2027-01-15T08:00:00Z"}'"#,
        "flow = 'page', page_until = 5, page_terms = '{\"mode\":\"login\"}'",
    ] {
        let body = json!({ "domain": "shop.test", "confirm": "code" });
        let session = integrator.post("/sessions", &body).await.with(201);
        let id = text(&session, "id");
        let sql = format!("UPDATE sessions SET {change} WHERE id = $1").leak();
        assert!(
            service
                .app
                .store
                .write([Statement::new(sql, vec![Value::from(id)])])
                .await
                .expect("a database")
                .is_committed()
        );
        integrator.get_session(&session).await.assert_error(500, "internal_error");
        let answer = service.phone().answer_with(&session, session["confirm_code"].as_str());
        integrator.authenticate(&session, &answer).await.assert_error(500, "internal_error");
        assert!(service.outbox().await.is_empty(), "{change}");
    }
}

#[tokio::test]
async fn page_with_conflicting_columns_is_an_error() {
    let settings = [("allow_private_webhooks", "true"), ("public_url", "https://login.test")];
    let service = Service::with(&settings).await;
    let live = service.integrator_of("acme", Environment::Live).await;
    register_hosted_domain(&live, "shop.test").await;
    let no_page = "page_until = NULL, page_terms = NULL, page_cookie = NULL, page_code = NULL";
    for (change, named) in [
        ("flow = 'cross_device'", "flow and page_until"),
        ("flow = 'same_device'", "flow and page_until"),
        (no_page, "page_until"),
        ("hosted_url = NULL", "flow and hosted_url"),
        ("browser_hash = NULL", "browser_hash"),
        ("page_code = ''", "page_code"),
        ("page_code = NULL", "page_code"),
        ("page_cookie = ''", "page_cookie"),
        (&*format!("completion = '{}'", "0".repeat(64)), "flow and completion"),
    ] {
        let session = create_session(&live, json!({ "mode": "register" })).await;
        let page = visit_page(&service, &session, &browser(1)).await;
        scan_and_answer(&live, &service.phone(), &page).await.with(200);
        let id = text(&session, "id");
        let change = format!("UPDATE sessions SET {change} WHERE id = $1").leak();
        let changed = service.app.store.write([Statement::new(change, vec![Value::from(id)])]).await;
        assert!(changed.expect("a database").is_committed());
        let id = SessionId::parse(id).expect("an id");
        let read = service.app.login.sessions.find(Environment::Live, &id).await;
        let error = format!("{:#}", read.expect_err(change));
        assert!(error.contains(named), "{change}: {error}");
        live.get_session(&session).await.assert_error(500, "internal_error");
        complete_session(&live, &session, "guess", Some(SECRET)).await.assert_error(500, "internal_error");
        assert!(service.outbox().await.is_empty(), "{change}");
    }
}
