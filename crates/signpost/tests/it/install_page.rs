//! `/mcp` in a browser, `/llms.txt`, and the registry entry: the descriptions of the locator for people and programs.

use std::fs;
use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};

use crate::assistant::{server, server_with};
use crate::harness::{Program, Reply, Service, http};

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const PUBLIC: (&str, &str) = ("public_url", "https://atm.example.com");

async fn open_page(server: &Service, path: &str, more: &[(&str, &str)]) -> Reply {
    server.send(Method::GET, path, &[&[("accept", BROWSER)], more].concat(), "").await
}

#[tokio::test]
async fn browsers_get_the_page_and_programs_an_error() {
    let server = server_with(&[PUBLIC]).await;
    let page = open_page(&server, "/mcp", &[]).await;
    assert_eq!((page.status, page.header("cache-control")), (200, Some("max-age=300")));
    let varies: Vec<_> = page.headers.get_all("vary").iter().map(|value| value.to_str().unwrap()).collect();
    assert_eq!(varies.join(", "), "accept, accept-language, Origin");
    assert!(page.text.contains("<link rel=\"canonical\" href=\"https://atm.example.com/mcp\">"), "{}", page.text);
    let spanish = open_page(&server, "/mcp", &[("accept-language", "es")]).await;
    assert!(spanish.text.contains("<html lang=\"es\">"), "{}", spanish.text);
    assert_eq!(open_page(&server, "/mcp?lang=es", &[]).await.text, spanish.text);

    for accept in ["", "*/*", "application/json", "text/event-stream", "application/json, text/html;q=0.5"] {
        let refused = server.send(Method::GET, "/mcp", &[("accept", accept)], "").await;
        assert_eq!((refused.status, refused.header("allow")), (405, Some("POST, OPTIONS")), "{accept}");
        assert_eq!(refused.header("vary"), Some("Accept"), "{accept}");
    }
    let refused = server.send(Method::DELETE, "/mcp", &[("accept", BROWSER)], "").await;
    assert_eq!(refused.status, 405);
    let head = server.send(Method::HEAD, "/mcp", &[("accept", BROWSER)], "").await;
    assert_eq!((head.status, head.text.as_str()), (200, ""));
    let asked = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    let headers = [("accept", BROWSER), ("content-type", "application/json")];
    assert_eq!(server.send(Method::POST, "/mcp", &headers, &asked).await.with(200)["result"], json!({}));
}

#[tokio::test]
async fn page_starts_with_the_operators_url() {
    let server = server_with(&[PUBLIC]).await;
    let page = open_page(&server, "/mcp", &[]).await.text;
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text} in {page}"));
    let parts = [
        "<code id=\"address\">https://atm.example.com/mcp</code>",
        "Where can I sell bitcoin",
        "cursor://anysphere.cursor-deeplink/mcp/install?name=signpost&amp;config=",
        "\"vscode:mcp/install?%7B%22name%22",
        "\"vscode-insiders:mcp/install?%7B%22name%22",
        "claude mcp add -s user --transport http signpost https://atm.example.com/mcp\n",
        "find_nearest_bitcoin_atm",
    ];
    let places: Vec<_> = parts.iter().map(|part| at(part)).collect();
    assert!(places.is_sorted(), "{places:?}");
    for host in ["atm.example.com", "localhost", "127.0.0.1"] {
        assert_eq!(open_page(&server, "/mcp", &[("host", host)]).await.text, page, "{host}");
    }
    let foreign = open_page(&server, "/mcp", &[("host", "evil.example")]).await;
    assert!(foreign.status == 403 && !foreign.text.contains("evil"), "{}", foreign.text);
    for asset in page.split("=\"/assets/").skip(1).filter_map(|rest| rest.split('"').next()) {
        server.visitor().get(&format!("/assets/{asset}")).await;
    }
    assert!(page.contains("/assets/copy.") && page.contains("/assets/install."), "{page}");
}

#[tokio::test]
async fn server_without_a_public_url_offers_no_links() {
    let local = server().await;
    let page = open_page(&local, "/mcp", &[]).await.text;
    assert!(page.contains("<code id=\"address\">http://localhost:") && !page.contains("canonical"), "{page}");
    assert!(page.contains("cannot be reached from there"), "{page}");
    let nowhere = server_with(&[("listen", "0.0.0.0:0")]).await;
    for path in ["/mcp", "/mcp.md"] {
        let text = open_page(&nowhere, path, &[("host", "evil.example")]).await.text;
        assert!(text.contains("does not know its own address"), "{text}");
        assert!(!text.contains("evil") && !text.contains("cursor:") && !text.contains("0.0.0.0:0/mcp"), "{text}");
    }
}

#[tokio::test]
async fn llms_txt_matches_the_page() {
    let server = server_with(&[PUBLIC]).await;
    let page = open_page(&server, "/mcp.md", &[]).await;
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/markdown; charset=utf-8")));
    for part in
        ["\n    https://atm.example.com/mcp\n", "signpost mcp install cursor --url https://atm.example.com/mcp\n"]
    {
        assert!(page.text.contains(part), "{}", page.text);
    }
}

#[tokio::test]
async fn guide_is_short_and_its_links_work() {
    let server = server_with(&[PUBLIC]).await;
    let guide = server.visitor().get("/llms.txt").await.text;
    assert!(guide.len() <= 4096, "{} bytes", guide.len());
    assert!(guide.starts_with("# ") && guide.contains("\n> "), "{guide}");
    for part in ["https://atm.example.com/mcp.", "`find_nearest_bitcoin_atm`", "`advisories`", "licences"] {
        assert!(guide.contains(part), "{part}: {guide}");
    }
    let links = guide.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let paths: Vec<_> = links.map(|link| link.strip_prefix("https://atm.example.com").expect(link)).collect();
    // The SSE stream never ends.
    for path in paths.iter().filter(|path| **path != "/sse") {
        assert_eq!(open_page(&server, path, &[]).await.status, 200, "{path}");
    }
    assert!(paths.len() > 6, "{guide}");
}

/// Returns the registry's requirements for an entry, from its schema of 2025-12-11 and its documentation.
fn registry_rules() -> Value {
    let text = |most: u32| json!({ "type": "string", "minLength": 1, "maxLength": most });
    let address = |scheme: &str| json!({ "type": "string", "pattern": format!("^{scheme}://[^{{}}\\s]+$") });
    let remote = json!({
        "type": "object",
        "required": ["type", "url"],
        "properties": { "type": { "enum": ["streamable-http", "sse"] }, "url": address("https") },
    });
    json!({
        "type": "object",
        "required": ["$schema", "name", "description", "version"],
        "properties": {
            "$schema": { "const": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json" },
            "name": {
                "type": "string", "minLength": 3, "maxLength": 200, "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$",
            },
            "title": text(100),
            "description": text(100),
            "version": { "type": "string", "maxLength": 255, "pattern": "^[0-9]+\\.[0-9]+\\.[0-9]+" },
            "icons": { "type": "array", "items": { "properties": { "src": address("https") } } },
            "remotes": { "type": "array", "items": remote },
        },
    })
}

#[tokio::test]
async fn registry_entries_are_valid() {
    let rules = jsonschema::validator_for(&registry_rules()).unwrap();
    let check = |entry: &Value| {
        let wrong: Vec<_> = rules.iter_errors(entry).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{entry}: {wrong:?}");
    };
    let own: Value = serde_json::from_str(include_str!("../../../../server.json")).unwrap();
    check(&own);
    assert_eq!(own.get("remotes"), None, "the project runs no server");
    let server = server_with(&[PUBLIC]).await;
    // The server card, edited as docs/locator.md describes.
    let mut card = server.visitor().get("/mcp/server-card").await.with(200);
    card.as_object_mut().unwrap().remove("icons");
    card["$schema"] = own["$schema"].clone();
    check(&card);
    assert_eq!(card["remotes"][0]["url"], "https://atm.example.com/mcp");
    card["remotes"][0]["url"] = json!("https://{host}/mcp");
    assert!(!rules.is_valid(&card), "an address with a gap is invalid");
}

/// Returns true if a file in the folder or below it contains the text.
fn contains(folder: &Path, text: &str) -> bool {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).any(|path| {
        if path.is_dir() {
            return contains(&path, text);
        }
        let bytes = fs::read(&path).unwrap_or_default();
        bytes.windows(text.len()).any(|window| window.eq_ignore_ascii_case(text.as_bytes()))
    })
}

/// The page promises it: the place of a search is neither logged nor stored.
#[tokio::test]
async fn searched_place_is_not_stored() {
    const PLACE: &str = "Zzyzxford Hollow, NV";
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["serve", "--json", "--listen", "127.0.0.1:0", "--services", "atm", "--data-dir", "data"];
    let mut running = Program::within(folder.path(), &arguments).start_server(&[("SIGNPOST_LOG", "debug")]);
    let address = running.addresses["mcp"].as_str().unwrap().to_owned();
    for tool in ["find_nearest_bitcoin_atm", "check_atm_status"] {
        let params = json!({ "name": tool, "arguments": { "location": PLACE } });
        let asked = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let request = http().post(&address).header("content-type", "application/json").body(asked.to_string());
        let reply = request.send().await.unwrap().text().await.unwrap();
        assert!(reply.contains("Zzyzxford"), "the tool was asked about it: {reply}");
    }
    running.terminate();
    let (status, log) = tokio::task::spawn_blocking(move || running.wait_for_exit()).await.unwrap();
    assert!(status.success() && !log.is_empty(), "{log}");
    assert!(!log.to_lowercase().contains("zzyzxford"), "{log}");
    assert!(contains(folder.path(), "SQLite format 3") && !contains(folder.path(), "zzyzxford"));
}
