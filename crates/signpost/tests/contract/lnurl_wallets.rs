//! `GET /lnurl/{id}` with the behaviour of real Lightning wallets, taken from their source: the accepted spelling of
//! the URL, the query that the wallet builds, and the replies that it treats as success. A login succeeds with each
//! wallet.

use reqwest::RequestBuilder;
use reqwest::header::CONTENT_TYPE;
use serde_json::{Value, json};
use signpost_auth::{AuthUrl, Lnurl, Wallet};
use url::Url;

use crate::harness::{Integrator, Service, text};
use crate::page_flow::{SECRET, browser, code, complete_session, create_session, page_of, shop, visit_page};

/// The behaviour of a wallet, according to its source (November 2026).
struct LightningWallet {
    name: &'static str,
    /// The form of the URL that the wallet reads, for example bech32 with or without a scheme.
    reads: fn(&Url) -> String,
    /// Returns the query that the wallet sends, from the URL's query, the signature and the key.
    sends: fn(&str, &str, &str) -> String,
    /// Returns the signature and the key in the wallet's spelling: case of the hex digits, low or high `s`.
    spells: fn(&Signed) -> (String, String),
    /// `Content-Type` of the wallet's request.
    header: Option<&'static str>,
}

/// The signature (DER in hex) and the public key (hex).
struct Signed {
    der: String,
    key: String,
}

const WALLETS: &[LightningWallet] = &[
    LightningWallet { name: "Phoenix", reads: keyauth, sends: appended, spells: as_it_is, header: None },
    LightningWallet { name: "Zeus", reads: bare, sends: sorted, spells: as_it_is, header: None },
    LightningWallet { name: "Breez SDK", reads: linked, sends: appended, spells: as_it_is, header: None },
    LightningWallet { name: "Blixt", reads: keyauth, sends: appended, spells: as_it_is, header: None },
    LightningWallet { name: "BlueWallet", reads: linked, sends: appended, spells: as_it_is, header: None },
    LightningWallet { name: "Alby", reads: bare, sends: timed, spells: as_it_is, header: None },
    LightningWallet { name: "LDK Node", reads: lower, sends: appended, spells: as_it_is, header: None },
    LightningWallet {
        name: "Sparrow",
        reads: bare,
        sends: appended,
        spells: as_it_is,
        header: Some("application/json"),
    },
    LightningWallet { name: "Bitkit", reads: carried, sends: appended, spells: as_it_is, header: None },
    LightningWallet { name: "js-lnurl", reads: bare, sends: key_first, spells: as_it_is, header: None },
    LightningWallet { name: "python lnurl", reads: linked, sends: lost, spells: as_it_is, header: None },
    LightningWallet { name: "one with upper-case hex", reads: bare, sends: appended, spells: upper, header: None },
    LightningWallet { name: "one with high s", reads: bare, sends: appended, spells: high, header: None },
];

fn spelled(url: &Url) -> Lnurl {
    Lnurl::new(url.as_str()).expect("short enough")
}

fn bare(url: &Url) -> String {
    spelled(url).qr_text()
}

fn lower(url: &Url) -> String {
    spelled(url).to_string()
}

fn linked(url: &Url) -> String {
    spelled(url).link()
}

fn carried(url: &Url) -> String {
    format!("https://shop.test/login?lightning={}", spelled(url).qr_text())
}

fn keyauth(url: &Url) -> String {
    url.as_str().replacen("http", "keyauth", 1)
}

fn appended(query: &str, sig: &str, key: &str) -> String {
    format!("{query}&sig={sig}&key={key}")
}

fn key_first(query: &str, sig: &str, key: &str) -> String {
    format!("{query}&key={key}&sig={sig}")
}

/// Adds the time of the request and serializes the whole query again.
fn timed(query: &str, sig: &str, key: &str) -> String {
    sorted(&format!("{query}&t=1800000000250"), sig, key)
}

fn sorted(query: &str, sig: &str, key: &str) -> String {
    let query = appended(query, sig, key);
    let mut pairs: Vec<_> = query.split('&').collect();
    pairs.sort_unstable();
    pairs.join("&")
}

/// Drops the URL's own query, as the HTTP library of python lnurl does.
fn lost(_: &str, sig: &str, key: &str) -> String {
    format!("key={key}&sig={sig}")
}

fn as_it_is(Signed { der, key }: &Signed) -> (String, String) {
    (der.clone(), key.clone())
}

fn upper(Signed { der, key }: &Signed) -> (String, String) {
    (der.to_uppercase(), key.to_uppercase())
}

/// Replaces `s` with the equally valid high value.
fn high(Signed { der, key }: &Signed) -> (String, String) {
    let bytes = data_encoding::HEXLOWER.decode(der.as_bytes()).expect("hex");
    let low = k256::ecdsa::Signature::from_der(&bytes).expect("DER");
    let high = k256::ecdsa::Signature::from_scalars(low.r(), -*low.s()).expect("a signature");
    (data_encoding::HEXLOWER.encode(high.to_der().as_bytes()), key.clone())
}

impl LightningWallet {
    /// Parses the link of the page, signs it with the wallet's key for the host, and creates the request.
    fn answer(&self, integrator: &Integrator, url: &Url, wallet: &Wallet) -> (RequestBuilder, String) {
        let read = AuthUrl::parse(&(self.reads)(url)).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let key = wallet.linking_key(read.url().host_str().expect("a host")).expect("a key");
        let signed = Signed { der: key.sign_k1(read.k1()), key: key.public_key().canonical() };
        let ((sig, hex), mut url) = ((self.spells)(&signed), read.url().clone());
        let query = (self.sends)(url.query().expect("a query"), &sig, &hex);
        url.set_query(Some(&query));
        let request = integrator.http.get(url);
        let request = self
            .header
            .map_or_else(|| request.try_clone(), |value| Some(request.try_clone()?.header(CONTENT_TYPE, value)));
        (request.expect("no body"), signed.key)
    }
}

/// Returns the URL in the QR code of the session's page.
async fn url_of(service: &Service, session: &Value) -> Url {
    let page = page_of(service, session).await;
    let url = page.lnurl(&service.app.public_address).expect("Lightning is offered in the sandbox");
    let (id, action) = (text(session, "id"), page.challenge.mode);
    let k1 = signpost_auth::K1::of(&page.challenge);
    let expected =
        format!("{}/lnurl/{}?tag=login&k1={k1}&action={action}", service.app.public_address, &id[id.len() - 12..]);
    assert_eq!(url, expected);
    Url::parse(&url).expect("a URL")
}

/// Checks the parts of the reply that wallets need to show it; returns the body.
async fn check_reply(name: &str, request: RequestBuilder) -> Value {
    let reply = request.send().await.expect("an answer");
    let header =
        |field: &str| reply.headers().get(field).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    assert_eq!(reply.status(), 200, "{name}");
    let fields = ["content-type", "access-control-allow-origin", "cache-control"].map(header);
    assert_eq!(fields, ["application/json", "*", "no-store"], "{name}");
    let body: Value = serde_json::from_str(&reply.text().await.expect("a body")).expect("JSON");
    if body["status"] == "ERROR" {
        let reason = text(&body, "reason");
        assert!((1..=90).contains(&reason.chars().count()) && !reason.contains('<'), "{name}: {reason}");
    }
    body
}

#[tokio::test]
async fn every_lightning_wallet_logs_its_user_in() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    for (number, wallet) in (1..).zip(WALLETS) {
        let (cookie, own) = (browser(number), Wallet::from_bytes([number; 32]).expect("a key"));
        let mut people = Vec::new();
        for mode in ["register", "login"] {
            let session = create_session(&integrator, json!({ "mode": mode })).await;
            let page = visit_page(&service, &session, &cookie).await;
            let (request, key) = wallet.answer(&integrator, &url_of(&service, &session).await, &own);
            assert_eq!(check_reply(wallet.name, request).await, json!({ "status": "OK" }), "{}", wallet.name);
            assert_eq!(integrator.get_session(&session).await.with(200)["status"], "pending", "{}", wallet.name);
            complete_session(&integrator, &session, &code(&page, &cookie), Some(SECRET)).await.with(200);
            let seen = integrator.get_session(&session).await.with(200);
            assert_eq!(
                (&seen["status"], &seen["method"]),
                (&json!("authenticated"), &json!("lightning")),
                "{}",
                wallet.name
            );
            // The public key has the spelling of the wallet.
            assert_eq!(text(&seen["user"], "public_key").to_lowercase(), key, "{}", wallet.name);
            people.push(text(&seen["user"], "id").to_owned());
        }
        assert_eq!(people[0], people[1], "{}", wallet.name);
    }
}

#[tokio::test]
async fn event_of_a_lightning_login_verifies() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = create_session(&integrator, json!({ "mode": "register" })).await;
    let page = visit_page(&service, &session, &browser(1)).await;
    let own = Wallet::from_bytes([1; 32]).expect("a key");
    let (request, key) = WALLETS[0].answer(&integrator, &url_of(&service, &session).await, &own);
    check_reply("Phoenix", request).await;
    complete_session(&integrator, &session, &code(&page, &browser(1)), Some(SECRET)).await.with(200);
    let outbox = service.outbox().await;
    let data = &outbox[0].body["data"];
    assert_eq!((&data["public_key"], &data["method"]), (&json!(key), &json!("lightning")));
    assert_eq!(data["signed_message"], session["challenge"]);
    let check = json!({ "public_key": key, "signature": data["signature"], "message": data["signed_message"] });
    assert_eq!(integrator.post("/verify", &check).await.with(200)["valid"], json!(true));
}

#[tokio::test]
async fn a_rejected_wallet_gets_a_readable_reason() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let own = Wallet::from_bytes([1; 32]).expect("a key");
    for wallet in WALLETS {
        let session = create_session(&integrator, json!({ "mode": "login" })).await;
        visit_page(&service, &session, &browser(1)).await;
        let url = url_of(&service, &session).await;
        let reason = async |what: &str, request: RequestBuilder| {
            let body = check_reply(wallet.name, request).await;
            assert_eq!(body["status"], "ERROR", "{}: {what}: {body}", wallet.name);
            text(&body, "reason").to_owned()
        };
        // The link without a signature, as opened in a browser.
        assert!(reason("unsigned", integrator.http.get(url.clone())).await.contains("wallet"));
        let another = url.as_str().replace("/lnurl/", "/lnurl/x");
        let (request, _) = wallet.answer(&integrator, &Url::parse(&another).expect("a URL"), &own);
        reason("another address", request).await;
        let (request, _) = wallet.answer(&integrator, &url, &own);
        assert!(reason("an unknown key", request).await.contains("new code"));
        // The challenge was replaced by a registration challenge: a signature of the old challenge gets an error.
        let (request, _) = wallet.answer(&integrator, &url, &own);
        reason("a replaced code", request).await;
    }
    assert!(service.outbox().await.is_empty());
}
