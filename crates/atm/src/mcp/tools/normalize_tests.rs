use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::json;

use super::super::all;
use super::*;

fn schema(tool: &str) -> Value {
    let tools = all(false);
    tools.into_iter().find(|one| one.name == tool).expect("a tool").input_schema
}

fn arguments(value: Value) -> Arguments {
    let Value::Object(arguments) = value else { panic!("{value}") };
    arguments
}

fn normalized(tool: &str, sent: Value) -> Result<NormalizedArguments, String> {
    normalize(&schema(tool), arguments(sent))
}

/// Checks the arguments after conversion, without notices.
#[track_caller]
fn assert_converted(tool: &str, sent: Value, expected: Value) {
    let text = sent.to_string();
    let NormalizedArguments { arguments: converted, notices } = normalized(tool, sent).expect("valid input");
    assert_eq!(converted, arguments(expected), "{text}");
    assert!(notices.is_empty(), "{notices:?}");
}

const FIND: &str = "find_nearest_bitcoin_atm";
const DETAILS: &str = "get_atm_details";
const LIST: &str = "list_atms_by_city";

#[test]
fn json_number_in_text_is_a_number() {
    for (text, expected) in [
        ("30.2672", json!(30.2672)),
        ("-97.7431", json!(-97.7431)),
        ("0", json!(0)),
        ("1e1", json!(1e1)),
        ("-1.5E-3", json!(-1.5e-3)),
        ("90.01000000000000000000000000001", json!(90.01)),
    ] {
        assert_converted(FIND, json!({ "lat": text, "lon": 1 }), json!({ "lat": expected, "lon": 1 }));
    }
    assert_converted(FIND, json!({ "limit": "3" }), json!({ "limit": 3 }));
    assert_converted(DETAILS, json!({ "atmId": "45" }), json!({ "atmId": 45 }));
    // Bounds are checked afterwards, without loss of digits.
    let large = 9_007_199_254_740_993_u64;
    assert_converted(DETAILS, json!({ "atmId": large.to_string() }), json!({ "atmId": large }));
}

#[test]
fn other_numeric_text_is_refused() {
    let long = format!("1{}", "0".repeat(MAX_NUMBER_CHARS));
    let huge = "9".repeat(1 << 20);
    for text in [
        "0x10",
        " 1e3",
        "1e3 ",
        "\n1",
        "+1",
        "01",
        "-01",
        "1.",
        ".5",
        "1e",
        "1e+",
        "1e999",
        "--1",
        "-",
        "1 2",
        "1,5",
        "1_000",
        "Infinity",
        "-Infinity",
        "NaN",
        "nan",
        "ten",
        "1º",
        "１",
        "٣",
        "1\u{200b}",
        "{}",
        "\"1\"",
        " ",
        &long,
        &huge,
    ] {
        let reason = normalized(FIND, json!({ "lat": text, "lon": 1 })).expect_err(text);
        assert!(
            reason.starts_with("lat must be a number such as 10 or -97.74, or text with such a number"),
            "{reason}"
        );
        assert!(reason.contains("; for example {\"limit\":10,\"location\":\"Austin, TX\""), "{reason}");
        assert!(reason.len() < 1000, "{reason}");
    }
    // A required argument is never absent.
    for blank in ["", " "] {
        assert!(normalized(DETAILS, json!({ "atmId": blank })).is_err());
    }
}

#[test]
fn text_of_other_types_is_unchanged() {
    for sent in [
        json!({ "location": "78701", "openNow": "True", "coin": "1", "country": "5" }),
        json!({ "location": true, "limit": [], "lat": {}, "openNow": 1, "coin": 5, "units": false }),
        json!({ "location": " ", "service": "null" }),
    ] {
        assert_converted(FIND, sent.clone(), sent);
    }
    assert_converted(LIST, json!({ "state": 5, "city": 78701 }), json!({ "state": 5, "city": 78701 }));
}

#[test]
fn array_items_are_converted() {
    let schema = json!({
        "properties": { "ids": { "type": "array", "items": { "type": "integer" } } }, "examples": [{ "ids": [1] }],
    });
    let ids = normalize(&schema, arguments(json!({ "ids": ["45", 46] }))).unwrap().arguments;
    assert_eq!(ids, arguments(json!({ "ids": [45, 46] })));
    let reason = normalize(&schema, arguments(json!({ "ids": [1, "0x10"] }))).unwrap_err();
    assert!(reason.starts_with("ids must be a number") && reason.ends_with(r#"; for example {"ids":[1]}"#), "{reason}");
}

#[test]
fn list_in_text_is_a_list() {
    let ids = json!({ "atmIds": [45, 46] });
    for text in ["[45,46]", "[45, \"46\"]", "[\n45,46 ]"] {
        assert_converted(DETAILS, json!({ "atmIds": text }), ids.clone());
    }
    let long = format!("[{}1]", "1,".repeat(MAX_LIST_BYTES));
    let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
    for text in ["45,46", "45", " [45]", "\"[45]\"", "[45", "[45]]", &long, &deep] {
        assert_converted(DETAILS, json!({ "atmIds": text }), json!({ "atmIds": text }));
    }
}

#[test]
fn boolean_in_text_is_a_boolean() {
    assert_converted(FIND, json!({ "openNow": "true" }), json!({ "openNow": true }));
    assert_converted(FIND, json!({ "openNow": "false" }), json!({ "openNow": false }));
    for other in [json!("TRUE"), json!("yes"), json!("1"), json!(1), json!(" true")] {
        assert_converted(FIND, json!({ "openNow": other }), json!({ "openNow": other }));
    }
}

#[test]
fn numeric_location_is_a_zip_code() {
    for (number, text, is_padded) in [
        (json!(78701), "78701", false),
        (json!(78701.0), "78701", false),
        (json!(2134), "02134", true),
        (json!(2134.0), "02134", true),
        (json!(0), "00000", true),
        (json!(-0.0), "00000", true),
        (json!(99_999), "99999", false),
        (json!(100_000), "100000", false),
        (json!(1e5), "100000", false),
        (json!(787_011_234), "787011234", false),
        (json!(-5), "-5", false),
        (json!(30.5), "30.5", false),
        (json!(u64::MAX), "18446744073709551615", false),
    ] {
        let NormalizedArguments { arguments, notices } = normalized(FIND, json!({ "location": number })).unwrap();
        assert_eq!(arguments["location"], text, "{number}");
        assert_eq!(!notices.is_empty(), is_padded, "{number}: {notices:?}");
        assert!(notices.iter().all(|notice| notice.contains(text) && notice.ends_with('.')), "{notices:?}");
    }
}

#[test]
fn blank_optional_arguments_are_absent() {
    for blank in [json!(null), json!("")] {
        assert_converted(
            FIND,
            json!({ "location": "Austin, TX", "service": blank, "coin": blank, "lat": blank, "lon": blank }),
            json!({ "location": "Austin, TX" }),
        );
        assert_converted(FIND, json!({ "location": blank, "lat": 1, "lon": 2 }), json!({ "lat": 1, "lon": 2 }));
        assert_converted(
            LIST,
            json!({ "state": "TX", "city": blank, "cursor": blank }),
            json!({ "state": "TX", "city": blank }),
        );
    }
}

#[test]
fn zero_coordinates_beside_a_location_are_absent() {
    for zero in [json!(0), json!(0.0), json!(-0.0), json!("0"), json!("0.0")] {
        let sent = json!({ "location": "Austin, TX", "lat": zero, "lon": zero });
        assert_converted(FIND, sent, json!({ "location": "Austin, TX" }));
    }
    for other in [
        json!({ "lat": 0, "lon": 0 }),
        json!({ "location": "Austin, TX", "lat": 0, "lon": 1 }),
        json!({ "location": "Austin, TX", "lat": 1, "lon": 0 }),
        json!({ "location": "Austin, TX", "lat": 0 }),
        json!({ "location": "Austin, TX", "lon": 0 }),
    ] {
        assert_converted(FIND, other.clone(), other);
    }
    assert_converted(FIND, json!({ "location": "", "lat": 0, "lon": 0 }), json!({ "lat": 0, "lon": 0 }));
}

#[test]
fn only_arguments_of_client_libraries_are_ignored() {
    assert_converted(
        FIND,
        json!({
            "location": "Austin, TX", "sessionId": "a", "toolCallId": {}, "action": "sendMessage", "chatInput": "",
            "random_string": null,
        }),
        json!({ "location": "Austin, TX" }),
    );
    for other in ["sessionid", "SessionId", "session_id", "latitude", "_meta", "signal"] {
        let sent = json!({ "location": "Austin, TX", (other): "" });
        assert_converted(FIND, sent.clone(), sent);
    }
    let declared = json!({ "properties": { "sessionId": { "type": "integer" } } });
    let kept = normalize(&declared, arguments(json!({ "sessionId": "5" }))).unwrap();
    assert_eq!(kept.arguments, arguments(json!({ "sessionId": 5 })));
}

/// Returns JSON values, often of the kinds that clients send.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "-?[0-9]{0,3}(\\.[0-9]{1,3})?(e[0-9])?".prop_map(Value::from),
        prop::sample::select(vec!["", "0", "Austin, TX", "0x10", "NaN", " "]).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map("[a-z]{1,3}", inner, 0..4).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_arguments() -> impl Strategy<Value = Arguments> {
    let names = [
        "location",
        "lat",
        "lon",
        "limit",
        "maxDistance",
        "openNow",
        "coin",
        "atmId",
        "state",
        "city",
        "cursor",
        "sessionId",
        "latitude",
    ];
    let name = prop_oneof![prop::sample::select(names.to_vec()).prop_map(str::to_owned), any::<String>()];
    btree_map(name, value(), 0..8).prop_map(|members| members.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn conversion_is_idempotent(sent in any_arguments(), tool in 0..4_usize) {
        let schema = &all(false)[tool].input_schema;
        if let Ok(once) = normalize(schema, sent.clone()) {
            prop_assert!(once.arguments.len() <= sent.len());
            prop_assert!(once.notices.len() <= 1);
            let twice = normalize(schema, once.arguments.clone()).expect("converted arguments are valid");
            prop_assert_eq!(twice, NormalizedArguments { notices: Vec::new(), ..once });
        }
    }

    #[test]
    fn typed_arguments_are_unchanged(
        location in "[A-Z][a-z]{0,9}", lat in 1.0..90.0, lon in -180.0..-1.0, limit in 1..50, open_now: bool,
    ) {
        let sent = arguments(json!({
            "location": location, "lat": lat, "lon": lon, "limit": limit, "openNow": open_now,
        }));
        let unchanged = NormalizedArguments { arguments: sent.clone(), notices: Vec::new() };
        prop_assert_eq!(normalize(&schema(FIND), sent), Ok(unchanged));
    }
}
