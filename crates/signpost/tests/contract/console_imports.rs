//! File uploads of operators (docs/console.md, Imports): compared first, imported after confirmation.

use std::fmt::Write as _;

use jiff::SignedDuration;
use reqwest::header::{CONTENT_TYPE, ORIGIN};
use reqwest::{Method, RequestBuilder};
use signpost::console::operators;
use signpost_platform::accounts::audit::Actor;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::console::{operator, operator_by, post_form};
use crate::console_forms::{audit_page, service};
use crate::harness::{Browser, Phone, Service, ShownPage, until};

/// Uploads a file as a browser does.
pub(crate) async fn upload_file(browser: &mut Browser, token: &str, source: &str, file: &str) -> ShownPage {
    let part =
        |name: &str, value: &str| format!("--b\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
    let file =
        format!("--b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"my.csv\"\r\n\r\n{file}\r\n--b--\r\n");
    let body = [part("token", token), part("source", source), part("attribution", ""), file].concat();
    let request = browser.request(Method::POST, "/console/machines/import").header(ORIGIN, browser.origin.clone());
    browser.send(request.header(CONTENT_TYPE, "multipart/form-data; boundary=b").body(body)).await
}

pub(crate) fn token_of(shown: &ShownPage, action: &str) -> String {
    let form = shown.html.split("<form").find(|form| form.contains(&format!("action=\"{action}\""))).expect("a form");
    form.split_once("name=\"token\" value=\"").expect("a token").1.split('"').next().expect("an end").to_owned()
}

/// A tag without its end is text. Complete tags are removed.
const FILE: &str =
    "name,lat,lon\n<script alert(1),44.95,-93.1\n<b>Second</b>,44.96,-93.2\nNowhere,<script>alert(2)</script>,y";

#[tokio::test]
async fn file_is_compared_then_imported() {
    let service = service().await;
    let mut browser = operator(&service).await;
    let asked = browser.visit("/console/machines/import").await;
    let token = token_of(&asked, "/console/machines/import");
    let machines = || service.app.atm.catalogue.snapshot();
    let compared = upload_file(&mut browser, &token, "mine", FILE).await;
    for expected in ["What would change", "1 row is skipped", "mine"] {
        assert!(compared.html.contains(expected), "{expected}: {}", compared.html);
    }
    assert!(!compared.html.contains("<script>alert"), "{}", compared.html);
    assert!(machines().is_sample(), "nothing has changed");
    let upload = compared.between("name=\"upload\" value=\"", "\"").to_owned();
    let apply = "/console/machines/import/apply";
    let done = post_form(&mut browser, &compared, apply, &format!("&upload={upload}")).await;
    assert!(done.html.contains("2 added"), "{}", done.html);
    until("it is served", async || {
        service.advance_clock(SignedDuration::from_secs(1));
        (machines().len() == 2).then_some(())
    })
    .await;
    let listed = browser.visit("/console/machines?q=script").await;
    assert!(listed.html.contains("&lt;script alert(1)") && !listed.html.contains("<script alert"), "{}", listed.html);
    let log = audit_page(&mut browser, "atms.imported").await;
    assert!(log.contains("operator:usr_") && log.contains("&quot;added&quot;:2"), "{log}");
    // An imported upload is deleted.
    let again = post_form(&mut browser, &compared, apply, &format!("&upload={upload}")).await;
    assert!(again.status == 422 && again.html.contains("not here any more"), "{}", again.html);
}

#[tokio::test]
async fn comparison_shows_suggestions() {
    let service = service().await;
    let mut browser = operator(&service).await;
    let asked = browser.visit("/console/machines/import").await;
    let token = token_of(&asked, "/console/machines/import");
    let file = "name,lat,lon,category,visited\nA,44.95,-93.1,ATM,2026-11-01\nB,44.96,-93.2,<b>cafe</b>,2026-11-02\n";
    let compared = upload_file(&mut browser, &token, "mine", file).await;
    for expected in [
        "Columns that are not read: category, visited.",
        "1 of 2 rows have category=ATM; to import only these: --where category=ATM",
        "columns with dates that are not used: visited; if they date the records, map one, such as --map verified_at=visited",
    ] {
        assert!(compared.html.contains(expected), "{expected}: {}", compared.html);
    }
    // A file without coordinates names its columns.
    let refused = upload_file(&mut browser, &token, "mine", "name,where\nA,here\n").await;
    assert!(refused.html.contains("the columns are: name, where"), "{}", refused.html);
}

#[tokio::test]
async fn invalid_uploads_change_nothing() {
    let service = service().await;
    let mut browser = operator(&service).await;
    let asked = browser.visit("/console/machines/import").await;
    let token = token_of(&asked, "/console/machines/import");
    upload_file(&mut browser, "x", "mine", FILE).await.is(403, "stale");
    for (source, file, expected) in [
        ("mine", "", "was not imported"),
        ("mine", "\u{0}\u{1}", "was not imported"),
        ("sample", FILE, "a name of 1 to 64 characters"),
    ] {
        let refused = upload_file(&mut browser, &token, source, file).await;
        assert!(refused.status == 422 && refused.html.contains(expected), "{source}: {}", refused.html);
    }
    let cut = format!(
        "--b\r\ncontent-disposition: form-data; name=\"token\"\r\n\r\n{token}\r\n--b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nname,lat"
    );
    let request = browser.request(Method::POST, "/console/machines/import").header(ORIGIN, browser.origin.clone());
    let refused = browser.send(request.header(CONTENT_TYPE, "multipart/form-data; boundary=b").body(cut)).await;
    assert!(refused.status == 422 && refused.html.contains("ended early"), "{}", refused.html);
    // A comparison expires after 30 minutes.
    let compared = upload_file(&mut browser, &token, "mine", FILE).await;
    let upload = compared.between("name=\"upload\" value=\"", "\"").to_owned();
    service.advance_clock(SignedDuration::from_mins(31));
    let late = post_form(&mut browser, &compared, "/console/machines/import/apply", &format!("&upload={upload}")).await;
    assert!(late.status == 422 && late.html.contains("not here any more"), "{}", late.html);
    assert!(service.app.atm.catalogue.snapshot().is_sample());
}

/// Checks that an upload left no trace: the sample ATMs are still served and the audit log has no import.
async fn assert_nothing_changed(service: &Service, browser: &mut Browser) {
    assert!(service.app.atm.catalogue.snapshot().is_sample());
    assert!(!audit_page(browser, "atms.imported").await.contains("operator:usr_"));
}

/// Returns the start of a multipart form, up to the file content.
fn head(token: &str) -> String {
    let part = |name: &str| format!("--b\r\ncontent-disposition: form-data; name=\"{name}\"");
    format!("{}\r\n\r\n{token}\r\n{}; filename=\"a.csv\"\r\n\r\nname,lat,lon\n", part("token"), part("file"))
}

fn posting(browser: &Browser) -> RequestBuilder {
    let request = browser.request(Method::POST, "/console/machines/import").header(ORIGIN, browser.origin.clone());
    request.header(CONTENT_TYPE, "multipart/form-data; boundary=b")
}

#[tokio::test]
async fn interrupted_upload_changes_nothing() {
    let service = service().await;
    let mut browser = operator(&service).await;
    let asked = browser.visit("/console/machines/import").await;
    let token = token_of(&asked, "/console/machines/import");
    let request = posting(&browser).build().expect("a request");
    let host = browser.origin.split_once("://").expect("an origin").1;
    let mut text = format!("POST /console/machines/import HTTP/1.1\r\nhost: {host}\r\ncontent-length: {}\r\n", 1 << 30);
    for (name, value) in request.headers() {
        write!(text, "{name}: {}\r\n", value.to_str().expect("a text")).expect("writing to a String cannot fail");
    }
    write!(text, "\r\n{}", head(&token)).expect("writing to a String cannot fail");
    let filler = vec![b'x'; 1 << 20];
    let mut line = TcpStream::connect(service.app.listen).await.expect("a server");
    line.write_all(text.as_bytes()).await.expect("a write");
    for _ in 0..20 {
        line.write_all(&filler).await.expect("a write");
    }
    drop(line);
    assert_nothing_changed(&service, &mut browser).await;
    // The next upload succeeds.
    let compared = upload_file(&mut browser, &token, "mine", FILE).await;
    assert!(compared.html.contains("What would change"), "{}", compared.html);
}

#[tokio::test]
async fn upload_of_a_removed_operator_is_rejected() {
    const USED: &str = "SELECT MAX(last_used_at) FROM browser_sessions";
    let service = service().await;
    let mut browser = operator(&service).await;
    let asked = browser.visit("/console/machines/import").await;
    let token = token_of(&asked, "/console/machines/import");
    service.advance_clock(SignedDuration::from_mins(10));
    let (store, now) = (&service.app.store, service.clock.now());
    let request = posting(&browser).build().expect("a request");
    let host = browser.origin.split_once("://").expect("an origin").1;
    let (begins, ends) = (head(&token), "One,44.95,-93.1\r\n--b--\r\n");
    let length = begins.len() + ends.len();
    let mut text = format!("POST /console/machines/import HTTP/1.1\r\nhost: {host}\r\ncontent-length: {length}\r\n");
    for (name, value) in request.headers() {
        write!(text, "{name}: {}\r\n", value.to_str().expect("a text")).expect("writing to a String cannot fail");
    }
    write!(text, "connection: close\r\n\r\n{begins}").expect("writing to a String cannot fail");
    let mut line = TcpStream::connect(service.app.listen).await.expect("a server");
    line.write_all(text.as_bytes()).await.expect("a write");
    until("the form is accepted", async || {
        let used = store.read_one(USED, Vec::new()).await.expect("a database").expect("a row");
        (used.time(0).expect("a time") == now).then_some(())
    })
    .await;
    let all = operators::list(store).await.expect("a database");
    operators::remove(store, &all[0].user_id, &Actor::Operator, now).await.expect("an operator");
    line.write_all(ends.as_bytes()).await.expect("a write");
    let mut reply = String::new();
    line.read_to_string(&mut reply).await.expect("a reply");
    assert!(reply.starts_with("HTTP/1.1 403") && reply.contains("data-state=\"no-operator\""), "{reply}");
}

#[tokio::test]
async fn upload_rejects_a_large_file() {
    let service = service().await;
    let mut browser = operator(&service).await;
    let asked = browser.visit("/console/machines/import").await;
    // A few bytes above the limit, so that the server reads the whole body before it answers.
    let mut body = head(&token_of(&asked, "/console/machines/import")).into_bytes();
    body.resize(body.len() + (128 << 20), b'x');
    body.extend(b"\r\n--b--\r\n");
    let large = posting(&browser).body(body);
    let refused = browser.send(large).await;
    assert!(refused.status == 422 && refused.html.contains("The file is larger than 128 MB."), "{}", refused.html);
    assert_nothing_changed(&service, &mut browser).await;
}

#[tokio::test]
async fn upload_reports_a_read_only_data_folder() {
    // A directory without write access.
    let service = Service::with(&[("services", "atm,auth"), ("data_dir", "/proc")]).await;
    let mut browser = operator(&service).await;
    let asked = browser.visit("/console/machines/import").await;
    let token = token_of(&asked, "/console/machines/import");
    let refused = upload_file(&mut browser, &token, "mine", FILE).await;
    assert!(refused.status == 422 && refused.html.contains("cannot write to its data folder"), "{}", refused.html);
    assert_nothing_changed(&service, &mut browser).await;
}

#[tokio::test]
async fn newer_upload_replaces_the_older_one() {
    let service = service().await;
    let mut first = operator(&service).await;
    let mut second = operator_by(&service, &Phone::of(8, &service.clock)).await;
    let token = |shown: &ShownPage| token_of(shown, "/console/machines/import");
    let asked = first.visit("/console/machines/import").await;
    let mine = upload_file(&mut first, &token(&asked), "mine", FILE).await;
    let asked = second.visit("/console/machines/import").await;
    let other = upload_file(&mut second, &token(&asked), "theirs", FILE).await;
    let apply = "/console/machines/import/apply";
    let upload = |shown: &ShownPage| format!("&upload={}", shown.between("name=\"upload\" value=\"", "\""));
    let late = post_form(&mut first, &mine, apply, &upload(&mine)).await;
    assert!(late.status == 422 && late.html.contains("another one took its place"), "{}", late.html);
    let done = post_form(&mut second, &other, apply, &upload(&other)).await;
    assert!(done.html.contains("2 added"), "{}", done.html);
}
