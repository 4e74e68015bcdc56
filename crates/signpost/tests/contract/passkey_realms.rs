//! Two accounts, two domains, live and sandbox on one host and thus one relying party: a passkey logs in only at its
//! issuer.

use jiff::SignedDuration;
use serde_json::{Value, json};
use signpost_auth::DomainName;
use signpost_login::sessions::NoticeReason;
use signpost_platform::accounts::Environment;

use crate::harness::{Browser, Integrator, Service, text};
use crate::page_flow::{hosts, page_of, reason};
use crate::passkey::{Lie, TestPasskey};
use crate::passkeys::{arrives, signs_up};

struct Realm {
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

async fn realms(service: &Service, browser: &mut Browser) -> Vec<Realm> {
    let mut realms = Vec::new();
    for environment in Environment::ALL {
        for account in ["acme", "rival"] {
            let integrator = service.integrator_of(account, environment).await;
            for domain in ["shop.test", "bank.test"] {
                hosts(&integrator, domain).await;
                let (passkey, done) = signs_up(&integrator, browser, domain).await;
                realms.push(Realm { integrator: integrator.clone(), domain, passkey, user: done["user"].clone() });
            }
        }
    }
    assert_eq!(realms.len(), 8);
    realms
}

#[tokio::test]
async fn passkey_logs_in_at_one_realm_only() {
    let service = service().await;
    let mut browser = browser(&service);
    let mut realms = realms(&service, &mut browser).await;
    for ours in 0..realms.len() {
        for theirs in 0..realms.len() {
            let Realm { integrator, domain, .. } = &realms[ours];
            let (integrator, domain, user) = (integrator.clone(), *domain, realms[ours].user.clone());
            let session = arrives(&integrator, &mut browser, domain).await;
            let other = &mut realms[theirs];
            let reply = browser.uses(&session, &mut other.passkey).await;
            let page = page_of(&service, &session).await;
            if ours == theirs {
                assert_eq!(reply, (200, json!({})));
                let done = browser.returns(&integrator, &session).await.with(200);
                assert_eq!(done["user"]["id"], user["id"]);
                continue;
            }
            assert!(!page.is_answered(), "{ours} {theirs}");
            assert!(reply.1.get("signal").is_none(), "a device that forgot it would lose an account: {reply:?}");
            if other.domain == domain {
                assert_eq!((reply.0, &reply.1["reason"]), (404, &json!("unknown_passkey")), "{ours} {theirs}");
                assert_eq!(reason(&page), Some(NoticeReason::UnknownPasskey));
            } else {
                assert_eq!((reply.0, &reply.1["reason"]), (409, &json!("other_site")), "{ours} {theirs}");
                assert!(text(&reply.1, "message").contains(other.domain), "{reply:?}");
                let named = DomainName::parse(other.domain).expect("a domain");
                assert_eq!(reason(&page), Some(NoticeReason::OtherSite { domain: named }));
            }
        }
        service.passes(SignedDuration::from_secs(1));
    }
}

#[tokio::test]
async fn forged_answer_does_not_reveal_the_owner() {
    let service = service().await;
    let mut browser = browser(&service);
    let mut realms = realms(&service, &mut browser).await;
    let (shop, bank) = realms.split_at_mut(1);
    let (shop, bank) = (&mut shop[0], &mut bank[0]);
    let session = arrives(&bank.integrator, &mut browser, bank.domain).await;
    let asked = browser.asked(&session, "get").await;
    // The credential ID of another user, with another key.
    let id = shop.passkey.get(&asked, &browser.origin, &[])["id"].clone();
    let mut forged = bank.passkey.get(&asked, &browser.origin, &[]);
    (forged["id"], forged["rawId"]) = (id.clone(), id);
    let replies = [
        browser.brings(&session, &forged).await,
        browser.brings(&session, &shop.passkey.get(&asked, "https://evil.test", &[])).await,
        browser.brings(&session, &shop.passkey.get(&asked, &browser.origin, &[Lie::Challenge([1; 32])])).await,
    ];
    for reply in replies {
        assert_eq!((reply.0, &reply.1["reason"]), (422, &json!("not_accepted")), "{reply:?}");
        assert!(!reply.1.to_string().contains("shop.test"), "{reply:?}");
        assert_eq!(reason(&page_of(&service, &session).await), Some(NoticeReason::PasskeyRefused));
    }
}
