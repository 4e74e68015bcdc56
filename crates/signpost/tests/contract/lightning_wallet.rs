//! `signpost wallet lnurl`: the command-line wallet as a Lightning wallet.

use std::path::Path;

use serde_json::{Value, json};
use signpost_auth::{AuthCallback, Challenge, K1, Lnurl, LnurlReply};

use crate::harness::{Endpoint, Program, members};

const CHALLENGE: &str = "svc:login:shop.test:1800000000:AAAAAAAAAAAAAAAAAAAAAA";

fn challenge() -> Challenge {
    Challenge::parse(CHALLENGE).expect("a challenge")
}

/// Returns a login link with the endpoint at `localhost`, as for users on this computer.
fn link(endpoint: &Endpoint, action: &str) -> String {
    let url = endpoint.url("/lnurl/x").replace("127.0.0.1", "localhost");
    format!("{url}?tag=login&k1={}&action={action}", K1::of(&challenge()))
}

async fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let ended = Program::within(folder, &[&["wallet"], arguments].concat()).run_async().await;
    (ended.code, ended.out.clone(), ended.err.clone())
}

#[tokio::test]
async fn every_spelling_is_signed_with_the_key_of_the_host() {
    let (folder, mut endpoint) = (tempfile::tempdir().expect("a folder"), Endpoint::start().await);
    let wallet = Program::within(folder.path(), &["wallet", "new", "--json"]).run_async().await.json();
    let url = link(&endpoint, "register");
    let lnurl = Lnurl::new(&url).expect("short enough");
    let mut keys = std::collections::BTreeSet::new();
    for spelling in [lnurl.qr_text(), lnurl.link(), url.replace("http://", "keyauth://"), url.clone()] {
        endpoint.respond_with(LnurlReply::Ok.to_json());
        let (code, out, err) = run(folder.path(), &["lnurl", &spelling, "--yes", "--json"]).await;
        assert_eq!(code, Some(0), "{spelling}: {err}");
        let response: Value = serde_json::from_str(&out).expect("one document");
        assert_eq!(members(&response), ["status", "host", "action", "public_key"].into());
        assert_eq!((&response["status"], &response["action"]), (&json!("OK"), &json!("register")));
        let asked = endpoint.next_request().await;
        let (path, query) = asked.path.split_once('?').expect("a query");
        let callback = AuthCallback::parse(query).expect("an answer");
        assert!(path == "/lnurl/x" && callback.k1().is_some() && callback.signs(&challenge()), "{}", asked.path);
        assert_eq!(response["public_key"], json!(callback.key().canonical()));
        keys.insert(callback.key().canonical());
    }
    assert_eq!(keys.len(), 1, "one host has one key");
    assert!(!keys.contains(wallet["public_key"].as_str().expect("a key")));
}

#[tokio::test]
async fn errors_show_the_host_and_the_reason() {
    let (folder, mut endpoint) = (tempfile::tempdir().expect("a folder"), Endpoint::start().await);
    run(folder.path(), &["new"]).await;
    let url = link(&endpoint, "login");
    let host = endpoint.url("").replace("http://127.0.0.1", "localhost");
    endpoint.respond_with(LnurlReply::error("no account\u{1b}[2J has this key\u{202e}").to_json());
    let (code, out, err) = run(folder.path(), &["lnurl", &url, "--yes"]).await;
    assert_eq!((code, &*out), (Some(1), &*format!("{host} replied ERROR: no account [2J has this key\n")), "{err}");
    assert!(
        err.starts_with(&format!("login at  {host}\n")) && err.ends_with("signpost: the login was refused\n"),
        "{err}"
    );
    endpoint.next_request().await;
    // Other replies are failures, also with status 200.
    for body in ["taken", "{}", r#"{"status":"ok"}"#, r#"{"status":"ERROR"}"#] {
        endpoint.respond_with(body);
        let (code, out, err) = run(folder.path(), &["lnurl", &url, "--yes", "--json"]).await;
        assert_eq!((code, &*out), (Some(1), ""), "{body}");
        assert!(err.starts_with(&format!("signpost: {host} replied 200: not the reply ")), "{err}");
        endpoint.next_request().await;
    }
}

#[tokio::test]
async fn invalid_links_send_no_request() {
    let (folder, mut endpoint) = (tempfile::tempdir().expect("a folder"), Endpoint::start().await);
    let url = link(&endpoint, "login");
    let (code, _, err) = run(folder.path(), &["lnurl", &url, "--yes"]).await;
    assert!(code == Some(1) && err.contains("signpost wallet new"), "{err}");
    run(folder.path(), &["new"]).await;
    let qr = format!("svc://auth?v=1&webhook={}&challenge={CHALLENGE}&exp=1800000300", endpoint.url("/"));
    for (text, flags, reason) in [
        (&url, &[][..], "--yes"),
        (&url.replace("tag=login", "tag=payRequest"), &["--yes"], "not for a login"),
        (&url.replace("localhost", "login.example.com"), &["--yes"], "must be https"),
        (&url.replace("localhost", "192.0.2.1"), &["--yes"], "must be https"),
        (&url.replace("&k1=", "&k2="), &["--yes"], "k1"),
        (&qr, &["--yes"], "lnurl1"),
        (&String::new(), &["--yes"], "1 to 1023 characters"),
    ] {
        let (code, out, err) = run(folder.path(), &[&["lnurl", text][..], flags].concat()).await;
        assert_eq!((code, &*out), (Some(2), ""), "{text}: {err}");
        assert!(err.starts_with("signpost: ") && err.contains(reason), "{text}: {err}");
    }
    assert!(endpoint.try_next_request().is_none());
}
