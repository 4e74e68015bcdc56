//! Tests the endpoint that the page polls (specification, §4), and its binding to the browser of the page (RFC 10027).

use anyhow::Result;
use serde_json::json;
use signpost_auth::receiver::is_local_path;
use signpost_auth::{Mode, Wallet};

use super::{FakeBrowser, FetchedPage, Kit};

const RETURNS_REDIRECT: &str = "after the login the poll returns authenticated and a redirect";
const LOCAL_REDIRECT: &str = "the redirect is a path of the same site";
const NEW_SESSION: &str = "the login gives the browser a new session";
const OTHER_BROWSER_PENDING: &str = "another browser that knows the sid stays pending";
const CROSS_SITE_PENDING: &str = "a poll from a page of another site stays pending";
const NO_OPEN_REDIRECT: &str = "a return_url to another site is not followed";

pub(super) async fn run(kit: &mut Kit, user: Option<&Wallet>) -> Result<()> {
    let poll = kit.endpoints.poll.clone();
    let reply = kit.send(reqwest::Method::GET, &poll, &mut FakeBrowser::default(), None).await?;
    kit.report.expect_refusal("a poll without sid is 400", 400, &reply);
    let reply = kit.poll_as("sess_000000000000000000000000000000000000", &mut FakeBrowser::default()).await?;
    kit.report.expect_status_word("a poll with an unknown sid is 404 not_found", 404, "not_found", &reply);
    let mut page = kit.open(Mode::Login).await?;
    let reply = kit.poll(&mut page).await?;
    kit.report.expect_status_word("a poll before the answer is 200 pending", 200, "pending", &reply);
    let Some(wallet) = user else {
        for rule in
            [OTHER_BROWSER_PENDING, CROSS_SITE_PENDING, RETURNS_REDIRECT, LOCAL_REDIRECT, NEW_SESSION, NO_OPEN_REDIRECT]
        {
            kit.report.not_tested(rule, "no registration succeeded");
        }
        return Ok(());
    };
    answered(kit, &mut page, wallet).await?;
    return_urls(kit, wallet).await
}

async fn answered(kit: &mut Kit, page: &mut FetchedPage, wallet: &Wallet) -> Result<()> {
    let answer = json!(wallet.answer(page.qr.challenge(), kit.now(), None));
    kit.post_answer(page.qr.webhook(), &answer).await?;
    // Other browsers poll before the login is completed: afterwards the result would be inconclusive.
    let reply = kit.poll_as(&page.sid, &mut FakeBrowser::default()).await?;
    kit.report.expect_status_word(OTHER_BROWSER_PENDING, 200, "pending", &reply);
    let reply = kit.poll_as(&page.sid, &mut page.browser.clone().cross_site()).await?;
    kit.report.expect_status_word(CROSS_SITE_PENDING, 200, "pending", &reply);
    let before = page.browser.cookies();
    let reply = kit.poll(page).await?;
    kit.report.expect_status_word(RETURNS_REDIRECT, 200, "authenticated", &reply);
    let redirect = reply.json()["redirect"].as_str().unwrap_or_default().to_owned();
    kit.report.note(LOCAL_REDIRECT, is_local_path(&redirect), "a path such as /account", reply.describe());
    let after = page.browser.cookies();
    let has_changed = after != before;
    let got = if has_changed { "a new cookie" } else { "the same cookies" };
    kit.report.note(NEW_SESSION, has_changed && after.is_some(), "a Set-Cookie with a session of its own", got);
    Ok(())
}

/// Tests that the site does not redirect to another site in `return_url`.
async fn return_urls(kit: &mut Kit, wallet: &Wallet) -> Result<()> {
    for evil in ["https://elsewhere.example/", "//elsewhere.example/", "/\\elsewhere.example/"] {
        let mut start = kit.endpoints.start.clone();
        start.query_pairs_mut().append_pair("return_url", evil);
        // A page may also reject such an address.
        let Ok(mut page) = kit.open_at(start).await else { continue };
        let answer = json!(wallet.answer(page.qr.challenge(), kit.now(), None));
        kit.post_answer(page.qr.webhook(), &answer).await?;
        let reply = kit.poll(&mut page).await?;
        let redirect = reply.json()["redirect"].as_str().unwrap_or("/").to_owned();
        if !is_local_path(&redirect) {
            kit.report.note(NO_OPEN_REDIRECT, false, "a path of the same site", reply.describe());
            return Ok(());
        }
    }
    kit.report.note(NO_OPEN_REDIRECT, true, "a path of the same site", "a path");
    Ok(())
}
