//! QR codes of sessions as images (docs/api.md, Create, additive).

use jiff::SignedDuration;

use crate::harness::{Service, send, text};

#[tokio::test]
async fn pending_session_has_qr_code_images() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
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

    integrator.refresh(&session).await.with(200);
    assert_ne!(integrator.get(&path("svg")).await.text, svg.text);
    integrator.with_key(None).get(&path("svg")).await.assert_error(401, "invalid_api_key");
    let rival = service.integrator_of("rival", signpost_platform::accounts::Environment::Sandbox).await;
    rival.get(&path("png")).await.assert_error(404, "session_not_found");
    send(integrator.request(reqwest::Method::POST, &path("png"))).await.assert_error(405, "method_not_allowed");
    service.advance_clock(SignedDuration::from_secs(300));
    integrator.get(&path("svg")).await.assert_error(410, "session_expired");
}
