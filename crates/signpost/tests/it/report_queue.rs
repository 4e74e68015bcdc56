//! Moderation of reports, and the effect of imports on reports: docs/locator.md, Reports; docs/cli.md.

use std::path::Path;

use jiff::SignedDuration;
use reqwest::Method;
use serde_json::{Value, json};
use signpost_atm::reports::{MachineReport, ModerationReason, ReportState, sql};

use crate::assistant::server_in;
use crate::harness::{Service, until};
use crate::program::{command, document};

/// Starts a server on a folder and imports a file with one ATM.
async fn server(folder: &Path) -> Service {
    write(folder, "first.csv", &["1,30.2672,-97.7431,Corner Shop,Example Coin,24/7,online,2026-11-01T00:00:00Z"]);
    document(folder, &["atms", "import", "first.csv"]);
    let settings = [("trusted_proxies", "127.0.0.1"), ("rate_limit_reports", "5/h")];
    server_in(&folder.join("data"), &settings).await
}

fn write(folder: &Path, name: &str, rows: &[&str]) {
    let text = format!("ref,lat,lon,name,operator,hours,status,reported_at\n{}\n", rows.join("\n"));
    std::fs::write(folder.join(name), text).unwrap();
}

async fn details(service: &Service, atm: u64) -> Value {
    service.call("get_atm_details", json!({ "atmId": atm })).await.with(200)["result"].clone()
}

async fn wait_for_atm(service: &Service, atm: u64, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    until(what, async || Some(details(service, atm).await).filter(&is_so)).await
}

fn status(expected: &str) -> impl Fn(&Value) -> bool {
    move |known| known["structuredContent"]["status"] == expected
}

fn only_atm(folder: &Path) -> u64 {
    document(folder, &["atms", "near", "30.2672,-97.7431"])["atms"][0]["id"].as_u64().unwrap()
}

#[tokio::test]
async fn imports_do_not_affect_reports() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let service = server(folder).await;
    let atm = only_atm(folder);
    for from in ["192.0.2.1", "198.51.100.1"] {
        service.reports(from, atm, &json!({ "seen": "gone", "how": "saw" })).await.with(201);
    }
    wait_for_atm(&service, atm, "it is doubted", status("unknown")).await;
    // A newer import with status online does not override the reports.
    write(folder, "first.csv", &["1,30.2672,-97.7431,New Name,Example Coin,24/7,online,2026-11-20T00:00:00Z"]);
    document(folder, &["atms", "import", "first.csv"]);
    let named = |name: &'static str| move |known: &Value| known["structuredContent"]["name"] == name;
    let known = wait_for_atm(&service, atm, "the import is served", named("New Name")).await;
    assert_eq!(known["structuredContent"]["status"], "unknown", "{known}");
    // Another source has the ATM too: both row IDs lead to the merged ATM and its reports.
    write(folder, "second.csv", &["77,30.26721,-97.7431,,Example Coin,,,"]);
    document(folder, &["atms", "import", "second.csv"]);
    let merged = wait_for_atm(&service, atm, "they are merged", |known| {
        known["structuredContent"]["sources"].as_array().is_some_and(|sources| sources.len() == 2)
    })
    .await;
    let other =
        merged["structuredContent"]["sources"].as_array().unwrap().iter().map(|row| row["atmId"].as_u64().unwrap());
    let other = other.into_iter().find(|row| *row != atm).unwrap();
    // The URL of the other ID redirects to the ATM's page.
    for page in ["", "/report"] {
        let moved = service.send(Method::GET, &format!("/atm/{other}{page}"), &[("accept", "text/html")], "").await;
        let to = format!("/atm/{atm}{page}");
        assert_eq!((moved.status, moved.header("location")), (301, Some(&*to)), "{page}");
    }
    let taken = service.reports("203.0.113.1", other, &json!({ "seen": "broken" })).await.with(201);
    assert_eq!(taken["atm_id"], atm, "{taken}");
    wait_for_atm(&service, other, "all three are counted", |known| {
        known["structuredContent"]["reports"]["people"] == json!({ "gone": 2, "broken": 1 })
    })
    .await;
    // No source has the ATM: it cannot be reported, and earlier reports apply again when it returns.
    for source in ["first", "second"] {
        document(folder, &["atms", "forget", source]);
    }
    wait_for_atm(&service, atm, "it is gone", |known| known["isError"] == true).await;
    service.reports("203.0.113.2", atm, &json!({ "seen": "gone" })).await.assert_error(404, "atm_not_found");
    document(folder, &["atms", "import", "first.csv"]);
    let back = wait_for_atm(&service, atm, "it is back", |known| known["isError"] != true).await;
    assert_eq!(back["structuredContent"]["status"], "unknown", "{back}");
}

#[tokio::test]
async fn moderator_closes_and_reopens_an_atm() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let service = server(folder).await;
    let atm = only_atm(folder);
    let hostile = json!({ "seen": "gone", "how": "saw", "text": "\u{1b}[2J<script>alert(1)</script>\u{202e}" });
    let taken = service.reports("192.0.2.1", atm, &hostile).await.with(201);
    let id = taken["id"].as_str().unwrap();
    let listed = document(folder, &["reports", "list", "--state", "shown", "--atm", &atm.to_string()]);
    assert_eq!(listed["reports"].as_array().unwrap().len(), 1, "{listed}");
    let shown = document(folder, &["reports", "show", id]);
    assert_eq!((&shown["atm"]["id"], &shown["tell_source"]), (&json!(atm), &Value::Null), "{shown}");
    assert_eq!(shown["text"], "[2J<script>alert(1)</script>", "{shown}");
    let printed = command(folder, &["reports", "list"]).run();
    assert!(!printed.out.contains('\u{1b}') && !printed.out.contains('\u{202e}'), "{}", printed.out);
    let known =
        wait_for_atm(&service, atm, "the report is shown", |known| known["structuredContent"].get("reports").is_some())
            .await;
    assert!(!known.to_string().contains("script"), "{known}");

    assert_eq!(document(folder, &["reports", "accept", id])["state"], "accepted");
    let closed = wait_for_atm(&service, atm, "it is closed", status("permanently_closed")).await;
    let reason = closed["structuredContent"]["statusReason"].as_str().unwrap();
    assert!(reason.starts_with("a moderator here says that it is gone"), "{reason}");
    let near = service.call("find_nearest_bitcoin_atm", json!({ "lat": 30.2672, "lon": -97.7431 })).await.with(200);
    assert_eq!(near["result"]["structuredContent"]["total"], 0, "{near}");
    command(folder, &["reports", "accept", id]).run().failed(1);
    assert_eq!(document(folder, &["reports", "undo", id])["state"], "shown");
    wait_for_atm(&service, atm, "it is open again", status("open")).await;
    assert_eq!(document(folder, &["reports", "reject", id])["state"], "rejected");
    wait_for_atm(&service, atm, "nothing is said of it", |known| known["structuredContent"].get("reports").is_none())
        .await;
    assert_eq!(document(folder, &["reports", "undo", id])["state"], "shown");
    // A report with identical content never counts, even after decisions and undos.
    let copy = service.reports("198.51.100.1", atm, &hostile).await.with(201);
    let copy = copy["id"].as_str().unwrap();
    for (decision, state) in
        [("reject", "rejected"), ("undo", "duplicate"), ("accept", "accepted"), ("undo", "duplicate")]
    {
        assert_eq!(document(folder, &["reports", decision, copy])["state"], state, "{decision}");
    }
    assert_eq!(document(folder, &["reports", "reject", id])["state"], "rejected");
    let audit = document(folder, &["audit", "list"]);
    let actions: Vec<_> =
        audit["entries"].as_array().unwrap().iter().map(|entry| entry["action"].as_str().unwrap()).collect();
    let decided = ["undone", "accepted", "undone", "rejected", "undone", "rejected", "undone", "accepted"];
    let expected = decided.map(|what| format!("report.{what}"));
    assert_eq!(actions[0], "report.rejected", "{audit}");
    assert_eq!(actions[1..], expected, "{audit}");
    for arguments in [["reports", "show", "rep_0"], ["reports", "ban", "somebody"]] {
        command(folder, &arguments).run().failed(1);
    }
    assert_eq!(document(folder, &["reports", "ban", "key_0123456789"])["banned"], true);
    command(folder, &["reports", "ban", "key_0123456789"]).run().failed(1);
    assert_eq!(document(folder, &["reports", "bans"])["bans"].as_array().unwrap().len(), 1);
    assert_eq!(document(folder, &["reports", "ban", "key_0123456789", "--lift"])["banned"], false);
}

/// Marks reports as waiting for moderation, as in a flood.
async fn hold(service: &Service, ids: &[String], why: &str) {
    for id in ids {
        let change = "UPDATE atm_reports SET state = 'new', held = $2 WHERE id = $1";
        let params = vec![id.as_str().into(), why.into()];
        service.app.store.write([signpost_store::Statement::new(change, params)]).await.unwrap();
    }
}

async fn stored(service: &Service) -> Vec<MachineReport> {
    sql::list(&service.app.store, None, None, 100).await.unwrap()
}

#[tokio::test]
async fn one_command_rejects_a_flood() {
    use ReportState::{New, Rejected, Shown};
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let service = server(folder).await;
    let atm = only_atm(folder);
    let mut ids = Vec::new();
    for (number, seen) in ["there", "there", "wrong_hours", "wrong_place"].into_iter().enumerate() {
        let taken = service.reports(&format!("198.51.{}.1", number % 2), atm, &json!({ "seen": seen })).await;
        ids.push(taken.json()["id"].as_str().unwrap().to_owned());
    }
    hold(&service, &ids[..2], "flood").await;
    hold(&service, &ids[2..3], "burst").await;
    // Nothing happens without confirmation.
    let unsure = command(folder, &["reports", "reject", "--state", "new"]).run();
    assert!(unsure.failed(1).contains("3 reports would be rejected; add --yes"), "nothing was asked");
    for wrong in [
        &["reports", "reject"][..],
        &["reports", "reject", "--state", "shown", "--yes"],
        &["reports", "reject", &ids[0], "--yes"],
    ] {
        assert_eq!(command(folder, wrong).run().code, Some(2), "{wrong:?}");
    }
    command(folder, &["reports", "reject", &ids[0], "rep_0"]).run().failed(1);
    assert!(stored(&service).await.iter().all(|report| report.state != ReportState::Rejected));
    let flood = document(folder, &["reports", "reject", "--state", "new", "--held", "flood", "--yes"]);
    assert_eq!(flood, json!({ "rejected": 2, "left": [] }));
    let states = async || -> Vec<_> {
        let mut all = stored(&service).await;
        all.sort_by_key(|report| ids.iter().position(|id| *id == report.id.to_string()));
        all.into_iter().map(|report| (report.state, report.held)).collect()
    };
    let (flood, burst) = (Some(ModerationReason::Flood), Some(ModerationReason::Burst));
    assert_eq!(states().await, [(Rejected, flood), (Rejected, flood), (New, burst), (Shown, None)]);
    // Several reports are rejected by ID; `left` has the reports that were already rejected.
    let named = document(folder, &["reports", "reject", &ids[1], &ids[2], &ids[3]]);
    assert_eq!(named, json!({ "rejected": 2, "left": [ids[1]] }));
    let audit = document(folder, &["audit", "list"]);
    let rejected = audit["entries"].as_array().unwrap().iter().filter(|entry| entry["action"] == "report.rejected");
    assert_eq!(rejected.count(), 4, "{audit}");
    // Undo restores the previous state of each report.
    for (id, state) in [(&ids[0], "new"), (&ids[2], "new"), (&ids[3], "shown")] {
        assert_eq!(document(folder, &["reports", "undo", id])["state"], state);
    }
    assert_eq!(states().await, [(New, flood), (Rejected, flood), (New, burst), (Shown, None)]);
    let nothing = document(folder, &["reports", "reject", "--state", "new", "--held", "flood", "--yes"]);
    assert_eq!(nothing["rejected"], 1);
}

#[tokio::test]
async fn reports_are_released_expire_and_are_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let service = server(folder).await;
    let atm = only_atm(folder);
    let taken = service.reports("192.0.2.1", atm, &json!({ "seen": "gone", "how": "saw" })).await.with(201);
    let id = taken["id"].as_str().unwrap().to_owned();
    hold(&service, std::slice::from_ref(&id), "flood").await;
    let released = document(folder, &["reports", "accept", &id, "--release"]);
    assert_eq!((&released["state"], released.get("held")), (&json!("shown"), None), "{released}");
    wait_for_atm(&service, atm, "it is shown", |known| known["structuredContent"]["reports"]["people"]["gone"] == 1)
        .await;
    command(folder, &["reports", "accept", &id, "--release"]).run().failed(1);
    service.advance_clock(SignedDuration::from_secs(1));
    let other = service.reports("198.51.100.1", atm, &json!({ "seen": "broken" })).await.with(201);
    assert_eq!(document(folder, &["reports", "accept", other["id"].as_str().unwrap()])["state"], "accepted");
    let states = async || -> Vec<_> {
        let (store, now) = (&service.app.store, service.app.clock.now());
        sql::sweep(store, now).await.unwrap();
        stored(&service).await.into_iter().map(|report| report.state).collect()
    };
    let days = |count: i64| SignedDuration::from_hours(24 * count);
    service.advance_clock(days(179));
    assert_eq!(states().await, [ReportState::Accepted, ReportState::Shown]);
    service.advance_clock(days(1));
    assert_eq!(states().await, [ReportState::Accepted, ReportState::Expired]);
    service.advance_clock(days(29));
    assert_eq!(states().await, [ReportState::Accepted, ReportState::Expired]);
    service.advance_clock(days(1));
    assert_eq!(states().await, [ReportState::Accepted], "decisive reports are preserved");
}
