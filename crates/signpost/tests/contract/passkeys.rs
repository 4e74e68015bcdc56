//! Passkeys on the login page (docs/login-page.md): creation, use, and the evidence in events.

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use reqwest::Method;
use ring::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::harness::{Browser, Integrator, Reply, Service, ShownPage, page_path, text};
use crate::page_flow::{SECRET, complete_session, create_session, shop};
use crate::passkey::TestPasskey;

impl Browser {
    /// Returns the passkey request of a page, `{ceremony, publicKey}`, or the error.
    pub(crate) async fn prompt(&mut self, session: &Value) -> (u16, Value) {
        let asked = self.send(self.request(Method::GET, &format!("{}/passkey", page_path(session)))).await;
        read(&asked)
    }

    /// Returns the `publicKey` options of the ceremony.
    pub(crate) async fn asked(&mut self, session: &Value, ceremony: &str) -> Value {
        let (status, mut asked) = self.prompt(session).await;
        assert_eq!((status, &asked["ceremony"]), (200, &json!(ceremony)), "{asked}");
        asked["publicKey"].take()
    }

    /// Posts a credential with the token of the page.
    pub(crate) async fn post_credential(&mut self, session: &Value, credential: &Value) -> (u16, Value) {
        let shown = self.open(session).await;
        let token = shown.between("name=\"token\" value=\"", "\"").to_owned();
        self.post_passkey(session, &token, &credential.to_string()).await
    }

    pub(crate) async fn post_passkey(&mut self, session: &Value, token: &str, credential: &str) -> (u16, Value) {
        let mut form = reqwest::Url::parse(&self.origin).expect("an origin");
        form.query_pairs_mut().append_pair("token", token).append_pair("credential", credential);
        let body = form.query().expect("two fields").to_owned();
        let request = self.request(Method::POST, &format!("{}/passkey", page_path(session)));
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let reply = self.send(request.header("origin", &self.origin).body(body)).await;
        read(&reply)
    }

    /// Creates a passkey on this page.
    pub(crate) async fn create_passkey(&mut self, session: &Value) -> TestPasskey {
        let (passkey, made) = TestPasskey::create(&self.asked(session, "create").await, &self.origin, &[]);
        assert_eq!(self.post_credential(session, &made).await, (200, json!({})));
        passkey
    }

    /// Uses a passkey on this page.
    pub(crate) async fn use_passkey(&mut self, session: &Value, passkey: &mut TestPasskey) -> (u16, Value) {
        let answer = passkey.get(&self.asked(session, "get").await, &self.origin, &[]);
        self.post_credential(session, &answer).await
    }

    /// Returns to the site, which completes the login.
    pub(crate) async fn return_to_site(&mut self, integrator: &Integrator, session: &Value) -> Reply {
        let back = self.open(session).await.is(200, "done").link("continue");
        let code = back.query_pairs().find(|(name, _)| name == "code").expect("a code").1.into_owned();
        complete_session(integrator, session, &code, Some(SECRET)).await
    }
}

/// Returns the status and the JSON, if any, of an uncached reply.
fn read(shown: &ShownPage) -> (u16, Value) {
    assert_eq!(shown.headers["cache-control"], "no-store", "{shown:?}");
    (shown.status, serde_json::from_str(&shown.html).unwrap_or_default())
}

/// Creates an account with a passkey, and returns the passkey and the login.
pub(crate) async fn sign_up(integrator: &Integrator, browser: &mut Browser, domain: &str) -> (TestPasskey, Value) {
    let session = create_session(integrator, json!({ "mode": "register", "domain": domain })).await;
    browser.open(&session).await.is(200, "waiting");
    let passkey = browser.create_passkey(&session).await;
    (passkey, browser.return_to_site(integrator, &session).await.with(200))
}

/// Opens a login of the domain in this browser.
pub(crate) async fn start_login(integrator: &Integrator, browser: &mut Browser, domain: &str) -> Value {
    let session = create_session(integrator, json!({ "domain": domain })).await;
    browser.open(&session).await.is(200, "waiting");
    session
}

/// Returns the user of a login at the only domain.
async fn user_of(integrator: &Integrator, done: &Value) -> Value {
    let domains = integrator.get("/domains").await.with(200);
    let id = text(&domains["domains"][0], "id").to_owned();
    integrator.get(&format!("/domains/{id}/users/{}", text(&done["user"], "id"))).await.with(200)
}

pub(crate) async fn credentials(integrator: &Integrator, done: &Value) -> Vec<Value> {
    user_of(integrator, done).await["credentials"].as_array().expect("credentials").clone()
}

#[tokio::test]
async fn passkey_registers_and_logs_in() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let mut browser = Browser::at(&service);
    let (mut passkey, registered) = sign_up(&integrator, &mut browser, "shop.test").await;
    assert_eq!((&registered["mode"], &registered["method"]), (&json!("register"), &json!("passkey")));
    let session = start_login(&integrator, &mut browser, "shop.test").await;
    assert_eq!(browser.use_passkey(&session, &mut passkey).await, (200, json!({})));
    // The site gets no result before the browser returns.
    assert_eq!(integrator.get_session(&session).await.with(200)["status"], "pending");
    let done = browser.return_to_site(&integrator, &session).await.with(200);
    assert_eq!((&done["user"]["id"], &done["method"]), (&registered["user"]["id"], &json!("passkey")));
    let [kept] = &credentials(&integrator, &done).await[..] else { panic!("one passkey") };
    assert_eq!((&kept["kind"], &kept["public_key"]), (&json!("passkey"), &done["user"]["public_key"]));
}

#[tokio::test]
async fn passkey_options_match_the_contract() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let mut browser = Browser::at(&service);
    let session = start_login(&integrator, &mut browser, "shop.test").await;
    let challenge = |session: &Value| BASE64URL_NOPAD.encode(&Sha256::digest(text(session, "challenge")));
    let login = browser.asked(&session, "get").await;
    assert_eq!(login["challenge"], challenge(&session));
    assert_eq!((&login["rpId"], &login["userVerification"]), (&json!("localhost"), &json!("required")));
    assert_eq!(login["allowCredentials"], json!([]), "the page does not disclose passkeys");
    let session = create_session(&integrator, json!({ "mode": "register" })).await;
    browser.open(&session).await.is(200, "waiting");
    let made = browser.asked(&session, "create").await;
    assert_eq!((&made["challenge"], &made["attestation"]), (&json!(challenge(&session)), &json!("none")));
    assert_eq!(made["rp"]["id"], "localhost");
    let algorithms: Vec<_> = made["pubKeyCredParams"].as_array().expect("some").iter().map(|one| &one["alg"]).collect();
    assert_eq!(algorithms, [&json!(-7), &json!(-257)]);
    let chosen = &made["authenticatorSelection"];
    assert_eq!((&chosen["residentKey"], &chosen["userVerification"]), (&json!("required"), &json!("required")));
    let handle = BASE64URL_NOPAD.decode(text(&made["user"], "id").as_bytes()).expect("base64url");
    assert_eq!(handle.len(), 32);
    assert!(text(&made["user"], "name").ends_with(" · shop.test"), "{made}");
    // A second attempt has an equal user; another page has a new user.
    assert_eq!(browser.asked(&session, "create").await["user"], made["user"]);
    let other = create_session(&integrator, json!({ "mode": "register" })).await;
    browser.open(&other).await.is(200, "waiting");
    assert_ne!(browser.asked(&other, "create").await["user"]["id"], made["user"]["id"]);
    // The name contains the later username.
    let (_, credential) = TestPasskey::create(&made, &browser.origin, &[]);
    assert_eq!(browser.post_credential(&session, &credential).await, (200, json!({})));
    let done = browser.return_to_site(&integrator, &session).await.with(200);
    let kept = user_of(&integrator, &done).await;
    assert_eq!(text(&made["user"], "name"), format!("{} · shop.test", text(&kept, "petname")));
}

#[tokio::test]
async fn event_suffices_to_verify_a_passkey() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let mut browser = Browser::at(&service);
    let (mut passkey, _) = sign_up(&integrator, &mut browser, "shop.test").await;
    let session = start_login(&integrator, &mut browser, "shop.test").await;
    browser.use_passkey(&session, &mut passkey).await;
    browser.return_to_site(&integrator, &session).await.with(200);
    let events = service.outbox().await;
    let of = |kind: &str| &events.iter().find(|event| event.body["event"] == kind).expect("an event").body["data"];
    for (kind, ceremony) in [("register", "webauthn.create"), ("login", "webauthn.get")] {
        let data = of(kind);
        assert!(data.get("signed_message").is_none(), "{data}");
        assert_eq!(data["method"], "passkey");
        let part = |name: &str| BASE64URL_NOPAD.decode(text(&data["webauthn"], name).as_bytes()).expect("base64url");
        let client: Value = serde_json::from_slice(&part("client_data_json")).expect("JSON");
        let challenge = BASE64URL_NOPAD.encode(&Sha256::digest(text(data, "challenge")));
        assert_eq!((&client["type"], &client["challenge"]), (&json!(ceremony), &json!(challenge)));
        assert_eq!(client["origin"], browser.origin);
        let authenticator = part("authenticator_data");
        assert_eq!(authenticator[..32], Sha256::digest("localhost")[..]);
        assert_eq!(authenticator[32] & 5, 5, "present and verified");
    }
    // A registration has no signature.
    assert_eq!((&of("register")["signature"], &of("register")["public_key"]), (&json!(""), &of("login")["public_key"]));
    let data = of("login");
    let hex = |name: &str| HEXLOWER.decode(text(data, name).as_bytes()).expect("hex");
    let part = |name: &str| BASE64URL_NOPAD.decode(text(&data["webauthn"], name).as_bytes()).expect("base64url");
    let signed = [part("authenticator_data"), Sha256::digest(part("client_data_json")).to_vec()].concat();
    let spki = hex("public_key");
    // The last 65 bytes of a P-256 key are the point.
    let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, &spki[spki.len() - 65..]);
    key.verify(&signed, &hex("signature")).expect("the passkey signed it");
}
