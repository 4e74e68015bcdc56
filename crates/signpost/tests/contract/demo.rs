//! `signpost demo`: a server and a shop in one command, without persistent data. `tests/pages/demo.test.mjs` tests the
//! login.

use std::fs;
use std::path::Path;

use reqwest::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, LOCATION, ORIGIN, SET_COOKIE};
use reqwest::{RequestBuilder, Response};

use crate::harness::{Program, RunningProgram, http, members};

async fn demo(folder: &Path, more: &[&str]) -> RunningProgram {
    let arguments = [&["demo", "--json", "--listen", "127.0.0.1:0"], more].concat();
    let program = Program::within(folder, &arguments);
    tokio::task::spawn_blocking(|| program.start_server(&[])).await.expect("no panic")
}

async fn ends(mut demo: RunningProgram) -> (Option<i32>, String) {
    demo.terminate();
    let ended = tokio::task::spawn_blocking(move || demo.wait_for_exit()).await.expect("no panic");
    (ended.0.code(), ended.1)
}

async fn answer(request: RequestBuilder) -> Response {
    request.send().await.expect("an answer")
}

fn location(response: &Response) -> &str {
    response.headers()[LOCATION].to_str().expect("a text")
}

#[tokio::test]
async fn demo_serves_a_shop_and_leaves_no_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let demo = demo(folder.path(), &[]).await;
    assert_eq!(members(&demo.addresses), ["server", "shop", "wallet", "mcp"].into());
    let (server, shop) = (demo.address("server"), demo.address("shop"));
    assert_eq!(demo.address("wallet"), format!("{server}/wallet"));
    let wallet = answer(http().get(demo.address("wallet"))).await;
    assert_eq!(
        (wallet.status().as_u16(), wallet.headers()["content-type"].as_bytes()),
        (200, &b"text/html; charset=utf-8"[..])
    );
    assert!(server.starts_with("http://localhost:") && shop.starts_with("http://localhost:") && server != shop);
    let front = answer(http().get(&shop)).await;
    assert_eq!(
        (front.status().as_u16(), &front.headers()[CACHE_CONTROL]),
        (200, "no-store".try_into().as_ref().unwrap())
    );
    assert!(front.headers().contains_key(CONTENT_SECURITY_POLICY));
    assert!(front.text().await.expect("a text").contains("href=\"/login\""));
    let health = answer(http().get(format!("{server}/health"))).await;
    assert_eq!(health.status(), 200);
    let search = r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":
        {"name": "find_nearest_bitcoin_atm", "arguments": {"location": "Miami, FL", "limit": 3}}}"#;
    let search = http().post(demo.address("mcp")).header("content-type", "application/json").body(search);
    let found = answer(search).await.text().await.expect("a text");
    assert!(found.contains("Miami"), "{found}");
    assert_eq!(ends(demo).await, (Some(0), String::new()));
    assert!(fs::read_dir(folder.path()).expect("a folder").next().is_none(), "something was left behind");
}

#[tokio::test]
async fn shop_rejects_foreign_login_returns() {
    let folder = tempfile::tempdir().expect("a folder");
    let demo = demo(folder.path(), &[]).await;
    let (server, shop) = (demo.address("server"), demo.address("shop"));
    let begun = answer(http().get(format!("{shop}/login"))).await;
    assert_eq!(begun.status(), 303);
    let (page, id) = location(&begun).rsplit_once('/').expect("an address");
    assert_eq!(page, format!("{server}/sandbox/login"));
    let cookie = begun.headers()[SET_COOKIE].to_str().expect("a text");
    assert!(cookie.starts_with("fern_login=") && cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"));
    let cookie = cookie.split(';').next().expect("a pair");
    for (address, expected) in [
        (format!("/return?session_id={id}&error=access_denied"), "/?login=cancelled"),
        (format!("/return?session_id={id}&error=expired"), "/?login=expired"),
        (format!("/return?session_id={id}&code=AAAAAAAAAAAAAAAAAAAAAA"), "/?login=refused"),
        ("/return?session_id=sess_none&code=x".to_owned(), "/?login=refused"),
        ("/account".to_owned(), "/"),
    ] {
        let back = answer(http().get(format!("{shop}{address}")).header(COOKIE, cookie)).await;
        assert_eq!((back.status().as_u16(), location(&back)), (303, expected), "{address}");
        assert!(!back.headers().contains_key(SET_COOKIE), "{address}");
    }
    for address in ["/return", "/return?code=x", "/return?session_id=..%2Fdomains&code=x"] {
        assert_eq!(answer(http().get(format!("{shop}{address}"))).await.status(), 400, "{address}");
    }
    let left = |origin: &str| {
        let form = http().post(format!("{shop}/logout")).header("content-type", "application/x-www-form-urlencoded");
        answer(form.header(ORIGIN, origin))
    };
    assert_eq!(left(&shop).await.status(), 303);
    assert_eq!(left(&server).await.status(), 403, "another port is another site");
    assert_eq!(answer(http().get(format!("{shop}/none"))).await.status(), 404);
    assert_eq!(ends(demo).await.0, Some(0));
}

#[tokio::test]
async fn shop_shows_its_source_code() {
    let folder = tempfile::tempdir().expect("a folder");
    let demo = demo(folder.path(), &[]).await;
    let page = answer(http().get(format!("{}/code", demo.address("shop")))).await.text().await.expect("a text");
    for file in ["crates/signpost/src/demo/login.rs", "examples/page/site.mjs", "examples/page/site.py"] {
        let source =
            fs::read_to_string(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(file)).expect("a text");
        let shown = source.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
        assert!(page.contains(&shown), "{file}");
    }
    assert_eq!(ends(demo).await.0, Some(0));
}

#[tokio::test]
async fn demo_ignores_the_operators_settings() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("signpost.toml"), "lisen = \"127.0.0.1:1\"\n").expect("a file");
    let arguments = ["demo", "--json", "--listen", "127.0.0.1:0"];
    let program =
        Program::within(folder.path(), &arguments).env("SIGNPOST_DATABASE_URL", "postgres://nobody@127.0.0.1:1/x");
    let demo = tokio::task::spawn_blocking(|| program.start_server(&[])).await.expect("no panic");
    assert_eq!(ends(demo).await.0, Some(0));
    for (flags, expected) in [
        (&["--config", "signpost.toml"][..], "--config"),
        (&["--database-url", "sqlite::memory:"], "--database-url"),
        (&["--listen", "0.0.0.0:0"], "127.0.0.1:PORT"),
        (&["--listen", "192.0.2.1:80"], "127.0.0.1:PORT"),
        (&["--listen", "8080"], "listen"),
    ] {
        let ended = Program::within(folder.path(), &[&["demo"], flags].concat()).run_async().await;
        assert!(ended.failed(2).contains(expected), "{}", ended.err);
    }
}

#[tokio::test]
async fn demo_with_a_data_folder_is_persistent() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut keys = Vec::new();
    for _ in 0..2 {
        let demo = demo(folder.path(), &["--data-dir", "kept"]).await;
        assert_eq!(ends(demo).await, (Some(0), String::new()));
        let listed =
            Program::within(folder.path(), &["keys", "list", "--json", "--data-dir", "kept"]).run_async().await.json();
        let listed = listed["keys"].as_array().expect("a list").clone();
        keys.push(listed.iter().filter(|key| key.get("revoked_at").is_none()).count());
    }
    assert_eq!(keys, [1, 1], "the key of an earlier run is revoked");
    let domains =
        Program::within(folder.path(), &["domains", "list", "--json", "--data-dir", "kept"]).run_async().await.json();
    let domains = domains["domains"].as_array().expect("a list");
    assert_eq!(domains.iter().filter(|domain| domain["account"] == "demo").count(), 1);
}

#[tokio::test]
async fn demo_reports_an_address_in_use() {
    let folder = tempfile::tempdir().expect("a folder");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let ended = Program::within(folder.path(), &["demo", "--listen", &address]).run_async().await;
    assert!(ended.failed(1).contains(&address), "{}", ended.err);
}
