//! Rows that a person can act on: terms, links and dates, and the length of answers with them (docs/locator.md, Results).

use serde_json::{Value, json};
use signpost_locator::{CashLimits, Currency, Decimal, Fees, Hours, Point, Record, ReportedState};

use crate::answers::{AUSTIN, FIND, LIST, STATUS, answer, plain, server_of, server_of_with, text};
use crate::program::document;

const PAGES: &str = "https://atm.example.com";
/// Maximum size of an answer with up to ten ATMs: 1,100 tokens of four bytes.
const SHORT_ANSWER: usize = 1_100 * 4;
/// Maximum size of an answer with fifty ATMs, in bytes.
const LONG_ANSWER: usize = 48_000;

fn near(limit: u32) -> Value {
    json!({ "lat": AUSTIN.0, "lon": AUSTIN.1, "limit": limit })
}

/// Returns an ATM of which everything is known that rows contain.
fn known(number: u32) -> Record {
    let amount = |text: &str| Decimal::parse(text);
    let currency = Currency::parse("USD");
    let mut record = plain(number);
    record.operator = Some("Example Coin Machines LLC".into());
    record.phone = Some("+1 512-555-0142".into());
    record.hours = Hours::parse("Mo-Fr 08:00-20:00; Sa 09:00-18:00");
    record.time_zone = Some("America/Chicago".into());
    record.reported = ReportedState::InService;
    record.reported_at = "2026-11-01T00:00:00Z".parse().ok();
    record.verified_at = "2026-12-01T09:30:15Z".parse().ok();
    let more = record.more.get_or_insert_default();
    more.fees = Fees {
        buy_percent: amount("12.5"),
        buy_fixed: amount("2.99"),
        sell_percent: amount("9"),
        sell_fixed: amount("1.50"),
        currency,
    };
    more.limits = CashLimits {
        min: amount("20"),
        max: amount("2900"),
        max_day: amount("9000"),
        kyc_above: amount("900"),
        currency,
    };
    record
}

fn rows(found: &Value) -> &Vec<Value> {
    found["atms"].as_array().unwrap()
}

#[tokio::test]
async fn rows_have_terms_links_and_the_last_confirmation() {
    let server = server_of_with(&[("public_url", "https://atm.example.com/")], [known(1), plain(2)]).await;
    let city = json!({ "state": "TX", "city": "Austin" });
    for (tool, arguments) in [(FIND, near(2)), (STATUS, near(2)), (LIST, city)] {
        let found = answer(&server, tool, arguments).await;
        let row = &rows(&found)[0];
        let details = answer(&server, "get_atm_details", json!({ "atmId": 1 })).await;
        for member in ["fees", "limits", "phone", "url", "directions", "lastConfirmed"] {
            assert_eq!(row[member], details[member], "{tool} {member}");
        }
        let fees = json!({
            "buyPercent": "12.5", "buyFixed": "2.99", "sellPercent": "9", "sellFixed": "1.50", "currency": "USD",
        });
        assert_eq!(row["fees"], fees);
        let limits = json!({ "min": "20", "max": "2900", "maxDay": "9000", "kycAbove": "900", "currency": "USD" });
        assert_eq!(row["limits"], limits);
        assert_eq!((&row["phone"], &row["lastConfirmed"]), (&json!("+1 512-555-0142"), &json!("2026-12-01T09:30:15Z")));
        assert_eq!(row["url"], format!("{PAGES}/atm/1"));
        let to = "https://www.google.com/maps/dir//30.268385,-97.744295";
        assert_eq!(row["directions"], to);
        assert_eq!(found["howToReport"], "If one is gone or wrong, report it at its url followed by /report.");
        for unknown in ["fees", "limits", "phone", "lastConfirmed", "howToReport"] {
            assert!(rows(&found)[1].get(unknown).is_none(), "{tool} {unknown}");
        }
    }
}

#[tokio::test]
async fn links_start_with_the_address_of_the_server() {
    let server = server_of([plain(1)]).await;
    let found = answer(&server, FIND, near(1)).await;
    let url = rows(&found)[0]["url"].as_str().unwrap();
    assert!(url.starts_with("http://localhost:") && url.ends_with("/atm/1"), "{url}");
}

#[test]
fn rows_of_a_command_have_no_links_to_pages() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let file = "ref,lat,lon,name,fee,phone\n1,30.2672,-97.7431,Corner Shop,11.5 %,+1 512 555 0142\n";
    std::fs::write(folder.join("shops.csv"), file).unwrap();
    document(folder, &["atms", "import", "shops.csv", "--data-dir", "."]);
    let found = document(folder, &["atms", "near", "30.2672,-97.7431", "--data-dir", "."]);
    let row = &rows(&found)[0];
    assert_eq!((row.get("url"), found.get("howToReport")), (None, None), "{found}");
    assert!(row["directions"].is_string() && row["phone"].is_string(), "{found}");
}

#[tokio::test]
async fn first_ten_rows_have_directions() {
    let server = server_of((1..=12).map(plain)).await;
    for tool in [FIND, STATUS] {
        let found = answer(&server, tool, near(12)).await;
        let with: Vec<_> = rows(&found).iter().map(|row| row.get("directions").is_some()).collect();
        assert_eq!(with, [vec![true; 10], vec![false; 2]].concat(), "{tool}");
    }
}

#[tokio::test]
async fn permanently_closed_atm_has_no_directions() {
    let closed = Record { reported: ReportedState::PermanentlyClosed, ..plain(1) };
    let server = server_of([closed, plain(2)]).await;
    let details = answer(&server, "get_atm_details", json!({ "atmId": 1 })).await;
    assert_eq!((&details["status"], details.get("directions")), (&json!("permanently_closed"), None));
    assert!(details["url"].is_string() && details["listed"] == true, "{details}");
}

#[tokio::test]
async fn rounded_coordinates_are_in_the_directions() {
    let mut exact = plain(1);
    exact.point = Point::new(30.123_456_789, -97.740_000_4).unwrap();
    let server = server_of([exact]).await;
    let found = answer(&server, FIND, near(1)).await;
    let to = "https://www.google.com/maps/dir//30.123457,-97.74";
    assert_eq!(rows(&found)[0]["directions"], to, "{found}");
}

/// Returns the size of an answer, and the answer.
async fn sized(records: Vec<Record>, limit: u32) -> (usize, Value) {
    let server = server_of_with(&[("public_url", "https://atm.example.com/")], records).await;
    let text = text(&server, FIND, near(limit)).await;
    (text.len(), serde_json::from_str(&text).unwrap())
}

#[tokio::test]
async fn ten_usual_rows_are_complete_within_1100_tokens() {
    let usual = |number| {
        let known = known(number);
        Record { phone: None, operator: None, more: None, verified_at: known.reported_at, ..known }
    };
    let (bytes, found) = sized((1..=10).map(usual).collect(), 10).await;
    assert!(bytes <= SHORT_ANSWER, "{bytes} bytes");
    for row in rows(&found) {
        for member in ["url", "lastConfirmed", "directions", "status", "hours"] {
            assert!(row[member].is_string(), "{member} {row}");
        }
    }
    assert_eq!(found.get("notice"), None, "{found}");
}

#[tokio::test]
async fn ten_full_rows_are_shortened_from_the_end() {
    let (bytes, found) = sized((1..=10).map(known).collect(), 10).await;
    assert!(bytes <= SHORT_ANSWER, "{bytes} bytes");
    assert_eq!(rows(&found).len(), 10);
    for row in rows(&found) {
        for member in ["name", "address", "status", "distance", "url", "lastConfirmed"] {
            assert!(row[member].is_string(), "{member} {row}");
        }
    }
    assert!(rows(&found)[0]["directions"].is_string(), "{found}");
    for member in ["fees", "limits", "phone", "hours", "operator"] {
        assert!(!rows(&found)[0][member].is_null(), "{member}: {found}");
        assert!(rows(&found)[9].get(member).is_none(), "{member}: {found}");
    }
    let notice = found["notice"].as_str().unwrap();
    assert!(notice.ends_with("Some members of later rows are left out here; get_atm_details has them."), "{notice}");
    let (bytes, few) = sized((1..=3).map(known).collect(), 10).await;
    assert!(bytes <= SHORT_ANSWER && few.get("notice").is_none(), "{bytes} bytes");
    assert!(rows(&few).iter().all(|row| row.get("fees").is_some() && row.get("directions").is_some()), "{few}");
}

#[tokio::test]
async fn long_rows_leave_the_most_important_advisory() {
    let in_chicago = |number| {
        let mut record = known(number);
        record.point = Point::new(record.point.lat() + 11.61, record.point.lon() + 10.12).unwrap();
        (record.address.city, record.address.region) = (Some("Chicago".into()), Some("IL".into()));
        record
    };
    let server = server_of((1..=10).map(in_chicago)).await;
    let text = text(&server, FIND, json!({ "location": "Chicago, IL" })).await;
    let found: Value = serde_json::from_str(&text).unwrap();
    let advisories = found["advisories"].as_array().unwrap();
    assert_eq!((advisories.len(), &advisories[0]["id"]), (1, &json!("us-il-limit")), "{found}");
    assert!(text.len() <= SHORT_ANSWER, "{} bytes", text.len());
}

/// Returns an ATM with the longest texts that a list shows.
fn verbose(number: u32) -> Record {
    let long = |word: &str| format!("\"{word}\" {}", "\u{5186}\"\\ ".repeat(200));
    let mut record = known(number);
    record.name = Some(long("name").into());
    record.operator = Some(long("operator").into());
    record.phone = Some(long("phone").into());
    record.hours = Hours::parse(&long("hours"));
    record.address.formatted = Some(long("address").into());
    let amount = || Decimal::parse("999999999999.99999999");
    let more = record.more.get_or_insert_default();
    (more.fees.buy_percent, more.fees.buy_fixed) = (amount(), amount());
    (more.fees.sell_percent, more.fees.sell_fixed) = (amount(), amount());
    (more.limits.min, more.limits.max) = (amount(), amount());
    (more.limits.max_day, more.limits.kyc_above) = (amount(), amount());
    record
}

#[tokio::test]
async fn fifty_rows_have_at_most_48_kilobytes() {
    let (bytes, found) = sized((1..=60).map(known).collect(), 50).await;
    assert!(bytes <= LONG_ANSWER, "{bytes} bytes");
    assert_eq!(rows(&found).len(), 50);
    assert!(rows(&found).iter().all(|row| row.get("limits").is_some()), "{found}");
    for limit in [10, 50] {
        let (bytes, found) = sized((1..=60).map(verbose).collect(), limit).await;
        assert!(bytes <= LONG_ANSWER, "{bytes} bytes");
        assert!((10..=50).contains(&rows(&found).len()), "{}", rows(&found).len());
    }
}

#[tokio::test]
async fn fraud_advisory_cites_the_trade_commission_in_40_tokens() {
    let server = server_of([plain(1)]).await;
    let found = answer(&server, FIND, near(1)).await;
    let advisory = &found["advisories"][0];
    assert_eq!(advisory["id"], "scam");
    let [text, url] = ["text", "sourceUrl"].map(|member| advisory[member].as_str().unwrap());
    assert!(url.starts_with("https://www.ftc.gov/"), "{url}");
    assert!(text.len() + url.len() <= 40 * 4, "{} characters", text.len() + url.len());
}
