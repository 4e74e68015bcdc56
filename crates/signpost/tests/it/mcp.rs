//! MCP resources, prompts and completions, and the documents that describe the server.

use reqwest::Method;
use serde_json::{Value, json};

use crate::assistant::{server, server_with};
use crate::harness::Service;

async fn ask(server: &Service, method: &str, params: Value) -> Value {
    server.rpc(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })).await.with(200)
}

async fn structured(server: &Service, tool: &str, arguments: Value) -> Value {
    server.call(tool, arguments).await.with(200)["result"]["structuredContent"].take()
}

/// Returns the content of a resource.
async fn read(server: &Service, uri: &str) -> Value {
    let reply = ask(server, "resources/read", json!({ "uri": uri })).await;
    let contents = &reply["result"]["contents"][0];
    assert_eq!(
        (contents["uri"].as_str(), contents["mimeType"].as_str()),
        (Some(uri), Some("application/json")),
        "{reply}"
    );
    serde_json::from_str(contents["text"].as_str().unwrap()).unwrap()
}

async fn complete(server: &Service, of: Value, argument: &str, typed: &str, known: Value) -> Vec<String> {
    let params =
        json!({ "ref": of, "argument": { "name": argument, "value": typed }, "context": { "arguments": known } });
    let completion = ask(server, "completion/complete", params).await["result"]["completion"].take();
    assert!(completion["total"].as_u64() >= Some(completion["values"].as_array().unwrap().len() as u64));
    serde_json::from_value(completion["values"].clone()).unwrap()
}

#[tokio::test]
async fn resources_equal_tool_results() {
    let server = server().await;
    let listed = structured(&server, "list_atms_by_city", json!({ "state": "TX", "city": "Austin" })).await;
    assert_eq!(read(&server, "atm://TX/Austin").await, listed);
    assert_eq!(read(&server, "atm://tx/saint%20paul").await["total"], 0);
    let id = listed["atms"][0]["id"].as_u64().unwrap();
    let details = structured(&server, "get_atm_details", json!({ "atmId": id })).await;
    assert_eq!(read(&server, &format!("atm://{id}")).await, details);
    let coverage = read(&server, "signpost://coverage").await;
    assert_eq!(coverage["server"]["mode"], "remote");
    assert!(coverage["machines"].as_u64() >= Some(150) && coverage["fictional"] == true);
    let texas = coverage["regions"].as_array().unwrap().iter().find(|region| region["code"] == "TX").unwrap();
    assert!(texas["machines"].as_u64() >= Some(3));
    for uri in [
        "atm://0",
        "atm://01",
        "atm://99999999",
        "atm://x",
        "atm://TX",
        "atm://XX/Austin",
        "atm://TX/Nowhere",
        "atm://",
    ] {
        let reply = ask(&server, "resources/read", json!({ "uri": uri })).await;
        assert_eq!(reply["error"]["code"], -32002, "{uri} {reply}");
        assert!(reply["error"]["message"].as_str().unwrap().starts_with("Resource not found: "));
    }
}

#[tokio::test]
async fn prompts_include_their_arguments() {
    let server = server().await;
    let listed = ask(&server, "prompts/list", json!({})).await["result"]["prompts"].take();
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|prompt| prompt["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["find_atm_near_me", "compare_atms", "is_my_atm_open"]);
    let get = async |name: &str, arguments: Value| {
        ask(&server, "prompts/get", json!({ "name": name, "arguments": arguments })).await
    };
    let near = get("find_atm_near_me", json!({ "location": "Miami, FL" })).await;
    assert!(near["result"]["messages"][0]["content"]["text"].as_str().unwrap().contains("nearest to Miami, FL"));
    let compared = get("compare_atms", json!({ "location": "Austin", "amount": "200 USD" })).await;
    assert!(compared["result"]["messages"][0]["content"]["text"].as_str().unwrap().contains("to exchange 200 USD"));
    let open = get("is_my_atm_open", json!({ "atmId": "1" })).await["result"]["messages"].take();
    let record: Value = serde_json::from_str(open[0]["content"]["resource"]["text"].as_str().unwrap()).unwrap();
    assert_eq!((record["id"].as_u64(), open[0]["content"]["resource"]["uri"].as_str()), (Some(1), Some("atm://1")));
    for (name, arguments) in [
        ("find_atm_near_me", json!({})),
        ("is_my_atm_open", json!({ "atmId": "99999999" })),
        ("is_my_atm_open", json!({ "atmId": 1 })),
        ("buy_bitcoin", json!({})),
    ] {
        assert_eq!(get(name, arguments).await["error"]["code"], -32602);
    }
}

#[tokio::test]
async fn completions_come_from_the_catalogue() {
    let server = server().await;
    let city = json!({ "type": "ref/resource", "uri": "atm://{state}/{city}" });
    let atm = json!({ "type": "ref/resource", "uri": "atm://{atmId}" });
    let near = json!({ "type": "ref/prompt", "name": "find_atm_near_me" });
    let none = || json!({});
    assert_eq!(complete(&server, city.clone(), "state", "tex", none()).await, ["TX"]);
    assert!(complete(&server, city.clone(), "state", "", none()).await.len() > 20);
    assert_eq!(complete(&server, city.clone(), "city", "aus", json!({ "state": "TX" })).await, ["Austin"]);
    assert!(complete(&server, city.clone(), "city", "aus", json!({ "state": "CA" })).await.is_empty());
    assert_eq!(complete(&server, near, "location", "MIA", none()).await, ["Miami, FL"]);
    assert_eq!(complete(&server, atm.clone(), "atmId", "", none()).await.len(), 100);
    let begun = complete(&server, atm.clone(), "atmId", "12", none()).await;
    assert!(begun.contains(&"12".to_owned()) && begun.iter().all(|id| id.starts_with("12")), "{begun:?}");
    assert!(complete(&server, atm, "atmId", "x", none()).await.is_empty());
}

#[tokio::test]
async fn documents_about_the_server_agree() {
    let server = server_with(&[("public_url", "https://atm.example.com/")]).await;
    let document = async |path: &str| server.send(Method::GET, path, &[("origin", "https://any.example")], "").await;
    let known = document("/.well-known/mcp-server").await;
    assert!(known.header("etag").is_some() && known.header("cache-control") == Some("public, max-age=3600"));
    let known = known.with(200);
    let card = document("/mcp/server-card").await;
    assert_eq!(card.header("content-type"), Some("application/mcp-server-card+json"));
    assert_eq!(card.header("access-control-allow-origin"), Some("*"));
    let tag = card.header("etag").unwrap().to_owned();
    let again = server.send(Method::GET, "/mcp/server-card", &[("if-none-match", &tag)], "").await;
    assert_eq!((again.status, again.text.as_str()), (304, ""));
    let card = card.with(200);
    let catalogue = document("/.well-known/ai-catalog.json").await;
    assert_eq!(catalogue.header("content-type"), Some("application/ai-catalog+json"));
    let entry = catalogue.with(200)["entries"][0].take();
    let response = ask(&server, "initialize", json!({ "protocolVersion": "2025-11-25" })).await["result"].take();
    let capabilities: Vec<_> = response["capabilities"].as_object().unwrap().keys().map(String::as_str).collect();
    let file: Value = serde_json::from_str(include_str!("../../../../server.json")).unwrap();

    assert_eq!(card["name"], "com.example.atm/signpost");
    assert_eq!(entry["identifier"], "urn:air:atm.example.com:mcp:signpost");
    assert_eq!(
        (&entry["url"], &entry["type"]),
        (&json!("https://atm.example.com/mcp/server-card"), &json!("application/mcp-server-card+json"))
    );
    assert_eq!(known["name"], response["serverInfo"]["name"]);
    assert!(file["name"].as_str().unwrap().ends_with("/signpost"));
    for member in ["title", "version", "description"] {
        assert_eq!(
            (&card[member], &file[member]),
            (&response["serverInfo"][member], &response["serverInfo"][member]),
            "{member}"
        );
    }
    assert_eq!(
        (&known["version"], &card["icons"]),
        (&response["serverInfo"]["version"], &response["serverInfo"]["icons"])
    );
    assert_eq!(known["capabilities"], json!(capabilities));
    assert_eq!(known["endpoints"]["http"], card["remotes"][0]["url"]);
    assert_eq!(known["endpoints"]["sse"], card["remotes"][1]["url"]);
    assert!(card["description"].as_str().unwrap().len() <= 100);
    let wrong = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    let headers = [("content-type", "application/json"), ("mcp-protocol-version", "1999-01-01")];
    let supported = server.send(Method::POST, "/mcp", &headers, &wrong).await.with(400);
    assert_eq!(card["remotes"][0]["supportedProtocolVersions"], supported["error"]["data"]["supported"]);
}
