//! Links from an operator that let a user add a key (docs/account.md). A link is claimed only with its secret, which is
//! in the fragment, and never by a program that previews the link.

use reqwest::Method;
use reqwest::header::{ACCEPT, SET_COOKIE};
use serde_json::{Value, json};
use signpost_login::flows::account_sessions::{AccountSessionPurpose, create_key_link};
use signpost_login::ids::{DomainId, UserId};

use crate::account::signed_in;
use crate::account_keys::{claim_link, post_claim};
use crate::harness::{Browser, Service, page_path, text};

const HTML: &str = "text/html,application/xhtml+xml,*/*;q=0.8";

/// Creates a link for the user of `shop.test`, as the command line does.
async fn create_link(service: &Service) -> Value {
    let (integrator, _, account) = signed_in(service).await;
    let id = account.rsplit('/').next().expect("an ID");
    let users = integrator.get(&format!("/domains/{id}/users")).await.with(200);
    let user = UserId::parse(text(&users["users"][0], "id")).expect("an ID");
    let (store, address) = (&service.app.store, &service.app.public_address);
    let domain = DomainId::parse(id).expect("an ID");
    let found = signpost_login::domains::sql::find_in_any_account(store, &domain).await.expect("a database");
    let domain = found.expect("a domain");
    let link = create_key_link(store, &domain, AccountSessionPurpose::AddKey(user), address, service.clock.now()).await;
    json!({ "page_url": link.expect("a link").page_url })
}

fn secret_of(link: &Value) -> &str {
    text(link, "page_url").rsplit_once('#').expect("a secret in the fragment").1
}

#[tokio::test]
async fn link_preview_does_not_claim_the_page() {
    let service = Service::start().await;
    let link = create_link(&service).await;
    let path = page_path(&link);
    assert!(!path.contains(secret_of(&link)), "{path}");
    let mut bot = Browser::at(&service);
    for accept in ["*/*", HTML, ""] {
        for method in [Method::HEAD, Method::GET] {
            let request = bot.request(method, &path).header(ACCEPT, accept);
            let seen = bot.send(request).await;
            assert_eq!((seen.status, seen.headers.get(SET_COOKIE)), (200, None), "{accept}");
        }
    }
    // A bot with the whole link that does not accept HTML claims nothing either.
    let asked = bot.visit(&path).await;
    for accept in ["*/*", "application/json", "text/html;q=0"] {
        let refused = post_claim(&mut bot, &asked, secret_of(&link), accept).await;
        assert!(refused.is(403, "claim-refused").headers.get(SET_COOKIE).is_none(), "{accept}");
    }
    claim_link(&mut Browser::at(&service), &link).await.is(200, "waiting");
}

#[tokio::test]
async fn link_secret_claims_the_page_for_one_browser() {
    let service = Service::start().await;
    let link = create_link(&service).await;
    let (path, whole) = (page_path(&link), text(&link, "page_url"));
    let (mut person, mut thief) = (Browser::at(&service), Browser::at(&service));
    let asked = thief.visit(&path).await;
    for wrong in ["", "x", &path, &"A".repeat(43)] {
        post_claim(&mut thief, &asked, wrong, HTML).await.is(403, "claim-refused");
    }
    // Without JavaScript the user pastes the whole link.
    let page = post_claim(&mut person, &asked, whole, HTML).await;
    person.follow_redirect(page).await.is(200, "waiting");
    person.visit(&path).await.is(200, "waiting");
    post_claim(&mut thief, &asked, secret_of(&link), HTML).await.is(403, "other");
    thief.visit(&path).await.is(403, "other");
    let again = post_claim(&mut person, &asked, secret_of(&link), HTML).await;
    person.follow_redirect(again).await.is(200, "waiting");
}

#[tokio::test]
async fn link_without_a_secret_shows_instructions() {
    const FORGET: &str = "UPDATE sessions SET claim_secret = NULL WHERE link_user IS NOT NULL";
    let service = Service::start().await;
    let link = create_link(&service).await;
    let mut person = Browser::at(&service);
    let asked = person.visit(&page_path(&link)).await;
    for expected in ["Add a key to your account", "everything after the #", "<noscript>"] {
        assert!(asked.is(200, "claim").html.contains(expected), "{expected}: {}", asked.html);
    }
    // If no secret is stored, no secret is accepted.
    service.app.store.write([signpost_store::Statement::new(FORGET, Vec::new())]).await.expect("a database");
    // On PostgreSQL, the server drops its copy of the row only when it is notified.
    service.app.login.sessions.invalidate_all();
    let old = person.visit(&page_path(&link)).await;
    let refused = post_claim(&mut person, old.is(200, "claim"), secret_of(&link), HTML).await;
    assert!(refused.is(403, "claim-refused").html.contains("ask for a new one"), "{}", refused.html);
}
