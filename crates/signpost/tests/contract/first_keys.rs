//! The first key of a user without credentials (docs/api.md, Link): no recent login, ten minutes, one link at a time.

use jiff::SignedDuration;
use serde_json::{Value, json};
use signpost_login::flows::page;
use signpost_login::sessions::{Renewal, Session};
use signpost_store::{Statement, params};

use crate::harness::{Integrator, Service, text};
use crate::link::{answer_and_confirm, complete_link, open_link, phone, register_user};
use crate::page_flow::{create_session, page_of, request, shop};

/// Creates a user without credentials, whose last login was long ago.
async fn create_keyless_user(service: &Service, integrator: &Integrator) -> String {
    let user = register_user(service, integrator).await;
    let remove = Statement::new("DELETE FROM credentials WHERE user_id = $1", params![&user]);
    assert!(service.app.store.write([remove]).await.expect("a database").is_committed());
    service.advance_clock(SignedDuration::from_hours(1));
    user
}

/// Opens a link and answers it with a confirmed key.
async fn open_and_answer(service: &Service, integrator: &Integrator, user: &str, number: u8) -> (Value, Session) {
    let (session, page) = open_link(service, integrator, user).await;
    answer_and_confirm(service, integrator, &session, &phone(service, number)).await;
    (session, page)
}

#[tokio::test]
async fn first_key_requires_no_recent_login() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let user = create_keyless_user(&service, &integrator).await;
    let (session, page) = open_and_answer(&service, &integrator, &user, 21).await;
    let done = complete_link(&integrator, &session, &page).await.with(200);
    assert_eq!((&done["user"]["id"], &done["user"]["credential_count"]), (&json!(user), &json!(1)));
    assert_eq!(done["user"]["is_new"], json!(false));
    // The second key requires a login.
    let body = request(&json!({ "mode": "link", "user": user }));
    integrator.post("/sessions", &body).await.assert_error(422, "recent_login_required");
}

#[tokio::test]
async fn another_key_in_the_meantime_ends_the_link() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let user = create_keyless_user(&service, &integrator).await;
    let (session, page) = open_and_answer(&service, &integrator, &user, 21).await;
    // An operator's command adds a key, which cancels no link.
    let add = "INSERT INTO credentials (domain_id, public_key, created_at, id, user_id, kind, name)
         SELECT domain_id, $1, created_at, 'cred_06h0b0avgy59w2hwkb2v9bypdq5zsyfj88vg', id, 'wallet', 'Other'
         FROM users WHERE id = $2";
    let add = Statement::new(add, params![phone(&service, 40).public_key(), &user]);
    assert!(service.app.store.write([add]).await.expect("a database").is_committed());
    complete_link(&integrator, &session, &page).await.assert_error(409, "credential_exists");
    complete_link(&integrator, &session, &page).await.assert_error(410, "session_cancelled");
}

#[tokio::test]
async fn new_link_of_a_first_key_cancels_the_old() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let user = create_keyless_user(&service, &integrator).await;
    let (old, of_old) = open_and_answer(&service, &integrator, &user, 21).await;
    let (new, of_new) = open_and_answer(&service, &integrator, &user, 22).await;
    complete_link(&integrator, &old, &of_old).await.assert_error(410, "session_cancelled");
    complete_link(&integrator, &new, &of_new).await.with(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_links_of_a_first_key_leave_one() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let user = create_keyless_user(&service, &integrator).await;
    let with = json!({ "mode": "link", "user": user });
    let created = tokio::join!(
        create_session(&integrator, with.clone()),
        create_session(&integrator, with.clone()),
        create_session(&integrator, with)
    );
    let mut pending = 0;
    for session in [created.0, created.1, created.2] {
        let reply = integrator.get_session(&session).await;
        pending += usize::from(reply.status == 200);
    }
    assert_eq!(pending, 1);
}

#[tokio::test]
async fn link_of_a_first_key_lives_ten_minutes() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let user = create_keyless_user(&service, &integrator).await;
    let (session, _) = open_link(&service, &integrator, &user).await;
    service.advance_clock(SignedDuration::from_mins(3));
    let by_hand = async || {
        let page = page_of(&service, &session).await;
        page::renew_page(&service.app.login, page, Renewal::ByHand).await
    };
    by_hand().await.expect("a code");
    service.advance_clock(SignedDuration::from_mins(6));
    by_hand().await.expect("a code");
    // The answer and its confirmation do not extend the life of the link.
    answer_and_confirm(&service, &integrator, &session, &phone(&service, 21)).await;
    let page = page_of(&service, &session).await;
    assert_eq!(page.expires_at, page.created_at + SignedDuration::from_mins(10));
    service.advance_clock(SignedDuration::from_mins(1));
    complete_link(&integrator, &session, &page).await.assert_error(410, "session_expired");
    assert!(by_hand().await.is_err());
    let path = format!("/sessions/{}", text(&session, "id"));
    integrator.get(&path).await.assert_error(410, "session_expired");
}
