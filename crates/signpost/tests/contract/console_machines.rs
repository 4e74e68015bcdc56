//! ATMs in the console (docs/console.md): search, splitting and merging.

use jiff::SignedDuration;

use crate::console::{operator, post_form};
use crate::console_forms::{audit_page, service};
use crate::console_imports::{token_of, upload_file};
use crate::harness::{Browser, Service, until};

async fn import_file(service: &Service, browser: &mut Browser, source: &str, file: &str, machines: usize) {
    let asked = browser.visit("/console/machines/import").await;
    let compared = upload_file(browser, &token_of(&asked, "/console/machines/import"), source, file).await;
    let upload = format!("&upload={}", compared.between("name=\"upload\" value=\"", "\""));
    let done = post_form(browser, &compared, "/console/machines/import/apply", &upload).await;
    assert!(done.html.contains("The file is imported."), "{}", done.html);
    wait_for_count(service, machines).await;
}

async fn wait_for_count(service: &Service, machines: usize) {
    until("they are served", async || {
        service.advance_clock(SignedDuration::from_secs(1));
        let snapshot = service.app.atm.catalogue.snapshot();
        (!snapshot.is_sample() && snapshot.len() == machines).then_some(())
    })
    .await;
}

const FILE: &str = "name,address,city,state,lat,lon\nCorner Store,1 Main St,Saint Paul,MN,44.95,-93.1";

#[tokio::test]
async fn records_of_one_atm_are_split_and_merged() {
    let service = service().await;
    let mut browser = operator(&service).await;
    import_file(&service, &mut browser, "one", FILE, 1).await;
    import_file(&service, &mut browser, "two", FILE, 1).await;
    let sources = browser.visit("/console/machines").await.html;
    assert!(sources.contains("one") && sources.contains("two"), "{sources}");
    let id = until("both sources have the ATM", async || {
        service.advance_clock(SignedDuration::from_secs(1));
        let snapshot = service.app.atm.catalogue.snapshot();
        let machine = &snapshot.entries()[0].atm;
        (machine.claims.len() == 2).then_some(machine.id)
    })
    .await;
    let machine = browser.visit(&format!("/console/machines/{id}")).await;
    assert_eq!(post_form(&mut browser, &machine, &format!("/console/machines/{id}/split"), "").await.status, 303);
    wait_for_count(&service, 2).await;
    let apart = browser.visit(&format!("/console/machines/{id}")).await;
    assert_eq!(post_form(&mut browser, &apart, &format!("/console/machines/{id}/join"), "").await.status, 303);
    let log = audit_page(&mut browser, "atm.joined").await;
    assert!(log.contains("operator:usr_"), "{log}");
    assert!(audit_page(&mut browser, "atm.split").await.contains("operator:usr_"));
}

#[tokio::test]
async fn import_updates_the_counts_of_a_source() {
    let service = service().await;
    let mut browser = operator(&service).await;
    import_file(&service, &mut browser, "one", FILE, 1).await;
    let of = |html: &str| {
        html.split("<td>one</td>").nth(1).expect("the source").split("</tr>").next().expect("a row").to_owned()
    };
    assert!(of(&browser.visit("/console/machines").await.html).starts_with("<td>1</td><td>0</td>"));
    let more = format!("{FILE}\nSecond,9 Oak St,Duluth,MN,46.78,-92.1");
    import_file(&service, &mut browser, "one", &more, 2).await;
    assert!(of(&browser.visit("/console/machines").await.html).starts_with("<td>2</td><td>0</td>"));
    let found = browser.visit("/console/machines?q=OAK").await.html;
    assert!(found.contains("1 machine") && found.contains("Second"), "{found}");
}

#[tokio::test]
async fn deleting_a_source_requires_a_recent_login() {
    let service = service().await;
    let mut browser = operator(&service).await;
    import_file(&service, &mut browser, "one", FILE, 1).await;
    let machines = browser.visit("/console/machines").await;
    let forget = "/console/machines/forget?source=one";
    let question = post_form(&mut browser, &machines, forget, "").await;
    assert!(question.html.contains("Forget one?") && question.html.contains("Its 1 machines go"), "{}", question.html);
    wait_for_count(&service, 1).await;
    assert_eq!(post_form(&mut browser, &question, forget, "").await.status, 303);
    wait_for_count(&service, 0).await;
    let log = audit_page(&mut browser, "atms.forgotten").await;
    assert!(log.contains("operator:usr_") && log.contains("one"), "{log}");
    import_file(&service, &mut browser, "two", FILE, 1).await;
    let machines = browser.visit("/console/machines").await;
    service.advance_clock(SignedDuration::from_mins(6));
    let late = post_form(&mut browser, &machines, "/console/machines/forget?source=two", "").await;
    assert_eq!(late.status, 403, "{}", late.html);
    wait_for_count(&service, 1).await;
}

#[tokio::test]
async fn suspicious_atms_are_listed() {
    let service = service().await;
    let mut browser = operator(&service).await;
    let file = format!("{FILE}\n<b Lost,2 Main St,Saint Paul,MN,30.27,-97.74");
    import_file(&service, &mut browser, "one", &file, 2).await;
    until("they were checked", async || {
        let today = browser.visit("/console").await.html;
        today.contains("1 machine may be wrong").then_some(())
    })
    .await;
    let listed = browser.visit("/console/machines").await.html;
    let doubts = listed.split("id=\"doubts\"").nth(1).expect("a panel").split("</section>").next().expect("an end");
    assert!(doubts.contains("not in the state or province of its address"), "{doubts}");
    assert!(doubts.contains("&lt;b Lost") && !doubts.contains("Corner Store"), "{doubts}");
}
