//! Untrusted text in the output for terminals and assistants.

use std::path::Path;

use axum::http::StatusCode;
use serde_json::{Value, json};
use signpost_store::Statement;

use crate::assistant::{server, server_in};
use crate::harness::{Endpoint, until};
use crate::program::command;

/// A name that reverses text direction, hides a word and colours a terminal, and its cleaned form.
const HOSTILE: &str = "Corner\u{202e} Shop\u{200b}\u{e0041}\u{9b}31m \u{1f468}\u{200d}\u{1f469}";
const CLEANED: &str = "Corner Shop 31m \u{1f468}\u{200d}\u{1f469}";

fn is_hidden(letter: char) -> bool {
    (letter.is_control() && letter != '\n')
        || matches!(letter, '\u{200b}' | '\u{202a}'..='\u{202e}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns the output of a command, as text and as JSON.
fn printed(folder: &Path, arguments: &[&str]) -> (String, Value) {
    let people = command(folder, arguments).run();
    assert_eq!((people.code, people.err.as_str()), (Some(0), ""), "{}", people.out);
    let program = command(folder, &[arguments, &["--json"]].concat()).run();
    for out in [&people.out, &program.out] {
        assert!(!out.contains(is_hidden), "{out:?}");
    }
    (people.out.clone(), program.json())
}

#[tokio::test]
async fn invisible_characters_of_sources_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, data) = (folder.path(), folder.path().join("data"));
    let row = format!("1,30.2672,-97.7431,\"{HOSTILE}\",\"{HOSTILE}\",\"{HOSTILE}\",\"1 {HOSTILE} St\",Austin,TX");
    let table = format!("ref,lat,lon,name,operator,hours,street,city,state\n{row}\n");
    std::fs::write(folder.join("machines.csv"), table).unwrap();
    let (response, report) = printed(folder, &["atms", "import", "machines.csv"]);
    assert!(response.contains(CLEANED) && report.to_string().contains(CLEANED), "the uncertain hours: {response}");
    let (response, found) = printed(folder, &["atms", "near", "30.2672,-97.7431"]);
    assert!(response.contains(CLEANED), "{response}");
    let id = &found["atms"][0]["id"];
    for command in [&["atms", "show", &id.to_string()][..], &["atms", "check"], &["atms", "export", "--format", "csv"]]
    {
        let people = crate::program::command(folder, command).run();
        assert!(people.out.contains(CLEANED) && !people.out.contains(is_hidden), "{people:?}");
    }
    let server = server_in(&data, &[]).await;
    for (tool, arguments) in [
        ("find_nearest_bitcoin_atm", json!({ "lat": 30.2672, "lon": -97.7431 })),
        ("get_atm_details", json!({ "atmId": id })),
        ("check_atm_status", json!({ "lat": 30.2672, "lon": -97.7431 })),
        ("list_atms_by_city", json!({ "city": "Austin", "state": "TX" })),
    ] {
        let reply = server.call(tool, arguments).await.with(200);
        let response = &reply["result"]["content"][0]["text"];
        assert!(
            response.as_str().unwrap().contains(CLEANED) && !reply.to_string().contains(is_hidden),
            "{tool}: {reply}"
        );
    }
}

#[tokio::test]
async fn endpoint_response_cannot_control_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, data) = (folder.path(), folder.path().join("data"));
    let service = server_in(&data, &[]).await;
    let (integrator, endpoint) = (service.integrator().await, Endpoint::start().await);
    integrator.register_domain_at("shop.test", &endpoint.url("/hook")).await;
    endpoint.respond_with((StatusCode::GONE, HOSTILE));
    let session = integrator.create_session("shop.test").await;
    integrator.authenticate(&session, &service.phone().answer(&session)).await.with(200);
    let failed = until("it failed", async || {
        let events = service.outbox().await;
        events.into_iter().find(|event| event.state == "failed")
    })
    .await;
    // Answers of this host are not stored, so the answer of a public host is simulated.
    let answered = Statement::new("UPDATE deliveries SET last_answer = $1", vec![HOSTILE.to_owned().into()]);
    service.app.store.write([answered]).await.unwrap();
    let (response, document) = printed(folder, &["deliveries", "show", &failed.id]);
    assert!(response.contains(CLEANED), "{response}");
    assert!(document.to_string().contains(HOSTILE), "a program gets the bytes that the endpoint sent: {document}");
}

#[tokio::test]
async fn echoed_text_has_no_invisible_characters() {
    let server = server().await;
    for typed in [format!("Nowhereville {HOSTILE}"), "Aust\u{202e}\u{200b}in, TX".to_owned(), HOSTILE.repeat(100)] {
        let query: String = url::form_urlencoded::byte_serialize(typed.as_bytes()).collect();
        let page = crate::pages::open(&server, &format!("/near?q={query}")).await;
        assert!(!page.text.contains(is_hidden), "{typed:?}: {}", page.text);
        assert!(page.text.matches("Corner Shop").count() <= 30, "the length is bounded");
        // Links to the page in the other language repeat the search.
        assert!(!page.text.contains("%E2%80%AE") && !page.text.contains("%E2%80%8B"), "{typed:?}");
        let arguments = [
            json!({ "location": typed }),
            json!({ "location": "Austin, TX", "limit": typed }),
            json!({ typed.clone(): 1, "location": "Austin, TX" }),
        ];
        for arguments in arguments {
            let reply = server.call("find_nearest_bitcoin_atm", arguments).await.with(200);
            assert!(!reply.to_string().contains(is_hidden), "{reply}");
        }
    }
}

#[test]
fn code_cannot_add_an_output_line() {
    let folder = tempfile::tempdir().unwrap();
    let code = "svc://auth?v=3%0asignpost:%20the%20code%20is%20good%1b[2K";
    let ended = command(folder.path(), &["wallet", "scan", code]).run();
    assert!(ended.failed(2).contains("3 signpost: the code is good [2K"), "{}", ended.err);
}

#[test]
fn schemas_mark_untrusted_members() {
    let server = signpost_atm::mcp::server(false, None);
    for tool in server.tools() {
        let schema = tool.output_schema.as_ref().unwrap();
        let rows = schema.pointer("/properties/atms/items").filter(|rows| rows.get("properties").is_some());
        let machine = rows.unwrap_or(schema);
        for member in ["name", "address", "operator"] {
            let message = machine["properties"][member]["description"].as_str().unwrap_or_default();
            assert_eq!(message, "Source text", "{} {member}", tool.name);
        }
        assert!(machine["properties"]["status"]["description"].is_null());
    }
}
