//! Concurrent operations on a page, and restarts: a single operation wins, and both replies are correct.

use futures_util::future::join_all;
use serde_json::{Value, json};
use signpost_auth::Mode;
use signpost_login::flows::page;
use signpost_login::sessions::{NoticeReason, Renewal, SessionState};
use signpost_platform::accounts::Environment;

use crate::harness::{Integrator, Phone, Service, text};
use crate::page_flow::{
    SECRET, browser, code, complete_session, create_session, create_user, page_of, post_answer, reason,
    scan_and_answer, shop, shown, users, visit_page,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_concurrent_wallets_wins() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    for round in 0_u8..5 {
        let session = create_session(&integrator, json!({ "mode": "register" })).await;
        let page = visit_page(&service, &session, &browser(1)).await;
        let race = (1..=8).map(|number| {
            let phone = Phone::of(10 * round + number, &service.clock);
            let (integrator, page) = (integrator.clone(), page.clone());
            async move { (scan_and_answer(&integrator, &phone, &page).await.status, phone.public_key()) }
        });
        // More than three concurrent answers are rejected before the number is checked.
        let replies = join_all(race).await;
        let won: Vec<_> = replies.iter().filter(|(status, _)| *status == 200).collect();
        assert_eq!(won.len(), 1, "{replies:?}");
        let done = complete_session(&integrator, &session, &code(&page, &browser(1)), Some(SECRET)).await.with(200);
        assert_eq!(done["user"]["public_key"], json!(won[0].1));
    }
    assert_eq!((users(&service).await, service.outbox().await.len()), (5, 5));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_wrong_numbers_cancel_the_login() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    for _ in 0..10 {
        let session = create_session(&integrator, json!({})).await;
        let page = visit_page(&service, &session, &browser(1)).await;
        let shown = shown(&page);
        let wrong = service.phone().answer_with(&shown, Some("00"));
        let statuses = join_all((0..3).map(|_| post_answer(&integrator, &shown, &wrong))).await;
        assert!(statuses.iter().all(|reply| reply.status == 406));
        let over = page_of(&service, &session).await;
        assert!(matches!(over.state, SessionState::Cancelled { .. }));
        assert_eq!(reason(&over), Some(NoticeReason::ConfirmCode { tries_left: 0 }));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_renewal_and_answer_wins() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    create_user(&service, &integrator, &service.phone()).await;
    for _ in 0..20 {
        let session = create_session(&integrator, json!({})).await;
        let page = visit_page(&service, &session, &browser(1)).await;
        let phone = service.phone();
        let (answered, renewed) = tokio::join!(
            scan_and_answer(&integrator, &phone, &page),
            page::renew_page(&service.app.login, page.clone(), Renewal::ByHand)
        );
        let now = page_of(&service, &session).await;
        match (answered.status, renewed) {
            (200, Err(_)) => assert!(now.is_answered()),
            (404, Ok(renewed)) => assert!(!now.is_answered() && now.challenge == renewed.challenge),
            (status, renewed) => panic!("{status} {renewed:?}: {}", answered.text),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_tabs_get_one_code() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    for _ in 0..5 {
        let session = create_session(&integrator, json!({})).await;
        let page = visit_page(&service, &session, &browser(1)).await;
        let tabs = (0..8).map(|tab| {
            let (login, page) = (service.app.login.clone(), page.clone());
            tokio::spawn(async move {
                match tab % 2 {
                    0 => page::renew_page(&login, page, Renewal::ByHand).await,
                    _ => page::switch_mode(&login, page, Mode::Register).await,
                }
            })
        });
        for tab in join_all(tabs).await {
            tab.expect("no panic").expect("a page that shows a code");
        }
        let now = page_of(&service, &session).await;
        assert_eq!((now.challenge.mode, now.is_answered()), (Mode::Register, false));
        scan_and_answer(&integrator, &Phone::of(9, &service.clock), &now).await;
        page::cancel_page(&service.app.login, now).await.expect("a page");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_cancel_and_completion_wins() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    create_user(&service, &integrator, &service.phone()).await;
    for _ in 0..20 {
        let session = create_session(&integrator, json!({})).await;
        let page = visit_page(&service, &session, &browser(1)).await;
        scan_and_answer(&integrator, &service.phone(), &page).await.with(200);
        let (page, before) = (page_of(&service, &session).await, service.outbox().await.len());
        let own = code(&page, &browser(1));
        let (cancelled, completed) = tokio::join!(
            page::cancel_page(&service.app.login, page),
            complete_session(&integrator, &session, &own, Some(SECRET))
        );
        let seen = cancelled.expect("a page");
        let events = service.outbox().await.len() - before;
        match completed.status {
            200 => assert_eq!((matches!(seen.state, SessionState::Authenticated { .. }), events), (true, 1)),
            410 => assert_eq!((matches!(seen.state, SessionState::Cancelled { .. }), events), (true, 0)),
            status => panic!("{status}: {}", completed.text),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_completions_succeed_at_most_once() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    create_user(&service, &integrator, &service.phone()).await;
    for _ in 0..20 {
        let session = create_session(&integrator, json!({})).await;
        let page = visit_page(&service, &session, &browser(1)).await;
        scan_and_answer(&integrator, &service.phone(), &page).await.with(200);
        let own = code(&page, &browser(1));
        let (right, wrong) = tokio::join!(
            complete_session(&integrator, &session, &own, Some(SECRET)),
            complete_session(&integrator, &session, &own, Some("another"))
        );
        assert!(matches!((right.status, wrong.status), (200, 406 | 409) | (410, 406)), "{} {}", right.text, wrong.text);
        let seen = integrator.get_session(&session).await.status;
        assert_eq!(seen, right.status);
    }
}

#[tokio::test]
async fn restart_preserves_the_page() {
    let (folder, clock) = (tempfile::tempdir().expect("a folder"), Service::clock());
    let again = async |integrator: &Integrator, service: Service| {
        service.stop().await;
        let service = Service::on(folder.path(), &clock, &[]).await;
        let integrator = Integrator { api: service.url("/sandbox/v1"), ..integrator.clone() };
        (integrator, service)
    };
    let service = Service::on(folder.path(), &clock, &[]).await;
    let integrator = shop(&service).await;
    let session: Value = create_session(&integrator, json!({ "mode": "register" })).await;
    let (integrator, service) = again(&integrator, service).await;
    let page = visit_page(&service, &session, &browser(1)).await;
    let (integrator, service) = again(&integrator, service).await;
    assert!(page_of(&service, &session).await.is_owned_by(&browser(1).hash()));
    let page = page::renew_page(&service.app.login, page, Renewal::ByHand).await.expect("a page");
    let (integrator, service) = again(&integrator, service).await;
    scan_and_answer(&integrator, &service.phone(), &page).await.with(200);
    let (integrator, service) = again(&integrator, service).await;
    assert!(page_of(&service, &session).await.is_answered());
    complete_session(&integrator, &session, &code(&page, &browser(1)), Some(SECRET)).await.with(200);
    let (_, service) = again(&integrator, service).await;
    let found = page::find_page(&service.app.login, Environment::Sandbox, text(&session, "id")).await;
    let found = found.expect("a database").expect("a page").0;
    assert!(matches!(found.state, SessionState::Authenticated { .. }));
}
