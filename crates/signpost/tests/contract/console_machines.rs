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
    assert_eq!(of(&browser.goes_to("/console/machines").await.html), "<td>1</td><td>0</td>");
    let more = format!("{FILE}\nSecond,9 Oak St,Duluth,MN,46.78,-92.1");
    imports(&service, &mut browser, "one", &more, 2).await;
    assert_eq!(of(&browser.goes_to("/console/machines").await.html), "<td>2</td><td>0</td>");
    let found = browser.goes_to("/console/machines?q=OAK").await.html;
    assert!(found.contains("1 machine") && found.contains("Second"), "{found}");
}
