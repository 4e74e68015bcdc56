//! Two accounts, two domains, live and sandbox on one host and thus one relying party: a passkey logs in only at its
//! issuer.

use jiff::SignedDuration;
use serde_json::{Value, json};
use signpost_auth::DomainName;
use signpost_login::sessions::NoticeReason;
use signpost_platform::accounts::Environment;

use crate::harness::{Browser, Integrator, Service, text};
use crate::page_flow::{page_of, reason, register_hosted_domain};
use crate::passkey::{Lie, TestPasskey};
use crate::passkeys::{sign_up, start_login};

struct Tenant {
    integrator: Integrator,
    domain: &'static str,
    passkey: TestPasskey,
    user: Value,
}

async fn service() -> Service {
    let settings =
        [("allow_private_webhooks", "true"), ("public_url", "https://login.test"), ("rate_limit_answer", "off")];
    Service::with(&settings).await
}

/// Returns a browser with the public URL as its origin.
fn browser(service: &Service) -> Browser {
    Browser { origin: "https://login.test".to_owned(), ..Browser::at(service) }
}

async fn tenants(service: &Service, browser: &mut Browser) -> Vec<Tenant> {
    let mut tenants = Vec::new();
    for environment in Environment::ALL {
        for account in ["acme", "rival"] {
            let integrator = service.integrator_of(account, environment).await;
            for domain in ["shop.test", "bank.test"] {
                register_hosted_domain(&integrator, domain).await;
                let (passkey, done) = sign_up(&integrator, browser, domain).await;
                tenants.push(Tenant { integrator: integrator.clone(), domain, passkey, user: done["user"].clone() });
            }
        }
    }
    assert_eq!(tenants.len(), 8);
    tenants
}

#[tokio::test]
async fn passkey_logs_in_at_one_realm_only() {
    let service = service().await;
    let mut browser = browser(&service);
    let mut tenants = tenants(&service, &mut browser).await;
    for own in 0..tenants.len() {
        for foreign in 0..tenants.len() {
            let Tenant { integrator, domain, .. } = &tenants[own];
            let (integrator, domain, user) = (integrator.clone(), *domain, tenants[own].user.clone());
            let session = start_login(&integrator, &mut browser, domain).await;
            let other = &mut tenants[foreign];
            let reply = browser.use_passkey(&session, &mut other.passkey).await;
            let page = page_of(&service, &session).await;
            if own == foreign {
                assert_eq!(reply, (200, json!({})));
                let done = browser.return_to_site(&integrator, &session).await.with(200);
                assert_eq!(done["user"]["id"], user["id"]);
                continue;
            }
            assert!(!page.is_answered(), "{own} {foreign}");
            assert!(reply.1.get("signal").is_none(), "a device that forgot it would lose an account: {reply:?}");
            if other.domain == domain {
                assert_eq!((reply.0, &reply.1["reason"]), (404, &json!("unknown_passkey")), "{own} {foreign}");
                assert_eq!(reason(&page), Some(NoticeReason::UnknownPasskey));
            } else {
                assert_eq!((reply.0, &reply.1["reason"]), (409, &json!("other_site")), "{own} {foreign}");
                assert!(text(&reply.1, "message").contains(other.domain), "{reply:?}");
                let named = DomainName::parse(other.domain).expect("a domain");
                assert_eq!(reason(&page), Some(NoticeReason::OtherSite { domain: named }));
            }
        }
        service.advance_clock(SignedDuration::from_secs(1));
    }
}

#[tokio::test]
async fn forged_answer_does_not_reveal_the_owner() {
    let service = service().await;
    let mut browser = browser(&service);
    let mut tenants = tenants(&service, &mut browser).await;
    let (shop, bank) = tenants.split_at_mut(1);
    let (shop, bank) = (&mut shop[0], &mut bank[0]);
    let session = start_login(&bank.integrator, &mut browser, bank.domain).await;
    let asked = browser.asked(&session, "get").await;
    // The credential ID of another user, with another key.
    let id = shop.passkey.get(&asked, &browser.origin, &[])["id"].clone();
    let mut forged = bank.passkey.get(&asked, &browser.origin, &[]);
    (forged["id"], forged["rawId"]) = (id.clone(), id);
    let replies = [
        browser.post_credential(&session, &forged).await,
        browser.post_credential(&session, &shop.passkey.get(&asked, "https://evil.test", &[])).await,
        browser.post_credential(&session, &shop.passkey.get(&asked, &browser.origin, &[Lie::Challenge([1; 32])])).await,
    ];
    for reply in replies {
        assert_eq!((reply.0, &reply.1["reason"]), (422, &json!("not_accepted")), "{reply:?}");
        assert!(!reply.1.to_string().contains("shop.test"), "{reply:?}");
        assert_eq!(reason(&page_of(&service, &session).await), Some(NoticeReason::PasskeyRefused));
    }
}
