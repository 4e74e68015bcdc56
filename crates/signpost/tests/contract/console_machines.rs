//! Machines at the console (docs/console.md): how they are found, kept apart and merged again.

use jiff::SignedDuration;

use crate::console::{operator, posts};
use crate::console_deeds::{service, told};
use crate::console_imports::{token_of, uploads};
use crate::harness::{Browser, Service, until};

async fn imports(service: &Service, browser: &mut Browser, source: &str, file: &str, machines: usize) {
    let asked = browser.goes_to("/console/machines/import").await;
    let compared = uploads(browser, &token_of(&asked, "/console/machines/import"), source, file).await;
    let upload = format!("&upload={}", compared.between("name=\"upload\" value=\"", "\""));
    let done = posts(browser, &compared, "/console/machines/import/apply", &upload).await;
    assert!(done.html.contains("The file is imported."), "{}", done.html);
    are_there(service, machines).await;
}

async fn are_there(service: &Service, machines: usize) {
    until("they are served", async || {
        service.passes(SignedDuration::from_secs(1));
        let snapshot = service.app.atm.catalogue.snapshot();
        (!snapshot.is_sample() && snapshot.len() == machines).then_some(())
    })
    .await;
}

const FILE: &str = "name,address,city,state,lat,lon\nCorner Store,1 Main St,Saint Paul,MN,44.95,-93.1";

#[tokio::test]
async fn two_records_of_one_machine_are_kept_apart_and_merged_again() {
    let service = service().await;
    let mut browser = operator(&service).await;
    imports(&service, &mut browser, "one", FILE, 1).await;
    imports(&service, &mut browser, "two", FILE, 1).await;
    let sources = browser.goes_to("/console/machines").await.html;
    assert!(sources.contains("one") && sources.contains("two"), "{sources}");
    let id = until("both sources say it", async || {
        service.passes(SignedDuration::from_secs(1));
        let snapshot = service.app.atm.catalogue.snapshot();
        let machine = &snapshot.entries()[0].machine;
        (machine.claims.len() == 2).then_some(machine.id)
    })
    .await;
    let machine = browser.goes_to(&format!("/console/machines/{id}")).await;
    assert_eq!(posts(&mut browser, &machine, &format!("/console/machines/{id}/split"), "").await.status, 303);
    are_there(&service, 2).await;
    let apart = browser.goes_to(&format!("/console/machines/{id}")).await;
    assert_eq!(posts(&mut browser, &apart, &format!("/console/machines/{id}/join"), "").await.status, 303);
    let log = told(&mut browser, "atm.joined").await;
    assert!(log.contains("operator:usr_"), "{log}");
    assert!(told(&mut browser, "atm.split").await.contains("operator:usr_"));
}

#[tokio::test]
async fn the_machines_of_a_source_are_counted_anew_after_an_import() {
    let service = service().await;
    let mut browser = operator(&service).await;
    imports(&service, &mut browser, "one", FILE, 1).await;
    let of = |html: &str| {
        html.split("<td>one</td>").nth(1).expect("the source").split("</tr>").next().expect("a row").to_owned()
    };
    assert!(of(&browser.goes_to("/console/machines").await.html).starts_with("<td>1</td><td>0</td>"));
    let more = format!("{FILE}\nSecond,9 Oak St,Duluth,MN,46.78,-92.1");
    imports(&service, &mut browser, "one", &more, 2).await;
    assert!(of(&browser.goes_to("/console/machines").await.html).starts_with("<td>2</td><td>0</td>"));
    let found = browser.goes_to("/console/machines?q=OAK").await.html;
    assert!(found.contains("1 machine") && found.contains("Second"), "{found}");
}

#[tokio::test]
async fn a_source_is_forgotten_by_who_logged_in_a_moment_ago_and_says_so_twice() {
    let service = service().await;
    let mut browser = operator(&service).await;
    imports(&service, &mut browser, "one", FILE, 1).await;
    let machines = browser.goes_to("/console/machines").await;
    let forget = "/console/machines/forget?source=one";
    let question = posts(&mut browser, &machines, forget, "").await;
    assert!(question.html.contains("Forget one?") && question.html.contains("Its 1 machines go"), "{}", question.html);
    are_there(&service, 1).await;
    assert_eq!(posts(&mut browser, &question, forget, "").await.status, 303);
    are_there(&service, 0).await;
    let log = told(&mut browser, "atms.forgotten").await;
    assert!(log.contains("operator:usr_") && log.contains("one"), "{log}");
    imports(&service, &mut browser, "two", FILE, 1).await;
    let machines = browser.goes_to("/console/machines").await;
    service.passes(SignedDuration::from_mins(6));
    let late = posts(&mut browser, &machines, "/console/machines/forget?source=two", "").await;
    assert_eq!(late.status, 403, "{}", late.html);
    are_there(&service, 1).await;
}

#[tokio::test]
async fn machines_that_may_be_wrong_are_named_today_and_listed() {
    let service = service().await;
    let mut browser = operator(&service).await;
    let file = format!("{FILE}\n<b>Lost</b>,2 Main St,Saint Paul,MN,30.27,-97.74");
    imports(&service, &mut browser, "one", &file, 2).await;
    until("they were checked", async || {
        let today = browser.goes_to("/console").await.html;
        today.contains("1 machine may be wrong").then_some(())
    })
    .await;
    let listed = browser.goes_to("/console/machines").await.html;
    let doubts = listed.split("id=\"doubts\"").nth(1).expect("a panel").split("</section>").next().expect("its end");
    assert!(doubts.contains("not in the state or province of its address"), "{doubts}");
    assert!(doubts.contains("&lt;b&gt;Lost") && !doubts.contains("Corner Store"), "{doubts}");
}
