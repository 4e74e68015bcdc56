//! `DELETE /sessions/{id}` (docs/api.md, Refresh, cancel).

use jiff::SignedDuration;
use serde_json::json;

use crate::harness::{Service, text};

#[tokio::test]
async fn cancelled_session_rejects_all_requests() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    let reply = integrator.cancel(&session).await;
    assert_eq!((reply.status, reply.text.as_str()), (204, ""));
    let details = integrator.get_session(&session).await.assert_error(410, "session_cancelled");
    assert_eq!(details, json!({ "id": session["id"], "status": "cancelled" }));
    let answer = service.phone().answer(&session);
    integrator.authenticate(&session, &answer).await.assert_error(410, "session_cancelled");
    integrator.refresh(&session).await.assert_error(410, "session_cancelled");
    integrator.cancel(&session).await.assert_error(410, "session_cancelled");
    assert_eq!(service.outbox().await.len(), 0);
}

#[tokio::test]
async fn cancel_requires_an_own_pending_session() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    let rival = service.integrator_of("rival", signpost_platform::accounts::Environment::Sandbox).await;
    rival.cancel(&session).await.assert_error(404, "session_not_found");
    rival.cancel(&json!({ "id": "sess_x" })).await.assert_error(404, "session_not_found");
    integrator.authenticate(&session, &service.phone().answer(&session)).await.with(200);
    integrator.cancel(&session).await.assert_error(409, "session_already_authenticated");
    assert_eq!(text(&integrator.get_session(&session).await.with(200), "status"), "authenticated");
    let late = integrator.create_session("shop.test").await;
    service.advance_clock(SignedDuration::from_secs(300));
    integrator.cancel(&late).await.assert_error(410, "session_expired");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn answer_and_cancellation_exclude_each_other() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let mut authenticated = 0;
    for _ in 0..40 {
        let session = integrator.create_session("shop.test").await;
        let answer = service.phone().answer(&session);
        let (answered, cancelled) =
            tokio::join!(integrator.authenticate(&session, &answer), integrator.cancel(&session));
        match (answered.status, cancelled.status) {
            (200, 409) => {
                assert_eq!(text(&integrator.get_session(&session).await.with(200), "status"), "authenticated");
                authenticated += 1;
            }
            (410, 204) => drop(integrator.get_session(&session).await.assert_error(410, "session_cancelled")),
            both => panic!("{both:?}"),
        }
    }
    assert_eq!(service.outbox().await.len(), authenticated);
}
