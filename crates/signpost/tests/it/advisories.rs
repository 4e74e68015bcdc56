//! Advisories: the effect of laws on the status of an ATM, the operator's file, and the command (docs/locator.md and
//! docs/operate.md, Advisories).

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use signpost_atm::catalogue::{Snapshot, StoredCatalogue};
use signpost_locator::{ArcStr, Atm, AtmId, Hours, Point, Record, ReportedState};

use crate::assistant::{server, server_in, server_with};
use crate::harness::{Service, embedded_database, until};
use crate::program::{command, document};

const FIND: &str = "find_nearest_bitcoin_atm";
const DETAILS: &str = "get_atm_details";
const STATUS: &str = "check_atm_status";
const LIST: &str = "list_atms_by_city";

/// ATMs that are in service around the clock: ID, city, state, latitude, longitude.
const MACHINES: [(u64, &str, &str, f64, f64); 6] = [
    (1, "Minneapolis", "MN", 44.9778, -93.2650),
    (2, "Moorhead", "MN", 46.8738, -96.7678),
    (3, "Fargo", "ND", 46.8772, -96.7898),
    (4, "Indianapolis", "IN", 39.7684, -86.1581),
    (5, "Nashville", "TN", 36.1627, -86.7816),
    // The source has no address, so the nearest place determines the state.
    (6, "", "", 44.9537, -93.0900),
];

/// Returns a row of an operator's file with this ID. The ID is its text too; `lines` are the other members.
fn row(id: &str, lines: &str) -> String {
    format!(
        "[[advisory]]\nid = \"{id}\"\nsource = {{ url = \"https://example.com/{id}\", title = \"Law\", class = \"primary\" \
         }}\nchecked = 2026-07-01\n{lines}\n\n"
    )
}

fn machines(version: i64) -> Snapshot {
    let atm = |(number, city, state, lat, lon): (u64, &str, &str, f64, f64)| {
        let mut record = Record::at(Point::new(lat, lon).unwrap());
        let known = |text: &str| Some(ArcStr::from(text)).filter(|text| !text.is_empty());
        (record.address.city, record.address.region) = (known(city), known(state));
        (record.reported, record.hours) = (ReportedState::InService, Hours::parse("24/7"));
        record.reported_at = "2026-06-01T00:00:00Z".parse().ok();
        record.operator = Some("Coin Cloud".into());
        Atm { id: AtmId::new(number).unwrap(), source: "test".into(), record: record.into() }
    };
    let atms = MACHINES.into_iter().map(atm).collect();
    Snapshot::build(StoredCatalogue { version, atms, ..StoredCatalogue::default() })
}

/// Starts a server with these ATMs at a fixed time.
async fn at(now: &str, file: Option<&Path>) -> Service {
    let server = match file {
        Some(file) => server_with(&[("advisories", file.to_str().unwrap())]).await,
        None => server().await,
    };
    let catalogue = &server.app.atm.catalogue;
    catalogue.replace(machines(catalogue.snapshot().version()));
    server.clock.set(now.parse().unwrap());
    server
}

async fn call(server: &Service, tool: &str, arguments: Value) -> Value {
    let body = server.call(tool, arguments).await.with(200);
    assert_eq!(body["result"]["isError"], false, "{body}");
    body["result"]["structuredContent"].clone()
}

/// Returns the status of an ATM and its reason.
async fn status(server: &Service, id: u64) -> (String, String) {
    let details = call(server, DETAILS, json!({ "atmId": id })).await;
    let text = |member: &str| details[member].as_str().unwrap().to_owned();
    (text("status"), text("statusReason"))
}

fn ids(page: &Value) -> Vec<u64> {
    page["atms"].as_array().unwrap().iter().map(|atm| atm["id"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn ban_starts_at_local_midnight() {
    // It is already August in UTC, and for five hours still July in Minneapolis.
    let server = at("2026-08-01T04:59:59Z", None).await;
    let near = json!({ "lat": 44.97, "lon": -93.2, "openNow": true });
    for id in [1, 6] {
        assert_eq!(status(&server, id).await, ("open".to_owned(), "reported in service; open 24/7".to_owned()));
    }
    assert_eq!(ids(&call(&server, FIND, near.clone()).await), [1, 6]);
    server.clock.set("2026-08-01T05:00:00Z".parse().unwrap());
    for id in [1, 6] {
        let banned = ("unknown".to_owned(), "state law since 1 August 2026".to_owned());
        assert_eq!(status(&server, id).await, banned);
    }
    assert_eq!(ids(&call(&server, FIND, near).await), [] as [u64; 0]);
    let counted = call(&server, STATUS, json!({ "lat": 44.97, "lon": -93.2, "radius": 25 })).await;
    assert_eq!(counted["counts"], json!({ "unknown": 2 }));
}

#[tokio::test]
async fn border_atms_follow_the_law_of_their_state() {
    let server = at("2026-11-22T12:00:00Z", None).await;
    let found = call(&server, FIND, json!({ "location": "Fargo, ND", "openNow": false })).await;
    let message: Vec<_> = found["atms"].as_array().unwrap().iter().map(|atm| (&atm["id"], &atm["status"])).collect();
    assert_eq!(message, [(&json!(3), &json!("open")), (&json!(2), &json!("unknown"))]);
    assert_eq!(found["atms"][1]["statusReason"], "state law since 1 August 2026");
    let open = call(&server, FIND, json!({ "location": "Moorhead, MN", "openNow": true })).await;
    assert_eq!(ids(&open), [3]);
    let counted = call(&server, STATUS, json!({ "location": "Moorhead, MN" })).await;
    assert_eq!(counted["counts"], json!({ "open": 1, "unknown": 1 }));
}

#[tokio::test]
async fn reported_law_changes_no_status() {
    let server = at("2026-11-22T12:00:00Z", None).await;
    assert_eq!(status(&server, 4).await.0, "open", "Indiana");
    assert_eq!(status(&server, 5).await, ("unknown".to_owned(), "state law since 1 July 2026".to_owned()), "Tennessee");
}

/// Returns the IDs of the advisories in a reply.
fn advisory_ids(reply: &Value) -> Vec<&str> {
    reply["advisories"].as_array().into_iter().flatten().map(|one| one["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn ban_notice_names_the_nearest_atm_outside() {
    let server = at("2026-11-22T12:00:00Z", None).await;
    let forbidden = "Minnesota law forbids Bitcoin ATMs since 1 August 2026.";
    let found = call(&server, FIND, json!({ "location": "Minneapolis, MN" })).await;
    let nearest = format!("{forbidden} The nearest outside is 214.2 miles away (id 3).");
    assert_eq!(found["notice"], nearest);
    assert_eq!(advisory_ids(&found), ["us-mn-kiosk-ban", "scam"]);
    assert_eq!(
        found["advisories"][0],
        json!({
            "id": "us-mn-kiosk-ban", "kind": "ban", "effective": "2026-08-01", "checked": "2026-11-22",
            "text": format!("{forbidden} A machine listed here may be switched off or gone."),
            "sourceUrl": "https://www.revisor.mn.gov/laws/2026/0/65/",
        })
    );
    let details = call(&server, DETAILS, json!({ "atmId": 1 })).await;
    let nearest = format!("{forbidden} The nearest outside is 214.3 miles away (id 3).");
    assert_eq!((&details["notice"], advisory_ids(&details)), (&json!(nearest), advisory_ids(&found)));
    let listed = call(&server, LIST, json!({ "state": "MN", "city": "Minneapolis" })).await;
    assert!(listed["notice"].as_str().unwrap().starts_with(forbidden), "{listed}");
    assert_eq!(advisory_ids(&listed), ["us-mn-kiosk-ban", "scam"]);
    let counted = call(&server, STATUS, json!({ "location": "Minneapolis, MN" })).await;
    assert!(counted["notice"].as_str().unwrap().starts_with(forbidden), "{counted}");
    assert_eq!(advisory_ids(&counted), ["us-mn-kiosk-ban"], "no fraud advisory without a transfer");
}

#[tokio::test]
async fn border_notice_counts_affected_atms() {
    let server = at("2026-11-22T12:00:00Z", None).await;
    let found = call(&server, FIND, json!({ "location": "Fargo, ND" })).await;
    let message = "Minnesota law forbids Bitcoin ATMs since 1 August 2026. That is 1 of the 2 listed.";
    assert_eq!((&found["notice"], advisory_ids(&found)), (&json!(message), vec!["us-mn-kiosk-ban", "scam"]));
}

#[tokio::test]
async fn future_ban_is_announced() {
    let server = at("2026-07-31T12:00:00Z", None).await;
    let found = call(&server, FIND, json!({ "location": "Minneapolis, MN" })).await;
    let coming = "Minnesota law forbids Bitcoin ATMs from 1 August 2026.";
    assert_eq!((&found["notice"], &found["advisories"][0]["text"]), (&json!(coming), &json!(coming)));
    let found = call(&server, FIND, json!({ "location": "Indianapolis, IN" })).await;
    assert_eq!(found["notice"], "Indiana is reported to have banned Bitcoin ATMs in March 2026.");
    assert_eq!(found["atms"][0]["status"], "open");
}

#[tokio::test]
async fn empty_result_includes_the_local_law() {
    let server = at("2026-11-22T12:00:00Z", None).await;
    let found = call(&server, FIND, json!({ "location": "Minneapolis, MN", "openNow": true })).await;
    let notice = found["notice"].as_str().unwrap();
    assert!(notice.starts_with("Minnesota law forbids Bitcoin ATMs since 1 August 2026. "), "{notice}");
    assert_eq!((ids(&found), advisory_ids(&found)), (vec![], vec!["us-mn-kiosk-ban"]));
    let listed = call(&server, LIST, json!({ "state": "TN", "city": "Memphis" })).await;
    assert_eq!(advisory_ids(&listed), ["us-tn-kiosk-ban"]);
    let limited = call(&server, FIND, json!({ "location": "Burlington, VT" })).await;
    assert_eq!(advisory_ids(&limited), ["us-vt-limit", "us-vt-fee-cap"]);
    // For a place without a known law the reply has no advisory: it does not claim that there is no law.
    let found = call(&server, FIND, json!({ "location": "Austin, TX" })).await;
    assert!(found.get("advisories").is_none(), "{found}");
    assert_eq!(advisory_ids(&call(&server, FIND, json!({ "location": "Fargo, ND", "limit": 1 })).await), ["scam"]);
}

#[tokio::test]
async fn old_source_is_shown_with_its_date() {
    let server = at("2027-05-22T12:00:00Z", None).await;
    let found = call(&server, FIND, json!({ "location": "Nashville, TN" })).await;
    let text = found["advisories"][0]["text"].as_str().unwrap();
    assert!(text.ends_with("gone. (checked 22 November 2026, may have changed)"), "{text}");
    assert_eq!(found["atms"][0]["status"], "unknown", "the law applies until a newer revision");
}

#[tokio::test]
async fn advisories_are_short() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("advisories.toml");
    let of = |id: &str, kind: &str, words: usize| {
        let text = "word ".repeat(words - 1) + "end.";
        let lines =
            format!("kind = \"{kind}\"\nwhere = {{ region = \"ND\" }}\nstatus = \"in_force\"\ntext = \"{text}\"");
        row(id, &lines)
    };
    let rows = [of("a", "limit", 60), of("b", "ban", 30), of("c", "fee_cap", 10), of("d", "scam", 60)];
    fs::write(&file, rows.concat()).unwrap();
    let server = at("2026-11-22T12:00:00Z", Some(&file)).await;
    let found = call(&server, FIND, json!({ "location": "Fargo, ND", "limit": 1 })).await;
    assert_eq!(advisory_ids(&found), ["b", "a"]);
}

#[tokio::test]
async fn atm_resource_matches_its_details() {
    let server = at("2026-11-22T12:00:00Z", None).await;
    let read = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": { "uri": "atm://1" } });
    let reply = server.rpc(&read).await.with(200);
    let text = reply["result"]["contents"][0]["text"].as_str().unwrap();
    let details = call(&server, DETAILS, json!({ "atmId": 1 })).await;
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), details);
}

#[tokio::test]
async fn operator_rows_replace_built_in_rows() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("advisories.toml");
    let rows = [
        row("us-mn-kiosk-ban", "kind = \"ban\"\nwhere = { region = \"MN\" }\nstatus = \"repealed\"\ntext = \"Over.\""),
        row(
            "fargo",
            "kind = \"ban\"\nwhere = { region = \"ND\", city = \"fargo\" }\nstatus = \"enacted\"\neffective = \
             2026-11-22\nuntil = 2026-12-24\ntext = \"Fargo forbids them.\"",
        ),
    ];
    fs::write(&file, rows.concat()).unwrap();
    let server = at("2026-11-22T05:59:59Z", Some(&file)).await;
    assert_eq!(status(&server, 1).await.0, "open");
    for (now, expected) in [
        ("2026-11-22T05:59:59Z", "open"),
        ("2026-11-22T06:00:00Z", "unknown"),
        ("2026-12-24T05:59:59Z", "unknown"),
        ("2026-12-24T06:00:00Z", "open"),
    ] {
        server.clock.set(now.parse().unwrap());
        assert_eq!(status(&server, 3).await.0, expected, "{now}");
    }
}

#[tokio::test]
async fn running_server_reloads_a_changed_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    embedded_database(&folder.join("data"));
    fs::write(folder.join("fargo.csv"), "ref,lat,lon,city,state\n1,46.8772,-96.7898,Fargo,ND\n").unwrap();
    document(folder, &["atms", "import", "fargo.csv"]);
    let file = folder.join("advisories.toml");
    fs::write(&file, "# nothing yet").unwrap();
    let server = server_in(&folder.join("data"), &[("advisories", file.to_str().unwrap())]).await;
    let near = json!({ "location": "Fargo, ND" });
    let reason = async || call(&server, FIND, near.clone()).await["atms"][0]["statusReason"].clone();
    assert_ne!(reason().await, "state law");
    let ban = "kind = \"ban\"\nwhere = { region = \"ND\" }\nstatus = \"in_force\"\ntext = \"No machines there.\"";
    rewrite(&file, &row("mine", ban));
    until("the ban", async || {
        server.app.atm.catalogue.changed.notify_one();
        (reason().await == "state law").then_some(())
    })
    .await;
}

/// Rewrites a file with another modification time.
fn rewrite(file: &Path, text: &str) {
    let before = fs::metadata(file).unwrap().modified().unwrap();
    fs::write(file, text).unwrap();
    let later = before + std::time::Duration::from_secs(2);
    fs::File::options().write(true).open(file).unwrap().set_modified(later).unwrap();
}

#[test]
fn command_lists_and_checks_advisories() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let all = document(folder, &["advisories", "list"]);
    let of = |id: &str, all: &Value| all.as_array().unwrap().iter().find(|row| row["id"] == id).cloned().unwrap();
    let minnesota = of("us-mn-kiosk-ban", &all);
    assert_eq!((&minnesota["where"]["region"], &minnesota["origin"]), (&json!("MN"), &json!("built-in")));
    assert_eq!(minnesota["values"], json!({ "removal_by": "2026-12-31" }));

    let mine = "kind = \"note\"\nstatus = \"in_force\"\ntext = \"Mine.\"";
    fs::write(folder.join("mine.toml"), row("us-mn-kiosk-ban", mine)).unwrap();
    let all = document(folder, &["advisories", "list", "--advisories", "mine.toml"]);
    assert_eq!(of("us-mn-kiosk-ban", &all)["origin"], "file");

    // Checked in 2020, and a row without its source.
    let old = row("old", mine).replace("2026-07-01", "2020-07-01");
    fs::write(folder.join("mine.toml"), format!("{old}[[advisory]]\nid = \"bad\"\n")).unwrap();
    let checked = command(folder, &["advisories", "check", "--advisories", "mine.toml"]).run();
    assert_eq!(checked.code, Some(1));
    assert!(checked.out.contains("old: overdue") && checked.out.contains("line 9: missing"), "{}", checked.out);
}

#[test]
fn invalid_file_prevents_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let row = row("x", "kind = \"ban\"\nstatus = \"in_force\"\ntext = \"No machines.\"");
    let without_url = row.replace("url = \"https://example.com/x\", ", "");
    for (text, line) in [(without_url, "line 3: "), (row.replace("checked = 2026-07-01\n", ""), "line 1: ")] {
        fs::write(folder.join("mine.toml"), text).unwrap();
        for arguments in [["serve", "--advisories", "mine.toml"], ["mcp", "--advisories", "mine.toml"]] {
            command(folder, &["migrate"]).run();
            let refused = command(folder, &arguments).run();
            assert!(refused.failed(2).contains(&format!("mine.toml: {line}")), "{}", refused.err);
        }
    }
    let missing = command(folder, &["advisories", "list"]).env("SIGNPOST_ADVISORIES", "nowhere.toml").run();
    assert!(missing.failed(2).contains("nowhere.toml: cannot read"), "{}", missing.err);
}
