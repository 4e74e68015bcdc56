//! The examples of `openapi.yaml`: each matches its schema and has the members of a real reply to its call.

use std::collections::BTreeSet;

use jiff::SignedDuration;
use reqwest::Method;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use signpost_auth::{Event, WebhookSecret};
use signpost_platform::accounts::audit::Actor;
use signpost_platform::accounts::keys::{self, NewKey};
use signpost_platform::accounts::{Account, Environment, Scope};
use signpost_store::random;

use crate::client_examples;
use crate::harness::documented::{DOCUMENT, fits, operations, resolve, webhooks};
use crate::harness::{
    Browser, Endpoint, Integrator, NameServer, Service, ShownPage, UNREACHABLE_URL, send, text, until,
};

/// The browser secret; the examples have its hash as `browser_hash`.
const SECRET: &str = "uG1nH2YV0w0bT9mVwq0b3kZl7fJ8c5xQ2aR4sD6eP1o";

pub(crate) fn example(name: &str) -> Value {
    DOCUMENT["components"]["examples"][name]["value"].clone()
}

/// Returns all JSON bodies, each with the name of its call or event.
fn bodies() -> Vec<(String, &'static Value)> {
    let mut bodies = Vec::new();
    let named = operations().map(|(path, method, operation)| (format!("{method} {path}"), operation));
    for (name, operation) in named.chain(webhooks().map(|(kind, operation)| (format!("event {kind}"), operation))) {
        bodies.extend(operation.get("requestBody").map(|body| (name.clone(), body)));
        let responses = operation["responses"].as_object().expect("responses");
        bodies.extend(responses.iter().map(|(status, response)| (format!("{name} {status}"), resolve(response))));
    }
    let bodies = bodies.into_iter().filter_map(|(name, body)| Some((name, body["content"].get("application/json")?)));
    bodies.collect()
}

#[test]
fn every_body_has_an_example_that_fits() {
    let mut used = BTreeSet::new();
    for (name, body) in bodies() {
        let schema = text(&body["schema"], "$ref").rsplit('/').next().expect("a name");
        let examples = body["examples"].as_object().unwrap_or_else(|| panic!("{name} has no example"));
        for (key, one) in examples {
            assert_eq!(text(one, "$ref"), format!("#/components/examples/{key}"), "{name}");
            fits(schema, &example(key)).unwrap_or_else(|error| panic!("{name}, {key}: {error}"));
            used.insert(key.as_str());
        }
    }
    // Examples that are not JSON.
    used.extend(["SessionImage", "SessionStream"]);
    let all = DOCUMENT["components"]["examples"].as_object().expect("examples");
    assert_eq!(all.keys().map(String::as_str).collect::<BTreeSet<_>>(), used);
}

#[test]
fn every_parameter_and_member_is_described() {
    let parameters = DOCUMENT["components"]["parameters"].as_object().expect("parameters");
    let mut silent: Vec<_> =
        parameters.iter().filter(|(_, one)| one["description"].is_null()).map(|(name, _)| name.clone()).collect();
    for (name, schema) in DOCUMENT["components"]["schemas"].as_object().expect("schemas") {
        find_undescribed(schema, name, &mut silent);
    }
    assert!(silent.is_empty(), "without a description: {silent:?}");
}

fn find_undescribed(schema: &'static Value, place: &str, silent: &mut Vec<String>) {
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        let place = format!("{place}.{name}");
        if !is_described(member) {
            silent.push(place.clone());
        }
        find_undescribed(member, &place, silent);
    }
    let parts = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|word| schema[word].as_array()).flatten();
    for part in parts.chain(schema.get("items")) {
        find_undescribed(part, place, silent);
    }
}

fn is_described(schema: &'static Value) -> bool {
    let parts = schema["allOf"].as_array().into_iter().flatten();
    let is_reference = schema.get("$ref").is_some();
    schema["description"].is_string()
        || is_reference && is_described(resolve(schema))
        || parts.clone().any(is_described)
}

/// The signatures use the webhook secret of the domain in the examples.
#[test]
fn event_example_matches_its_signatures() {
    let secret = WebhookSecret::parse(text(&example("RegisteredDomain"), "webhook_secret")).expect("a secret");
    let header = |name: &str| text(&DOCUMENT["components"]["parameters"][name], "example").to_owned();
    let event: Event = serde_json::from_value(example("LoginEvent")).expect("an event");
    let body = serde_json::to_vec(&event).expect("JSON");
    assert!(secret.verify_x_svc_signature(&header("EventSignature"), &body));
    let (id, timestamp) = (header("WebhookId"), header("WebhookTimestamp").parse().expect("a number"));
    assert!(secret.verify_standard_signature(&header("WebhookSignature"), &id, timestamp, &body));
    assert_eq!(id, event.id);
}

/// Collects the path and the type of each value; all rows of a list share a path.
fn shape(value: &Value, place: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            found.insert(format!("{place}{{}}"));
            members.iter().for_each(|(name, value)| shape(value, &format!("{place}.{name}"), found));
        }
        Value::Array(rows) => rows.iter().for_each(|row| shape(row, &format!("{place}[]"), found)),
        Value::String(_) => drop(found.insert(format!("{place} text"))),
        Value::Number(_) => drop(found.insert(format!("{place} number"))),
        Value::Bool(_) => drop(found.insert(format!("{place} yes or no"))),
        Value::Null => drop(found.insert(format!("{place} null"))),
    }
}

/// Checks that a real reply has the members of the example. Lists may have additional members.
#[track_caller]
pub(crate) fn assert_example(name: &str, real: &Value) {
    let (mut shown, mut met) = (BTreeSet::new(), BTreeSet::new());
    shape(&example(name), "", &mut shown);
    shape(real, "", &mut met);
    if name.ends_with("List") {
        shown.retain(|place| !place.starts_with(".next_cursor"));
        met.retain(|place| shown.contains(place));
    }
    assert_eq!(shown, met, "{name}: {real}");
}

/// Creates a session with the request of an example.
async fn create_session(integrator: &Integrator, request: &Value, reply: &str) -> Value {
    let session = integrator.post("/sessions", request).await.with(201);
    assert_example(reply, &session);
    session
}

async fn simulate_with(integrator: &Integrator, session: &Value, how: &Value) -> Value {
    integrator.post(&format!("/sessions/{}/simulate", text(session, "id")), how).await.with(200)
}

async fn simulate_wallet(integrator: &Integrator, session: &Value, wallet: u64) -> Value {
    let response = simulate_with(integrator, session, &json!({ "wallet": wallet })).await;
    assert_eq!(response["status"], 200, "{response}");
    response
}

fn reply_body(response: &Value) -> Value {
    serde_json::from_str(text(response, "body")).expect("JSON")
}

/// Checks that the next event matches its example; returns its body.
async fn receive_event(endpoint: &mut Endpoint, name: &str) -> Value {
    let event = endpoint.next_request().await;
    let event = event.json();
    assert_example(name, &event);
    event
}

#[tokio::test]
async fn real_replies_match_the_examples() {
    let service = Service::with(&[("services", "atm,auth")]).await;
    let (integrator, mut endpoint) = (service.integrator().await, Endpoint::start().await);
    let domain = check_domains(&integrator, &mut endpoint).await;
    check_codes(&integrator, &mut endpoint).await;
    let user = check_pages(&service, &integrator, &mut endpoint).await;
    check_users(&integrator, &service.manager().await, &format!("{domain}/users"), &user).await;
    check_links(&service, &integrator, &mut endpoint, &user).await;
    client_examples::of_clients(&integrator, &format!("{domain}/clients")).await;
    check_direct_handlers(&integrator).await;
    check_deliveries(&integrator, &endpoint.url("/signpost/events")).await;
    check_atms(&service).await;
}

/// Returns the path of the hosted domain.
async fn check_domains(integrator: &Integrator, endpoint: &mut Endpoint) -> String {
    let domain = integrator.post("/domains", example("NewDomain")).await.with(201);
    assert_example("RegisteredDomain", &domain);
    assert_example("DomainExists", &integrator.post("/domains", example("NewDomain")).await.with(409));
    let path = format!("/domains/{}", text(&domain, "id"));
    let mut change = example("DomainChange");
    change["event_url"] = endpoint.url("/signpost/events").into();
    assert_example("Domain", &integrator.patch(&path, &change).await.with(200));
    assert_example("Domain", &integrator.get(&path).await.with(200));
    assert_example("DomainList", &integrator.get("/domains").await.with(200));
    assert_example("QueuedTestEvent", &integrator.post_nothing(&format!("{path}/test-event")).await.with(202));
    receive_event(endpoint, "TestEvent").await;
    path
}

async fn check_codes(integrator: &Integrator, endpoint: &mut Endpoint) {
    let request = json!({ "domain": "example.com", "mode": "register" });
    let session = integrator.post("/sessions", &request).await.with(201);
    let show = async |session: &Value, mode: &str| {
        let path = format!("/hosted/{mode}?challenge={}", text(session, "challenge"));
        integrator.with_key(None).get(&path).await.with(200)
    };
    assert_example("RegisterContext", &show(&session, "register").await);
    let response = simulate_wallet(integrator, &session, 1).await;
    assert_example("HostedRegisterAnswer", &response["payload"]);
    assert_example("Registered", &reply_body(&response));
    receive_event(endpoint, "RegisterEvent").await;
    let session = create_session(integrator, &example("NewCodeSession"), "CodeSession").await;
    assert_example("LoginContext", &show(&session, "login").await);
    assert_example("RefreshedSession", &integrator.refresh(&session).await.with(200));
    let response = simulate_wallet(integrator, &session, 1).await;
    assert_example("Simulation", &response);
    assert_example("HostedLoginAnswer", &response["payload"]);
    assert_example("Authenticated", &reply_body(&response));
    assert_example("AuthenticatedSession", &integrator.get_session(&session).await.with(200));
    assert_example("SessionAlreadyAuthenticated", &integrator.refresh(&session).await.with(409));
    receive_event(endpoint, "LoginEvent").await;
}

/// Returns the user ID.
async fn check_pages(service: &Service, integrator: &Integrator, endpoint: &mut Endpoint) -> String {
    let session = create_session(integrator, &example("NewPageSession"), "PageSession").await;
    assert_example("PendingSession", &integrator.get_session(&session).await.with(200));
    let mut browser = Browser::at(service);
    browser.open(&session).await.is(200, "waiting");
    simulate_wallet(integrator, &session, 1).await;
    let code = code(&browser.open(&session).await);
    let path = format!("/sessions/{}/complete", text(&session, "id"));
    let wrong = json!({ "code": "x", "browser_secret": SECRET });
    assert_example("CompletionCodeRefused", &integrator.post(&path, &wrong).await.with(406));
    let completion = json!({ "code": code, "browser_secret": SECRET });
    assert_example("Completion", &completion);
    let done = integrator.post(&path, &completion).await.with(200);
    assert_example("CompletedSession", &done);
    assert_example("SessionList", &integrator.get("/sessions").await.with(200));
    receive_event(endpoint, "LoginEvent").await;
    text(&done["user"], "id").to_owned()
}

/// Returns the completion code in the page's return URL.
fn code(page: &ShownPage) -> String {
    let url = page.is(200, "done").link("continue");
    url.query_pairs().find(|(name, _)| name == "code").expect("a code").1.into_owned()
}

async fn check_users(integrator: &Integrator, manager: &Integrator, users: &str, user: &str) {
    let path = format!("{users}/{user}");
    let user = integrator.patch(&path, &example("UserChange")).await.with(200);
    assert_example("HostedUser", &user);
    assert_example("UserList", &integrator.get(users).await.with(200));
    crate::users_created::check_examples(manager, users).await;
    let credential = format!("{path}/credentials/{}", text(&user["credentials"][0], "id"));
    assert_example("LastCredential", &send(integrator.request(Method::DELETE, &credential)).await.with(409));
}

async fn check_links(service: &Service, integrator: &Integrator, endpoint: &mut Endpoint, user: &str) {
    let mut request = example("NewLinkSession");
    request["user"] = user.into();
    let session = create_session(integrator, &request, "LinkSession").await;
    let path = format!("/hosted/link?challenge={}", text(&session, "challenge"));
    assert_example("LinkContext", &integrator.with_key(None).get(&path).await.with(200));
    let mut browser = Browser::at(service);
    browser.open(&session).await.is(200, "waiting");
    let response = simulate_wallet(integrator, &session, 2).await;
    assert_example("HostedLinkAnswer", &response["payload"]);
    assert_example("Linked", &reply_body(&response));
    let asked = browser.open(&session).await;
    let key = asked.is(200, "link").between("name=\"key\" value=\"", "\"");
    let done = browser.submit(&asked, "confirm-link", &format!("&answer=yes&key={key}")).await;
    let completion = json!({ "code": code(&done), "browser_secret": SECRET });
    integrator.post(&format!("/sessions/{}/complete", text(&session, "id")), &completion).await.with(200);
    receive_event(endpoint, "LinkEvent").await;
}

async fn check_direct_handlers(integrator: &Integrator) {
    integrator.register_domain_at("localhost", UNREACHABLE_URL).await;
    let session = integrator.create_session("localhost").await;
    let simulate = |session: &Value| format!("/sessions/{}/simulate", text(session, "id"));
    let answer = integrator.post_nothing(&simulate(&session)).await.with(200)["payload"].clone();
    assert_example("Answer", &answer);
    assert_example("DirectSession", &integrator.authenticate(&session, &answer).await.with(200));
    let signed = json!({
        "public_key": answer["public_key"], "signature": answer["signature"], "message": answer["challenge"],
    });
    assert_example("Signed", &signed);
    assert_example("Verification", &integrator.post("/verify", &signed).await.with(200));
    // The examples contain an answer and its proof: the signature verifies.
    let examples = integrator.post("/verify", example("Signed")).await.with(200);
    assert_eq!(examples, example("Verification"));
    let session = integrator.create_session("localhost").await;
    for (fault, status, name) in [("timestamp", 408, "TimestampOutOfRange"), ("signature", 406, "SignatureRefused")] {
        let response = integrator.post(&simulate(&session), &json!({ "fault": fault })).await.with(200);
        assert_example(name, &integrator.authenticate(&session, &response["payload"]).await.with(status));
    }
    integrator.cancel(&session).await;
    assert_example("SessionCancelled", &integrator.get_session(&session).await.with(410));
    assert_example("InvalidRequest", &integrator.get("/sessions?limit=0").await.with(400));
    assert_example(
        "DomainNotRegistered",
        &integrator.post("/sessions", &json!({ "domain": "other.example" })).await.with(422),
    );
}

async fn check_deliveries(integrator: &Integrator, event_url: &str) {
    let delivered = until("an event is delivered and another is not", async || {
        let list = integrator.get("/deliveries").await.with(200);
        let rows = list["deliveries"].as_array().expect("rows");
        let row = |is_it: fn(&Value) -> bool| rows.iter().find(|row| is_it(row));
        row(|row| row["last_error"].is_string())?;
        let delivered = rows.iter().find(|row| row["state"] == "delivered" && row["url"] == event_url);
        delivered.map(|row| (list.clone(), text(row, "id").to_owned()))
    });
    let (list, id) = delivered.await;
    assert_example("DeliveryList", &list);
    let delivery = integrator.get(&format!("/deliveries/{id}")).await.with(200);
    assert_eq!(fits("Delivery", &delivery), Ok(()));
    assert_example("RetriedDelivery", &integrator.post_nothing(&format!("/deliveries/{id}/retry")).await.with(202));
    assert_example("Retried", &integrator.post_nothing("/deliveries/retry").await.with(202));
}

async fn check_atms(service: &Service) {
    let atms = NewKey::new(Environment::Sandbox, random(), random()).with_scope(Scope::Atms);
    let account = Account { name: "acme".to_owned(), environment: Environment::Sandbox };
    keys::sql::insert(&service.app.store, &Actor::Operator, &account, "machines", &atms, service.clock.now())
        .await
        .expect("a key");
    let operator = service.integrator().await.with_key(Some(atms.key.expose_secret()));
    assert_example("ImportOutcome", &operator.post("/atms/submissions", example("Submission")).await.with(200));
    let visitor = operator.with_key(None);
    let mut report = example("NewReport");
    report["at"] = json!(service.clock.now());
    assert_example("MachineReport", &visitor.post("/atms/1/reports", &report).await.with(201));
    let (live, address) = (service.visitor(), "/v1/atms/1/reports");
    let response = live.post(address, &report).await.with(201);
    assert_eq!(fits("MachineReport", &response), Ok(()));
    assert_eq!(live.post(address, &report).await.with(200)["id"], response["id"], "a repeated report has the same ID");
    assert_error_example("AtmNotFound", &visitor.post("/atms/0/reports", &report).await.with(404));
    assert_error_example("AtmNotYours", &operator.post("/atms/1/reports", &report).await.with(403));
    report["pow"] = json!("x");
    assert_error_example("InvalidProof", &visitor.post("/atms/1/reports", &report).await.with(422));
    assert_example("InsufficientScope", &operator.get("/sessions").await.with(403));
    assert_example("InvalidApiKey", &operator.with_key(None).get("/sessions").await.with(401));
}

/// Checks that an error matches its example and has its message.
#[track_caller]
pub(crate) fn assert_error_example(name: &str, real: &Value) {
    assert_example(name, real);
    let response = |value: &Value| value["error"].get("message").unwrap_or(&value["error"]).clone();
    assert_eq!(response(&example(name)), response(real), "{name}");
}

#[tokio::test]
async fn real_errors_match_the_examples() {
    let names = NameServer::start().await;
    let service = Service::with(&[("dns_server", &names.setting()), ("rate_limit_verify", "1/m")]).await;
    let integrator = service.integrator().await;
    let domain = integrator.register_domain("example.com").await;
    names.set_txt("example.com", &[text(&domain, "verification_token")]);
    let path = format!("/domains/{}", text(&domain, "id"));
    assert_example("ProvedDomain", &integrator.post_nothing(&format!("{path}/verify")).await.with(200));
    integrator.patch(&path, &json!({ "handler": "hosted" })).await.with(200);
    integrator.post("/verify", example("Signed")).await.with(200);
    assert_example("RateLimited", &integrator.post("/verify", example("Signed")).await.with(429));
    client_examples::of_impossible_clients(&service, &integrator, &path).await;
    assert_error_example("SessionNotFound", &integrator.get("/sessions/sess_x").await.with(404));
    let long = " ".repeat(64 * 1024 + 1);
    assert_error_example("PayloadTooLarge", &integrator.post_raw("/sessions", &long).await.with(413));
    let typed = integrator.request(Method::POST, "/sessions").header("content-type", "text/plain").body("{}");
    assert_error_example("UnsupportedMediaType", &send(typed).await.with(415));
    check_wallets(&service, &integrator, &long).await;
    let session = integrator.create_session("example.com").await;
    let answer = service.phone().answer(&session);
    service.advance_clock(SignedDuration::from_mins(6));
    assert_error_example("SessionExpired", &integrator.get_session(&session).await.with(410));
    service.app.store.close().await;
    assert_error_example("Unavailable", &integrator.get("/domains").await.with(503));
    let mut late = answer;
    late["timestamp"] = service.clock.now().as_second().into();
    assert_error_example("WalletOurs", &integrator.with_key(None).post("/hosted/login", &late).await.with(500));
}

async fn check_wallets(service: &Service, integrator: &Integrator, long: &str) {
    let wallet = integrator.with_key(None);
    assert_error_example("WalletInvalid", &wallet.post_raw("/hosted/login", "{}").await.with(400));
    assert_error_example("WalletTooLarge", &wallet.post_raw("/hosted/login", long).await.with(413));
    let mut answer = example("HostedLoginAnswer");
    assert_error_example("WalletStale", &wallet.post("/hosted/login", &answer).await.with(408));
    answer["timestamp"] = service.clock.now().as_second().into();
    assert_error_example("WalletNotFound", &wallet.post("/hosted/login", &answer).await.with(404));
    let register = json!({ "domain": "example.com", "mode": "register" });
    let [first, second] = [
        integrator.post("/sessions", &register).await.with(201),
        integrator.post("/sessions", &register).await.with(201),
    ];
    simulate_wallet(integrator, &first, 1).await;
    let response = simulate_with(integrator, &second, &json!({})).await;
    assert_error_example("WalletConflict", &reply_body(&response));
    let session = integrator.post("/sessions", example("NewCodeSession")).await.with(201);
    for (fault, name) in [("signature", "WalletNotVerified"), ("confirm_code", "WalletNumberRefused")] {
        assert_error_example(name, &reply_body(&simulate_with(integrator, &session, &json!({ "fault": fault })).await));
    }
}
