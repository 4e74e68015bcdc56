//! `DELETE /sessions/{id}` (docs/api.md, Refresh, cancel).

use jiff::SignedDuration;
use serde_json::json;

use crate::harness::{Service, text};

#[tokio::test]
async fn cancelled_session_rejects_all_requests() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.opens("shop.test").await;
    let reply = integrator.cancels(&session).await;
    assert_eq!((reply.status, reply.text.as_str()), (204, ""));
    let details = integrator.sees(&session).await.refused(410, "session_cancelled");
    assert_eq!(details, json!({ "id": session["id"], "status": "cancelled" }));
    let answer = service.phone().answers(&session);
    integrator.hands_in(&session, &answer).await.refused(410, "session_cancelled");
    integrator.refreshes(&session).await.refused(410, "session_cancelled");
    integrator.cancels(&session).await.refused(410, "session_cancelled");
    assert_eq!(service.outbox().await.len(), 0);
}

#[tokio::test]
async fn cancel_requires_an_own_pending_session() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.opens("shop.test").await;
    let rival = service.integrator_of("rival", signpost_platform::accounts::Environment::Sandbox).await;
    rival.cancels(&session).await.refused(404, "session_not_found");
    rival.cancels(&json!({ "id": "sess_x" })).await.refused(404, "session_not_found");
    integrator.hands_in(&session, &service.phone().answers(&session)).await.with(200);
    integrator.cancels(&session).await.refused(409, "session_already_authenticated");
    assert_eq!(text(&integrator.sees(&session).await.with(200), "status"), "authenticated");
    let late = integrator.opens("shop.test").await;
    service.passes(SignedDuration::from_secs(300));
    integrator.cancels(&late).await.refused(410, "session_expired");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn answer_and_cancellation_exclude_each_other() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let mut authenticated = 0;
    for _ in 0..40 {
        let session = integrator.opens("shop.test").await;
        let answer = service.phone().answers(&session);
        let (answered, cancelled) = tokio::join!(integrator.hands_in(&session, &answer), integrator.cancels(&session));
        match (answered.status, cancelled.status) {
            (200, 409) => {
                assert_eq!(text(&integrator.sees(&session).await.with(200), "status"), "authenticated");
                authenticated += 1;
            }
            (410, 204) => drop(integrator.sees(&session).await.refused(410, "session_cancelled")),
            both => panic!("{both:?}"),
        }
    }
    assert_eq!(service.outbox().await.len(), authenticated);
}
