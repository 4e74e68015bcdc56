//! Concurrent requests: only one succeeds, and all responses agree.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use serde_json::json;

use crate::harness::{Endpoint, Phone, Service, text};

/// Returns the number of responses per status.
fn counted(statuses: impl IntoIterator<Item = u16>) -> BTreeMap<u16, usize> {
    let mut counts = BTreeMap::new();
    statuses.into_iter().for_each(|status| *counts.entry(status).or_default() += 1);
    counts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_64_concurrent_answers_wins() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let mut endpoint = Endpoint::start().await;
    integrator.register_domain_at("shop.test", &endpoint.url("/")).await;
    for _ in 0..3 {
        let session = integrator.create_session("shop.test").await;
        let racing = (0..64).map(|number| {
            // Half of the requests repeat the answer of a single wallet.
            let phone = Phone::of(if number % 2 == 0 { 7 } else { number + 10 }, &service.clock);
            let (integrator, session, answer) = (integrator.clone(), session.clone(), phone.answer(&session));
            tokio::spawn(async move { integrator.authenticate(&session, &answer).await })
        });
        let replies: Vec<_> = join_all(racing).await.into_iter().map(|reply| reply.expect("no panic")).collect();
        assert_eq!(counted(replies.iter().map(|reply| reply.status)), [(200, 1), (409, 63)].into());
        let won = replies.iter().find(|reply| reply.status == 200).expect("a winner").json();
        assert_eq!(integrator.get_session(&session).await.with(200), won);
        let event = endpoint.next_request().await.json();
        assert_eq!(event["session_id"], session["id"]);
        assert_eq!(event["data"]["public_key"], won["user"]["public_key"]);
    }
    assert_eq!(service.outbox().await.len(), 3);
    assert!(endpoint.try_next_request().is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn answer_and_refresh_agree_on_the_order() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let mut authenticated = 0;
    for _ in 0..40 {
        let session = integrator.create_session("shop.test").await;
        let answer = service.phone().answer(&session);
        let (answered, refreshed) =
            tokio::join!(integrator.authenticate(&session, &answer), integrator.refresh(&session));
        let seen = integrator.get_session(&session).await.with(200);
        match (answered.status, refreshed.status) {
            (200, 409) => {
                assert_eq!((&seen["status"], &answered.json()), (&json!("authenticated"), &seen));
                refreshed.assert_error(409, "session_already_authenticated");
                authenticated += 1;
            }
            (404, 200) => {
                answered.assert_error(404, "challenge_not_found");
                let expires_at = &refreshed.json()["expires_at"];
                assert_eq!((&seen["status"], &seen["expires_at"]), (&json!("pending"), expires_at));
            }
            both => panic!("{both:?}: {} {}", answered.text, refreshed.text),
        }
    }
    assert_eq!(service.outbox().await.len(), authenticated);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_refreshes_leave_one_challenge() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    for _ in 0..10 {
        let session = integrator.create_session("shop.test").await;
        let replies = join_all((0..8).map(|_| integrator.refresh(&session))).await;
        let mut taken = 0;
        for refreshed in replies.iter().filter(|reply| reply.status == 200) {
            let answer = service.phone().answer(&refreshed.json());
            taken += usize::from(integrator.authenticate(&session, &answer).await.status == 200);
        }
        assert_eq!(taken, 1, "{:?}", counted(replies.iter().map(|reply| reply.status)));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_refreshes_succeed() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    for _ in 0..10 {
        let session = integrator.create_session("shop.test").await;
        for reply in join_all((0..8).map(|_| integrator.refresh(&session))).await {
            // A refresh that loses to another refresh succeeds too: its request names no challenge that could be
            // unknown.
            reply.with(200);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn domain_is_registered_once() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let body = json!({ "domain": "shop.test", "webhook_url": "https://shop.test/" });
    let replies = join_all((0..16).map(|_| integrator.post("/domains", &body))).await;
    assert_eq!(counted(replies.iter().map(|reply| reply.status)), [(201, 1), (409, 15)].into());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_patches_are_both_applied() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = integrator.register_domain_at("shop.test", "https://shop.test/").await;
    let path = format!("/domains/{}", text(&domain, "id"));
    for round in 0..40 {
        let (webhook, event) = (format!("https://shop.test/{round}"), format!("https://events.test/{round}"));
        let changes = [json!({ "webhook_url": webhook }), json!({ "event_url": event })];
        for reply in join_all(changes.iter().map(|change| integrator.patch(&path, change))).await {
            reply.with(200);
        }
        let seen = integrator.get(&path).await.with(200);
        assert_eq!((&seen["webhook_url"], &seen["event_url"]), (&json!(webhook), &json!(event)), "round {round}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn limit_applies_to_concurrent_requests() {
    let service = Service::with(&[("rate_limit_domains", "10/m")]).await;
    let integrator = service.integrator().await;
    let replies = join_all((0..64).map(|_| integrator.get("/domains"))).await;
    assert_eq!(counted(replies.iter().map(|reply| reply.status)), [(200, 10), (429, 54)].into());
}
