//! Periodic verification of domain proofs (docs/api.md, Verification).

use jiff::SignedDuration;
use serde_json::{Value, json};
use signpost_login::jobs::recheck::sweep;

use crate::harness::{Integrator, NameServer, Service, text};

const WEEK: SignedDuration = SignedDuration::from_hours(7 * 24);

async fn shown(integrator: &Integrator, domain: &Value) -> Value {
    integrator.get(&format!("/domains/{}", text(domain, "id"))).await.with(200)
}

#[tokio::test]
async fn three_missed_proofs_end_the_verification() {
    let names = NameServer::start().await;
    let service = Service::with(&[("dns_server", &names.setting())]).await;
    let integrator = service.integrator().await;
    let domain = integrator.register_domain("shop.test").await;
    let token = text(&domain, "verification_token").to_owned();
    names.set_txt("shop.test", &[&token]);
    integrator.post_nothing(&format!("/domains/{}/verify", text(&domain, "id"))).await.with(200);
    assert!(shown(&integrator, &domain).await.get("last_checked_at").is_none());
    assert_eq!(sweep(&service.app.login).await.expect("a database"), 0);

    service.advance_clock(WEEK);
    assert_eq!(sweep(&service.app.login).await.expect("a database"), 1);
    let found = shown(&integrator, &domain).await;
    assert!(found["verified"] == true && found["last_checked_at"].is_string(), "{found}");
    assert_eq!(sweep(&service.app.login).await.expect("a database"), 0);

    names.set_txt("shop.test", &["v=spf1 -all"]);
    service.advance_clock(WEEK);
    sweep(&service.app.login).await.expect("a database");
    let missed = shown(&integrator, &domain).await;
    assert!(missed["verified"] == true && missed["failing_since"] == missed["last_checked_at"], "{missed}");
    // A proof that is found in between resets the count of failures.
    names.set_txt("shop.test", &[&token]);
    service.advance_clock(WEEK);
    sweep(&service.app.login).await.expect("a database");
    assert!(shown(&integrator, &domain).await.get("failing_since").is_none());

    names.set_txt("shop.test", &[]);
    for _ in 0..2 {
        service.advance_clock(WEEK);
        sweep(&service.app.login).await.expect("a database");
        assert_eq!(shown(&integrator, &domain).await["verified"], true);
    }
    service.advance_clock(WEEK);
    let session = integrator.create_session("shop.test").await;
    sweep(&service.app.login).await.expect("a database");
    let lost = shown(&integrator, &domain).await;
    assert_eq!((&lost["verified"], lost.get("verified_at")), (&json!(false), None));
    assert!(lost["failing_since"].is_string(), "{lost}");
    integrator.get_session(&session).await.assert_error(410, "session_cancelled");
    assert_eq!(service.outbox().await.len(), 0);

    names.set_txt("shop.test", &[&token]);
    integrator.post_nothing(&format!("/domains/{}/verify", text(&domain, "id"))).await.with(200);
    let again = shown(&integrator, &domain).await;
    assert_eq!((&again["verified"], again.get("failing_since")), (&json!(true), None));
}
