//! QR codes of sessions as images (docs/api.md, Create, additive).

use jiff::SignedDuration;

use crate::harness::{Service, send, text};

#[tokio::test]
async fn pending_session_has_qr_code_images() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.opens("shop.test").await;
    let path = |form: &str| format!("/sessions/{}/qr.{form}", text(&session, "id"));
    let svg = integrator.get(&path("svg")).await;
    assert_eq!(
        (svg.status, svg.header("content-type"), svg.header("cache-control")),
        (200, Some("image/svg+xml"), Some("no-store"))
    );
    assert_eq!(svg.text, signpost_auth::QrCode::from_text(text(&session, "qr_data")).expect("a code").svg());
    let png = integrator.request(reqwest::Method::GET, &path("png")).send().await.expect("an answer");
    assert_eq!((png.status().as_u16(), png.headers()["content-type"].as_bytes()), (200, &b"image/png"[..]));
    assert!(png.bytes().await.expect("a body").starts_with(b"\x89PNG\r\n\x1a\n"));

    integrator.refreshes(&session).await.with(200);
    assert_ne!(integrator.get(&path("svg")).await.text, svg.text);
    integrator.with_key(None).get(&path("svg")).await.refused(401, "invalid_api_key");
    let rival = service.integrator_of("rival", signpost_platform::accounts::Environment::Sandbox).await;
    rival.get(&path("png")).await.refused(404, "session_not_found");
    send(integrator.request(reqwest::Method::POST, &path("png"))).await.refused(405, "method_not_allowed");
    service.passes(SignedDuration::from_secs(300));
    integrator.get(&path("svg")).await.refused(410, "session_expired");
}
