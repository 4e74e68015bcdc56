//! Addition and removal of keys, on the account page and by the operator (docs/account.md).

use reqwest::Method;
use serde_json::{Value, json};
use signpost_platform::clock::Clock;

use crate::account::{account_of, keys_on, log_in, scan_and_answer, signed_in};
use crate::account_guards::{create_account, new_browser, start_with_domain};
use crate::harness::{Browser, Integrator, Phone, Program, Service, ShownPage, page_path, text};
use crate::page_flow::{SECRET, complete_session};

/// Adds the key of another phone on the account page, confirms it and returns to the account.
pub(crate) async fn add_key(integrator: &Integrator, browser: &mut Browser, account: &str, phone: &Phone) -> ShownPage {
    let shown = browser.visit(account).await;
    let page = browser.submit(&shown, "add", "").await;
    page.is(200, "waiting");
    assert_eq!(scan_and_answer(integrator, phone, &page).await, 200);
    confirm_key(browser, &page).await
}

/// Confirms the key on the page of a link and returns to the account.
pub(crate) async fn confirm_key(browser: &mut Browser, page: &ShownPage) -> ShownPage {
    let cancel = page.form("cancel").0;
    let path = cancel.split("/cancel").next().expect("a path");
    let asked = browser.visit(path).await;
    let key = asked.is(200, "link").between("name=\"key\" value=\"", "\"");
    let done = browser.submit(&asked, "confirm-link", &format!("&answer=yes&key={key}")).await;
    let back = done.is(200, "done").link("continue");
    browser.follow(&format!("{}?{}", back.path(), back.query().expect("a code"))).await
}

/// Opens an operator's link, like the script of its page.
pub(crate) async fn claim_link(browser: &mut Browser, link: &Value) -> ShownPage {
    let (page, secret) = text(link, "page_url").rsplit_once('#').expect("a secret in the fragment");
    let asked = browser.visit(&page_path(&json!({ "page_url": page }))).await;
    let claimed = post_claim(browser, asked.is(200, "claim"), secret, "text/html,*/*;q=0.8").await;
    browser.follow_redirect(claimed).await
}

/// Posts a link to the claim form.
pub(crate) async fn post_claim(browser: &mut Browser, asked: &ShownPage, link: &str, accept: &str) -> ShownPage {
    let form = asked.between("<form id=\"claim\"", ">");
    let action = form.split_once("action=\"").expect("an action").1.split('"').next().expect("an end");
    let body = url::form_urlencoded::Serializer::new(String::new()).append_pair("link", link).finish();
    let request = browser.request(Method::POST, &action.replace("&amp;", "&")).header("origin", &browser.origin);
    let request = request.header("content-type", "application/x-www-form-urlencoded").header("accept", accept);
    browser.send(request.body(body)).await
}

#[tokio::test]
async fn second_key_is_added_and_first_removed() {
    let service = Service::start().await;
    let (integrator, mut browser, account) = signed_in(&service).await;
    let second = Phone::of(8, &service.clock);
    let added = add_key(&integrator, &mut browser, &account, &second).await;
    assert!(added.is(200, "account").html.contains("The key is added."), "{}", added.html);
    let [first_key, second_key] = &*keys_on(&added) else { panic!("{}", added.html) };
    let mut elsewhere = Browser::at(&service);
    log_in(&integrator, &mut elsewhere, &second, "shop.test").await;
    let mut same_key = Browser::at(&service);
    log_in(&integrator, &mut same_key, &service.phone(), "shop.test").await;

    let asked = browser.submit(&added, &format!("remove-{first_key}"), &format!("&credential={first_key}")).await;
    assert!(asked.is(200, "remove").html.contains("You are signed in with it yourself"), "{}", asked.html);
    assert_eq!(keys_on(&browser.visit(&account).await).len(), 2, "nothing happens before the answer");
    // The confirmation is valid only for the key in the question.
    let other = browser.submit(&asked, "remove", &format!("&credential={second_key}")).await;
    other.is(403, "stale");
    let removed = browser.submit(&asked, "remove", &format!("&credential={first_key}")).await;
    assert!(removed.is(200, "removed").html.contains("Log in with another key."), "{}", removed.html);
    for gone in [&mut browser, &mut same_key] {
        gone.visit(&account).await.is(200, "signed-out");
    }
    let shown = elsewhere.visit(&account).await;
    assert_eq!(keys_on(shown.is(200, "account")), std::slice::from_ref(second_key));
    let form = format!("remove-{second_key}");
    assert!(!shown.html.contains(&form) && shown.html.contains("Your only key stays"), "{}", shown.html);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operator_restores_access_after_key_loss() {
    let folder = tempfile::tempdir().expect("a folder");
    let (server, integrator, domain, phone) = start_with_domain(folder.path()).await;
    let mut browser = new_browser(&server);
    let (session, code) = create_account(&integrator, &mut browser, &phone).await;
    let done = complete_session(&integrator, &session, &code, Some(SECRET)).await.with(200);
    let user = text(&done["user"], "id").to_owned();
    let command = async |arguments: &[&str]| {
        let of = ["--domain", "shop.test", "--json"];
        let arguments = [&["users"], arguments, &of[..]].concat();
        Program::within(folder.path(), &arguments).run_async().await
    };
    let listed = command(&["list"]).await.json();
    assert_eq!((listed["users"][0]["id"].as_str(), listed["users"].as_array().map(Vec::len)), (Some(&*user), Some(1)));
    assert_eq!(command(&["show", &phone.public_key()]).await.json(), listed["users"][0]);
    let lost = listed["users"][0]["credentials"][0]["id"].as_str().expect("an id").to_owned();
    let kept = command(&["credentials", "remove", &user, &lost]).await;
    assert!(kept.failed(1).contains("only credential"));

    let link = command(&["credentials", "link", &user]).await.json();
    let path = page_path(&link);
    let (mut person, mut thief) = (new_browser(&server), new_browser(&server));
    let page = claim_link(&mut person, &link).await;
    page.is(200, "waiting");
    thief.visit(&path).await.is(403, "other");
    let new = Phone::of(8, &Clock::System);
    assert_eq!(scan_and_answer(&integrator, &new, &page).await, 200);
    let back = confirm_key(&mut person, &page).await;
    back.is(200, "signed-out");
    person.visit(&path).await.is(200, "done");
    command(&["credentials", "remove", &user, &lost]).await.json();
    browser.visit(&account_of(&domain)).await.is(200, "signed-out");
    log_in(&integrator, &mut person, &new, "shop.test").await;
    let shown = person.visit(&account_of(&domain)).await;
    let [key] = &*keys_on(shown.is(200, "account")) else { panic!("{}", shown.html) };
    let renamed = command(&["credentials", "rename", &user, key, "New phone"]).await.json();
    assert_eq!(renamed["name"], "New phone");
    let spare = Phone::of(9, &Clock::System).public_key();
    command(&["credentials", "add", &user, &spare, "--name", "Spare"]).await.json();
    assert!(command(&["credentials", "add", &user, &spare]).await.failed(1).contains("already has this key"));
    assert!(command(&["credentials", "add", &user, "02"]).await.failed(2).contains("KEY"));
    let names = command(&["credentials", "list", &user]).await.json();
    let names: Vec<_> =
        names["credentials"].as_array().expect("a list").iter().map(|own| own["name"].clone()).collect();
    assert_eq!(names, ["New phone", "Spare"]);
    let log = Program::within(folder.path(), &["audit", "list", "--json"]).run_async().await.json();
    let actions: Vec<_> = log["entries"].as_array().expect("entries").iter().map(|one| one["action"].clone()).collect();
    for action in ["credential.added", "credential.renamed", "credential.deleted"] {
        assert!(actions.contains(&json!(action)), "{action}: {actions:?}");
    }
}
