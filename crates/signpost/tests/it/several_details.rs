//! Details of several ATMs with one call of `get_atm_details` (docs/locator.md, Results).

use serde_json::{Value, json};
use signpost_locator::Record;

use crate::answers::{AUSTIN, DETAILS, FIND, answer, plain, server_of, server_of_with};
use crate::harness::Service;

fn ids(reply: &Value) -> Vec<u64> {
    reply["atms"].as_array().unwrap().iter().map(|atm| atm["id"].as_u64().unwrap()).collect()
}

/// Returns the text of a failed call.
async fn failed(server: &Service, arguments: Value) -> String {
    let reply = server.call(DETAILS, arguments).await.with(200);
    let result = &reply["result"];
    assert!(result["isError"] == true && result.get("structuredContent").is_none(), "{reply}");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn list_of_ids_returns_atms_and_unknown_ids() {
    let server = server_of((1..=30).map(plain)).await;
    let unknown = 8_000_000;
    for (arguments, found, not_found) in [
        (json!({ "atmIds": [3, 1, 2] }), vec![3, 1, 2], json!([])),
        (json!({ "atmId": 9, "atmIds": [3] }), vec![9, 3], json!([])),
        (json!({ "atmId": 3, "atmIds": [1, 3, 1] }), vec![3, 1], json!([])),
        (json!({ "atmIds": [unknown, 7, unknown + 1, unknown] }), vec![7], json!([unknown, unknown + 1])),
        (json!({ "atmId": unknown, "atmIds": [7] }), vec![7], json!([unknown])),
        (json!({ "atmId": null, "atmIds": [4.0] }), vec![4], json!([])),
        (
            json!({ "atmId": 21, "atmIds": (1..=20).collect::<Vec<_>>() }),
            [21].into_iter().chain(1..=20).collect(),
            json!([]),
        ),
    ] {
        let reply = answer(&server, DETAILS, arguments.clone()).await;
        assert_eq!((ids(&reply), &reply["notFound"]), (found, &not_found), "{arguments}");
    }
}

#[tokio::test]
async fn single_id_returns_the_details_themselves() {
    let server = server_of([plain(1)]).await;
    let details = answer(&server, DETAILS, json!({ "atmId": 1 })).await;
    assert_eq!((&details["id"], details.get("atms"), details.get("notFound")), (&json!(1), None, None));
    let several = answer(&server, DETAILS, json!({ "atmIds": [1] })).await;
    let mut own = details.clone();
    for shared in ["advisories", "howToReport"] {
        own.as_object_mut().unwrap().remove(shared);
    }
    assert_eq!(several["atms"], json!([own]));
    assert_eq!(several["advisories"], details["advisories"]);
    assert!(several["howToReport"].is_string(), "{several}");
}

#[tokio::test]
async fn unknown_ids_alone_are_an_error() {
    let server = server_of([plain(1)]).await;
    let text = failed(&server, json!({ "atmIds": [8_000_000, 8_000_001] })).await;
    assert!(text.starts_with("no Bitcoin ATM has one of the ids 8000000, 8000001. Ids come from"), "{text}");
    let text = failed(&server, json!({ "atmIds": [8_000_000] })).await;
    assert!(text.starts_with("no Bitcoin ATM has the id 8000000. Ids come from"), "{text}");
}

#[tokio::test]
async fn invalid_lists_of_ids_are_rejected() {
    let server = server_of([plain(1)]).await;
    for arguments in [
        json!({ "atmIds": [] }),
        json!({ "atmIds": (1..=21).collect::<Vec<_>>() }),
        json!({ "atmIds": [0] }),
        json!({ "atmIds": [1.5] }),
        json!({ "atmIds": ["1"] }),
        json!({ "atmIds": [null] }),
        json!({ "atmIds": 1 }),
        json!({ "atmIds": "1,2" }),
        json!({ "atmId": 1, "atmIds": [9_007_199_254_740_993_u64] }),
    ] {
        let reply = server.call(DETAILS, arguments.clone()).await.with(200);
        let message = reply["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("atmIds must be a list of 1 to 20 ids"), "{arguments}: {reply}");
    }
    for arguments in [json!({}), json!({ "atmId": null })] {
        let reply = server.call(DETAILS, arguments.clone()).await.with(200);
        let message = reply["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("atmId is required"), "{arguments}: {reply}");
    }
}

#[tokio::test]
async fn schema_requires_the_single_id_without_alternatives() {
    let server = signpost_atm::mcp::server(false, None);
    let tool = server.tools().find(|tool| tool.name == DETAILS).unwrap();
    let output = tool.output_schema.as_ref().unwrap();
    assert_eq!(tool.input_schema["required"], json!(["atmId"]));
    for schema in [&tool.input_schema, output] {
        for alternatives in ["oneOf", "anyOf", "allOf"] {
            assert!(schema.get(alternatives).is_none(), "{alternatives}");
        }
    }
    let list = &tool.input_schema["properties"]["atmIds"];
    assert_eq!((&list["minItems"], &list["maxItems"]), (&json!(1), &json!(20)));
    for member in ["atms", "notFound", "id", "listed", "url", "directions"] {
        assert!(output["properties"].get(member).is_some(), "{member}");
    }
}

#[tokio::test]
async fn full_reply_has_the_ids_for_another_call() {
    let long = |number: u32| {
        let mut record = plain(number);
        record.more.get_or_insert_default().notice = Some("x".repeat(6_000).into());
        record
    };
    let server = server_of((1..=20).map(long)).await;
    let all: Vec<u64> = (1..=20).collect();
    let (mut seen, mut asked) = (Vec::new(), all.clone());
    while !asked.is_empty() {
        let reply = answer(&server, DETAILS, json!({ "atmIds": asked })).await;
        let found = ids(&reply);
        assert!(!found.is_empty() && reply.to_string().len() <= 48_000);
        let left = asked.split_off(found.len());
        if !left.is_empty() {
            let rest = left.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
            let notice = format!("The reply is full: call get_atm_details again with atmIds [{rest}].");
            assert!(reply["notice"].as_str().unwrap().ends_with(&notice), "{}", reply["notice"]);
        }
        seen.extend(found);
        asked = left;
    }
    assert_eq!(seen, all);
}

#[tokio::test]
async fn laws_of_all_atms_are_included_once() {
    let in_minnesota = |number: u32| {
        let mut record = Record { point: signpost_locator::Point::new(44.98, -93.27).unwrap(), ..plain(number) };
        (record.address.city, record.address.region) = (Some("Minneapolis".into()), Some("MN".into()));
        record
    };
    let server = server_of([plain(1), in_minnesota(2), in_minnesota(3)]).await;
    let reply = answer(&server, DETAILS, json!({ "atmIds": [1, 2, 3] })).await;
    let advisories: Vec<_> = reply["advisories"].as_array().unwrap().iter().map(|one| one["id"].clone()).collect();
    assert_eq!(advisories, [json!("us-mn-kiosk-ban"), json!("scam")]);
    let notice = reply["notice"].as_str().unwrap();
    assert!(notice.contains("That is 2 of the 3 listed."), "{notice}");
    assert!(reply["atms"][1]["statusReason"].as_str().unwrap().starts_with("state law since"), "{reply}");
    assert_eq!(reply["atms"][0].get("notice"), None);
}

#[tokio::test]
async fn ids_of_a_search_are_accepted_at_once() {
    let settings = [("public_url", "https://atm.example.com/")];
    let server = server_of_with(&settings, (1..=10).map(plain)).await;
    let found = answer(&server, FIND, json!({ "lat": AUSTIN.0, "lon": AUSTIN.1 })).await;
    let reply = answer(&server, DETAILS, json!({ "atmIds": ids(&found) })).await;
    assert_eq!((ids(&reply), &reply["notFound"]), (ids(&found), &json!([])));
    for (row, details) in found["atms"].as_array().unwrap().iter().zip(reply["atms"].as_array().unwrap()) {
        for member in ["name", "status", "address", "lat", "lon", "url", "directions"] {
            assert_eq!(row[member], details[member], "{member}");
        }
    }
}
