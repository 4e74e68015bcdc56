//! Commands that change and remove domains and users while a server runs.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use signpost_platform::accounts::audit;

use crate::harness::{CommandOutput, Integrator, NameServer, Program, Service, text};
use crate::hosted::{create_session, post_answer, shop};

async fn start_service(settings: &[(&str, &str)]) -> (tempfile::TempDir, Service) {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::on(&folder.path().join("signpost-data"), &Service::clock(), settings).await;
    (folder, service)
}

async fn run(folder: &Path, arguments: &[&str]) -> CommandOutput {
    Program::within(folder, arguments).run_async().await
}

async fn json_of(folder: &Path, arguments: &[&str]) -> Value {
    run(folder, &[arguments, &["--json"]].concat()).await.json()
}

/// Returns the details of the operator's entries in the audit log.
async fn audit_entries(service: &Service, action: &str) -> Vec<Value> {
    let all = audit::sql::list(&service.app.store, None, jiff::Timestamp::UNIX_EPOCH, "", action, 1000).await;
    let all = all.expect("a database").into_iter().filter(|entry| entry.actor.as_str() == "operator");
    all.map(|entry| entry.details).collect()
}

async fn register(service: &Service, integrator: &Integrator) -> Value {
    let session = create_session(integrator, "register").await;
    post_answer(integrator, &session, &service.phone().answer(&session)).await.with(200);
    integrator.get_session(&session).await.with(200)["user"].clone()
}

#[tokio::test]
async fn verify_shows_the_found_records() {
    let names = NameServer::start().await;
    let (folder, service) = start_service(&[("dns_server", &names.setting())]).await;
    let integrator = service.integrator().await;
    let domain = integrator.register_domain("shop.test").await;
    names.set_txt("shop.test", &["v=spf1 include:private.test", "svc-verify=wrong"]);
    let verify = async |arguments: &[&str]| {
        let arguments = [&["domains", "verify", "shop.test"], arguments].concat();
        Program::within(folder.path(), &arguments).env("SIGNPOST_DNS_SERVER", &names.setting()).run_async().await
    };
    let token = text(&domain, "verification_token");
    let missed = verify(&[]).await;
    assert_eq!(missed.code, Some(1));
    for expected in ["TXT shop.test: found svc-verify=wrong", "TXT _svc-challenge.shop.test: ", token] {
        assert!(missed.out.contains(expected), "{expected}: {}", missed.out);
    }
    assert!(missed.out.contains("https://shop.test/.well-known/svc-verify: ") && !missed.out.contains("private.test"));
    assert!(missed.err.contains("no proof of shop.test"), "{}", missed.err);
    let missed: Value = serde_json::from_str(&verify(&["--json"]).await.out).expect("JSON");
    assert_eq!((&missed["verified"], missed["checks"].as_array().map(Vec::len)), (&json!(false), Some(3)));
    assert!(audit_entries(&service, "domain.verified").await.is_empty());

    names.set_txt("_svc-challenge.shop.test", &[token]);
    let found = verify(&["--json"]).await.json();
    assert_eq!(
        (&found["id"], &found["domain"], &found["verified"]),
        (&domain["id"], &json!("shop.test"), &json!(true))
    );
    assert_eq!(found["checks"][0]["found"], json!([token]));
    assert_eq!(audit_entries(&service, "domain.verified").await.len(), 1);
    // A second verification changes nothing.
    assert_eq!(verify(&["--json"]).await.json()["verified_at"], found["verified_at"]);
    assert_eq!(audit_entries(&service, "domain.verified").await.len(), 1);
    names.set_txt("_svc-challenge.shop.test", &["svc-verify=gone"]);
    let gone = verify(&[]).await;
    assert!(gone.code == Some(1) && gone.err.contains("verified still"), "{}", gone.err);
    let shown = json_of(folder.path(), &["domains", "show", "shop.test"]).await;
    assert_eq!(shown, integrator.get(&format!("/domains/{}", text(&domain, "id"))).await.with(200));
    assert_eq!(shown["verified"], true);
}

#[tokio::test]
async fn domain_changes_follow_the_rules_of_the_api() {
    let (folder, service) = start_service(&[]).await;
    let integrator = service.integrator().await;
    let domain = integrator.register_domain("shop.test").await;
    let path = format!("/domains/{}", text(&domain, "id"));
    let set =
        async |arguments: &[&str]| run(folder.path(), &[&["domains", "set", "shop.test"], arguments].concat()).await;
    for (arguments, expected) in [
        (&[][..], "name at least one setting"),
        (&["--webhook-url", "nowhere"], "--webhook-url:"),
        (&["--event-url", "ftp://a.test"], "--event-url:"),
        (&["--display-name", ""], "--display-name:"),
    ] {
        assert!(set(arguments).await.failed(2).contains(expected), "{arguments:?}");
    }
    for wrong in [["--methods", "scan,scan"], ["--methods", "post"], ["--registration", "shut"], ["--handler", "me"]] {
        assert_eq!(set(&wrong).await.code, Some(2), "{wrong:?}");
    }
    let flags = [
        "--handler",
        "hosted",
        "--methods",
        "scan,passkey",
        "--registration",
        "closed",
        "--display-name",
        "Shop",
        "--event-url",
        "https://shop.test/e",
        "--json",
    ];
    let changed = set(&flags).await.json();
    assert_eq!(
        (&changed["handler"], &changed["methods"], &changed["registration"], &changed["display_name"]),
        (&json!("hosted"), &json!(["scan", "passkey"]), &json!("closed"), &json!("Shop"))
    );
    assert_eq!(
        (&changed["event_url"], &changed["webhook_url"]),
        (&json!("https://shop.test/e"), &domain["webhook_url"])
    );
    assert_eq!(integrator.get(&path).await.with(200), changed);
    assert_eq!(set(&flags).await.json(), changed);
    assert_eq!(audit_entries(&service, "domain.changed").await.len(), 1);
    let cleared = set(&["--no-event-url", "--no-display-name", "--json"]).await.json();
    assert_eq!((cleared.get("event_url"), cleared.get("display_name")), (None, None));
    assert_eq!(cleared["methods"], changed["methods"]);
    let shown = run(folder.path(), &["domains", "show", "shop.test"]).await.out;
    assert!(shown.contains("methods   scan,passkey") && shown.contains("newcomers closed"), "{shown}");
}

#[tokio::test]
async fn changes_apply_to_the_next_request() {
    let (folder, service) = start_service(&[]).await;
    let integrator = service.integrator().await;
    integrator.register_domain("shop.test").await;
    let set =
        async |arguments: &[&str]| run(folder.path(), &[&["domains", "set", "shop.test"], arguments].concat()).await;
    let on_page = async || {
        let body = json!({ "domain": "shop.test", "flow": "page", "metadata": { "return_url": "/in" } });
        integrator.post("/sessions", &body).await
    };
    // The server has now cached the domain.
    let pending = integrator.create_session("shop.test").await;
    integrator.create_session("shop.test").await;
    on_page().await.assert_error(422, "domain_not_hosted");

    set(&["--handler", "hosted", "--json"]).await.json();
    on_page().await.with(201);
    on_page().await.with(201);
    set(&["--handler", "direct", "--event-url", "https://shop.test/new", "--json"]).await.json();
    on_page().await.assert_error(422, "domain_not_hosted");
    integrator.create_session("shop.test").await;

    set(&["--event-url", "https://shop.test/newer", "--json"]).await.json();
    integrator.authenticate(&pending, &service.phone().answer(&pending)).await.with(200);
    let queued = service.app.store.read("SELECT url FROM deliveries", Vec::new()).await.expect("a database");
    assert_eq!(queued[0].text(0).expect("a URL"), "https://shop.test/newer");

    run(folder.path(), &["domains", "remove", "shop.test", "--yes", "--json"]).await.json();
    let gone = integrator.post("/sessions", json!({ "domain": "shop.test" })).await;
    gone.assert_error(422, "domain_not_registered");
}

#[tokio::test]
async fn removing_a_domain_requires_confirmation() {
    let (folder, service) = start_service(&[]).await;
    let integrator = service.integrator().await;
    let domain = shop(&integrator, "http://127.0.0.1:1/hook").await;
    register(&service, &integrator).await;
    let pending = create_session(&integrator, "login").await;
    let remove =
        async |arguments: &[&str]| run(folder.path(), &[&["domains", "remove", "shop.test"], arguments].concat()).await;
    let asked = remove(&[]).await;
    let message = asked.failed(2);
    for expected in ["users (1)", "pending sessions (1)", "signing secret", "--yes"] {
        assert!(message.contains(expected), "{expected}: {message}");
    }
    integrator.get(&format!("/domains/{}", text(&domain, "id"))).await.with(200);
    let removed = remove(&["--yes", "--json"]).await.json();
    let expected = json!({ "removed": domain["id"], "domain": "shop.test", "users": 1, "pending_sessions": 1 });
    assert_eq!(removed, expected);
    integrator.get(&format!("/domains/{}", text(&domain, "id"))).await.assert_error(404, "domain_not_found");
    assert_eq!(integrator.get("/domains").await.with(200), json!({ "domains": [] }));
    service.advance_clock(jiff::SignedDuration::from_secs(5));
    // The command uses the system clock and the server the test's, so the cancellation may be long past.
    let session = integrator.get_session(&pending).await;
    assert!([404, 410].contains(&session.status), "{}", session.text);
    let answer = service.phone().answer_with(&pending, pending["confirm_code"].as_str());
    assert_ne!(post_answer(&integrator, &pending, &answer).await.status, 200);
    assert_eq!(audit_entries(&service, "domain.deleted").await.len(), 1);
    assert!(remove(&["--yes"]).await.failed(1).contains("no domain has the ID or name"));
    let again = run(folder.path(), &["domains", "remove", text(&domain, "id"), "--yes"]).await;
    assert!(again.failed(1).contains("no domain has the ID"));
}

/// Runs a command in a terminal with this answer; returns true if it succeeded, and its output.
fn run_in_terminal(folder: &Path, arguments: &str, answer: &str) -> (bool, String) {
    let typed = format!("{} {arguments}", env!("CARGO_BIN_EXE_signpost"));
    let mut script = Command::new("script");
    script.args(["-qec", &typed, "/dev/null"]).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut script = script.spawn().expect("script is installed");
    writeln!(script.stdin.take().expect("a pipe"), "{answer}").expect("a write");
    let output = script.wait_with_output().expect("a process");
    (output.status.success(), String::from_utf8(output.stdout).expect("text"))
}

#[tokio::test]
async fn the_terminal_prompt_requires_a_yes() {
    let (folder, service) = start_service(&[]).await;
    let integrator = service.integrator().await;
    let domain = integrator.register_domain("shop.test").await;
    let path = format!("/domains/{}", text(&domain, "id"));
    for (answer, is_removed) in [("n", false), ("", false), ("yep", false), ("y", true)] {
        let folder = folder.path().to_owned();
        let asked = tokio::task::spawn_blocking(move || run_in_terminal(&folder, "domains remove shop.test", answer));
        let (is_done, shown) = asked.await.expect("no panic");
        assert!(shown.contains("users (0)") && shown.contains("Remove shop.test? [y/N]"), "{shown}");
        assert_eq!((is_done, shown.contains("nothing was removed")), (is_removed, !is_removed), "{answer:?}: {shown}");
        assert_eq!(integrator.get(&path).await.status, if is_removed { 404 } else { 200 }, "{answer:?}");
    }
}

#[tokio::test]
async fn the_system_domain_cannot_be_changed() {
    let (folder, service) = start_service(&[]).await;
    let own = signpost_login::domains::system_domain::find_or_register(
        &service.app.store,
        None,
        "http://localhost",
        service.clock.now(),
    );
    let id = own.await.expect("a domain").id.to_string();
    for arguments in [&["remove", &id, "--yes"][..], &["set", &id, "--handler", "direct"], &["verify", &id]] {
        let ended = run(folder.path(), &[&["domains"], arguments].concat()).await;
        assert!(ended.failed(1).contains("the server's own domain"), "{}", ended.err);
    }
    assert_eq!(json_of(folder.path(), &["domains", "show", &id]).await["domain"], "localhost");
}

#[tokio::test]
async fn users_can_be_changed_and_removed() {
    let (folder, service) = start_service(&[]).await;
    let integrator = service.integrator().await;
    let domain = shop(&integrator, "http://127.0.0.1:1/hook").await;
    let user = register(&service, &integrator).await;
    let id = text(&user, "id").to_owned();
    let users = async |arguments: &[&str]| {
        run(folder.path(), &[&["users"], arguments, &["--domain", "shop.test"]].concat()).await
    };
    let set = async |who: &str, arguments: &[&str]| users(&[&["set", who], arguments].concat()).await;
    let path = format!("/domains/{}/users/{id}", text(&domain, "id"));
    let named = set(&id, &["--name", "Ann", "--groups", "staff, admins", "--json"]).await.json();
    assert_eq!((&named["name"], &named["groups"]), (&json!("Ann"), &json!(["staff", "admins"])));
    assert_eq!(integrator.get(&path).await.with(200), named);
    let shown = users(&["show", &id]).await.out;
    assert!(shown.contains("name         Ann\n") && shown.contains("groups       staff, admins\n"), "{shown}");
    // Users are also found by key; omitted settings do not change.
    let cleared = set(&service.phone().public_key(), &["--no-groups", "--json"]).await.json();
    assert_eq!((&cleared["name"], cleared.get("groups")), (&json!("Ann"), None));
    assert_eq!(set(&id, &["--no-name", "--json"]).await.json().get("name"), None);
    assert_eq!(audit_entries(&service, "user.changed").await.len(), 3);
    assert_eq!(set(&id, &[]).await.code, Some(2));
    for (wrong, message) in [(["--name", ""], "--name: must have"), (["--groups", "a,a"], "--groups: must name each")] {
        assert!(set(&id, &wrong).await.failed(2).contains(message), "{wrong:?}");
    }
    assert_eq!(set(&id, &["--name", "Ann", "--no-name"]).await.code, Some(2));
    assert!(set("usr_nobody", &["--name", "Ann"]).await.failed(1).contains("no user of shop.test"));

    let asked = users(&["remove", &id]).await;
    let message = asked.failed(2);
    assert!(
        message.contains("credentials (1)") && message.contains(text(&named, "petname")) && message.contains("--yes"),
        "{message}"
    );
    integrator.get(&path).await.with(200);
    let removed = users(&["remove", &id, "--yes", "--json"]).await.json();
    let petname = &named["petname"];
    assert_eq!(removed, json!({ "removed": id, "petname": petname, "username": petname, "credentials": 1 }));
    integrator.get(&path).await.assert_error(404, "not_found");
    assert_eq!(audit_entries(&service, "user.deleted").await, [json!({ "user_id": id })]);
    assert!(users(&["remove", &id, "--yes"]).await.failed(1).contains("no user of shop.test"));
    let registered = register(&service, &integrator).await;
    assert_ne!(registered["id"], json!(id));
}
