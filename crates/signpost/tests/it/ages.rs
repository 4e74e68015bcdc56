//! The age of data: docs/locator.md, Results, Status, Sources and merging.

use std::path::Path;

use jiff::SignedDuration;
use reqwest::Method;
use serde_json::{Value, json};
use signpost_platform::clock::Clock;

use crate::assistant::server_in;
use crate::harness::{Reply, Service, until};
use crate::program::{command, document};

const HERE: &str = "30.2672,-97.7431";
const TWO_DATES: &str = "ref,lat,lon,name,hours,status,address,created_on\n\
                         1,30.2672,-97.7431,Old Shop,24/7,active,\"1 Main St, Austin, TX 78701\",1622505600\n\
                         2,30.2682,-97.7431,New Shop,24/7,active,\"2 Main St, Austin, TX 78701\",2026-10-01\n\
                         3,30.2692,-97.7431,Undated Shop,24/7,active,\"3 Main St, Austin, TX 78701\",\n";

/// Imports a file, in the data folder of [`server_in`].
fn import(folder: &Path, file: &str, content: &str, options: &[&str]) -> Value {
    std::fs::write(folder.join(file), content).unwrap();
    document(folder, &[&["atms", "import", file, "--force", "--data-dir", "."], options].concat())
}

fn near(folder: &Path) -> Value {
    document(folder, &["atms", "near", HERE, "--data-dir", "."])
}

async fn open(server: &Service, path: &str) -> Reply {
    server.send(Method::GET, path, &[("accept", "text/html")], "").await
}

async fn found(server: &Service) -> Value {
    let reply = server.call("find_nearest_bitcoin_atm", json!({ "location": HERE })).await.with(200);
    reply["result"]["structuredContent"].clone()
}

#[test]
fn status_without_a_date_is_unknown_unless_the_import_has_one() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let statuses = |near: Value| -> Vec<String> {
        near["atms"].as_array().unwrap().iter().map(|atm| atm["status"].as_str().unwrap().to_owned()).collect()
    };
    let imported = import(folder, "shops.csv", TWO_DATES, &[]);
    let dates = json!({ "oldest": "2021-06-01T00:00:00Z", "newest": "2026-10-01T00:00:00Z", "undated": 1 });
    assert_eq!(imported["dates"], dates);
    assert_eq!(statuses(near(folder)), ["unknown", "open", "unknown"]);
    let why = |id: &str| document(folder, &["atms", "show", id, "--data-dir", "."])["statusReason"].clone();
    let undated = near(folder)["atms"][2]["id"].to_string();
    assert_eq!(why(&undated), "reported in service, but without a date");

    let again = import(folder, "shops.csv", TWO_DATES, &["--as-of", "2026-09"]);
    assert_eq!((&again["changed"], &again["dates"]["undated"]), (&json!(1), &json!(0)));
    assert_eq!(statuses(near(folder)), ["unknown", "open", "open"]);
    for (date, expected) in
        [("last week", "is not a time, such as 2026-11-20T12:00:00Z, or a day"), ("2126", "is in the future")]
    {
        let refused = command(folder, &["atms", "import", "shops.csv", "--as-of", date]).run();
        assert!(refused.failed(2).contains(expected), "{refused:?}");
    }
}

#[test]
fn answers_and_status_name_the_date_of_the_data() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    import(folder, "shops.csv", TWO_DATES, &[]);
    let near = near(folder);
    assert_eq!(near["dataAsOf"], "2026-10-01T00:00:00Z", "{near}");
    assert_eq!(near["oldestDataAsOf"], "2021-06-01T00:00:00Z", "{near}");
    let status = command(folder, &["status", "--data-dir", "."]).run().out;
    let line = status.lines().find(|line| line.starts_with("ATMs")).unwrap();
    let dates = ", data of 2021-06-01T00:00:00Z to 2026-10-01T00:00:00Z, imported 20";
    assert!(line.contains(dates), "{line}");
}

#[test]
fn stale_and_undated_atms_are_listed_with_address_and_source() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    import(folder, "shops.csv", TWO_DATES, &[]);
    let stale = document(folder, &["atms", "check", "--stale", "--data-dir", "."]);
    assert_eq!((&stale["checked"], &stale["concerned"]), (&json!(3), &json!(2)));
    assert_eq!(stale["counts"], json!({ "stale": 1, "undated": 1 }));
    let [undated, old] = &stale["machines"].as_array().unwrap()[..] else { panic!("{stale}") };
    assert_eq!((&undated["concerns"], &undated["sources"]), (&json!(["undated"]), &json!(["shops"])));
    assert_eq!((&undated["address"], undated.get("data_as_of")), (&json!("3 Main St, Austin, TX 78701"), None));
    assert_eq!((&old["concerns"], &old["data_as_of"]), (&json!(["stale"]), &json!("2021-06-01T00:00:00Z")));
    let text = command(folder, &["atms", "check", "--stale", "--data-dir", "."]).run().out;
    assert!(text.starts_with("3 ATMs checked: 1 without a date, 1 older than 365 days"), "{text}");
    assert!(text.contains("1 Main St, Austin, TX 78701") && text.contains("shops"), "{text}");
    assert!(text.contains("2021-06-01") && !text.contains("New Shop"), "{text}");
}

#[tokio::test]
async fn pages_show_the_date_of_their_atms() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    import(folder, "shops.csv", TWO_DATES, &[]);
    let ids: Vec<String> = near(folder)["atms"].as_array().unwrap().iter().map(|atm| atm["id"].to_string()).collect();
    let server = server_in(folder, &[]).await;
    let both = "Data of 1 June 2021 to 1 October 2026.";
    for path in ["/", "/atms/us/tx/austin", "/map", "/about/data"] {
        let page = open(&server, path).await;
        assert!(page.text.contains(both), "{path}: {}", page.text);
    }
    for (id, expected) in [(&ids[0], "Data of 1 June 2021."), (&ids[2], "Data without a date, imported on ")] {
        let page = open(&server, &format!("/atm/{id}")).await;
        assert!(page.text.contains(expected), "{expected}: {}", page.text);
    }
    let sources = open(&server, "/about/data").await.text;
    assert!(sources.contains("1 Jun 2021 to 1 Oct 2026") && sources.contains("Imported on"), "{sources}");
    server.stop().await;
}

#[tokio::test]
async fn atm_closes_permanently_on_its_end_date() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let file = "ref,lat,lon,name,end_date,reported_at,status,hours\n\
                1,30.2672,-97.7431,Closing Shop,2027-01-20,2026-11-01,active,24/7\n\
                2,30.2682,-97.7431,Other Shop,,2026-11-01,active,24/7\n";
    import(folder, "shops.csv", file, &[]);
    let closing = near(folder)["atms"][0]["id"].to_string();
    let server = server_in(folder, &[]).await;
    // It is in Austin, at UTC-6. Until the day begins there, it is open.
    server.clock.set("2027-01-20T05:59:00Z".parse().unwrap());
    assert_eq!(found(&server).await["total"], 2);
    let page = open(&server, &format!("/atm/{closing}")).await.text;
    assert!(page.contains("Closes for good on") && page.contains("20 Jan 2027"), "{page}");
    server.clock.set("2027-01-20T06:00:00Z".parse().unwrap());
    until("the ATM closes", async || (found(&server).await["total"] == 1).then_some(())).await;
    let details = server.call("get_atm_details", json!({ "atmId": closing.parse::<u64>().unwrap() })).await.with(200);
    let details = &details["result"]["structuredContent"];
    assert_eq!((&details["status"], &details["endDate"]), (&json!("permanently_closed"), &json!("2027-01-20")));
    assert!(open(&server, &format!("/atm/{closing}")).await.text.contains("Closed for good"));
    server.stop().await;
}

#[tokio::test]
async fn unlisted_atm_has_a_page_for_90_days() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    import(folder, "acme.csv", TWO_DATES, &[]);
    let id = near(folder)["atms"][0]["id"].to_string();
    let path = format!("/atm/{id}");
    let server = server_in(folder, &[]).await;
    assert_eq!(found(&server).await["total"], 3);
    let rest: Vec<&str> = TWO_DATES.lines().filter(|line| !line.starts_with("1,")).collect();
    import(folder, "acme.csv", &rest.join("\n"), &[]);
    until("the ATM leaves the search", async || (found(&server).await["total"] == 2).then_some(())).await;

    let page = open(&server, &path).await;
    assert_eq!((page.status, page.header("x-robots-tag")), (200, Some("noindex")));
    assert!(page.text.contains("no longer listed by acme since ") && page.text.contains("Old Shop"), "{}", page.text);
    let spanish = open(&server, &format!("{path}?lang=es")).await.text;
    assert!(spanish.contains("acme ya no lo incluye desde el "), "{spanish}");
    assert!(!open(&server, "/atms/us/tx/austin").await.text.contains("Old Shop"));
    assert!(!open(&server, "/sitemap.xml").await.text.contains(&path));

    let details = async || {
        let reply = server.call("get_atm_details", json!({ "atmId": id.parse::<u64>().unwrap() })).await.with(200);
        reply["result"].clone()
    };
    let unlisted = details().await["structuredContent"].take();
    assert_eq!((&unlisted["listed"], &unlisted["status"]), (&json!(false), &json!("unknown")), "{unlisted}");
    let statement = unlisted["statusReason"].as_str().unwrap();
    assert!(statement.starts_with("no longer listed by acme since "), "{statement}");
    assert!(page.text.contains(statement), "the page has another statement than {statement}");
    assert!(unlisted["statusAsOf"].is_string() && unlisted["name"] == "Old Shop", "{unlisted}");
    assert!(unlisted["notice"].as_str().unwrap().starts_with(&format!("It is {statement}.")), "{unlisted}");
    for member in ["directions", "howToReport", "advisories"] {
        assert_eq!(unlisted.get(member), None, "{unlisted}");
    }
    let listed = found(&server).await["atms"][0]["id"].clone();
    let both = json!({ "atmIds": [id.parse::<u64>().unwrap(), listed] });
    let both = server.call("get_atm_details", both).await.with(200)["result"]["structuredContent"].take();
    assert_eq!((&both["atms"][0], &both["atms"][1]["listed"]), (&unlisted, &json!(true)), "{both}");
    let shown = document(folder, &["atms", "show", &id, "--data-dir", "."]);
    assert_eq!((&shown["listed"], &shown["statusReason"]), (&json!(false), &json!(statement)));

    // The command removed it at the time of the system.
    let removed_at = Clock::System.now();
    server.clock.set(removed_at + SignedDuration::from_hours(89 * 24));
    assert_eq!(open(&server, &path).await.status, 200);
    server.clock.set(removed_at + SignedDuration::from_hours(91 * 24));
    assert_eq!(open(&server, &path).await.status, 410);
    assert_eq!(details().await["isError"], true);
    import(folder, "acme.csv", TWO_DATES, &[]);
    until("the ATM is listed again", async || (found(&server).await["total"] == 3).then_some(())).await;
    let page = open(&server, &path).await;
    assert!(page.status == 200 && !page.text.contains("no longer listed"), "{}", page.text);
    assert_eq!(details().await["structuredContent"]["listed"], true);
    server.stop().await;
}

#[tokio::test]
async fn atm_of_a_deleted_source_is_gone_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    import(folder, "acme.csv", TWO_DATES, &[]);
    let id = near(folder)["atms"][0]["id"].to_string();
    document(folder, &["atms", "forget", "acme", "--data-dir", "."]);
    let server = server_in(folder, &[]).await;
    assert_eq!(open(&server, &format!("/atm/{id}")).await.status, 410);
    server.stop().await;
}
