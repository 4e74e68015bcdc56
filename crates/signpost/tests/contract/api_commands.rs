//! Commands with `--api`: the results of the database, the rights of a key, and the selection of the target.

use std::path::Path;

use axum::http::StatusCode;
use serde_json::{Value, json};
use signpost_auth::WebhookSecret;
use signpost_platform::accounts::Environment;

use crate::harness::{CommandOutput, Endpoint, Integrator, Program, Service, text};
use crate::hosted::{create_session, post_answer, shop};

/// A server with the data of an account, a folder with its database, and an empty folder of another machine.
struct Installation {
    folder: tempfile::TempDir,
    elsewhere: tempfile::TempDir,
    service: Service,
    integrator: Integrator,
}

impl Installation {
    async fn start() -> Self {
        let (folder, elsewhere) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let settings = [("rate_limit_domains", "off"), ("rate_limit_get_session", "off")];
        let service = Service::on(&folder.path().join("signpost-data"), &Service::clock(), &settings).await;
        let integrator = service.integrator_of("default", Environment::Sandbox).await;
        Self { folder, elsewhere, service, integrator }
    }

    fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.service.app.listen.port())
    }

    /// Prepares a command on another machine, with a key and without `--api`.
    fn remote(&self, key: &Integrator, arguments: &[&str]) -> Program {
        let key = key.key.as_deref().expect("a key");
        Program::within(self.elsewhere.path(), arguments).env("SIGNPOST_KEY", key)
    }

    /// Runs a command through the API with a key.
    async fn run_with(&self, key: &Integrator, arguments: &[&str]) -> CommandOutput {
        let address = self.address();
        self.remote(key, &[arguments, &["--api", &address]].concat()).run_async().await
    }

    async fn run(&self, arguments: &[&str]) -> CommandOutput {
        self.run_with(&self.integrator, arguments).await
    }

    /// Returns the JSON document of a command through the API.
    async fn json(&self, arguments: &[&str]) -> Value {
        let ended = self.run(&[arguments, &["--json"]].concat()).await;
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.err);
        assert!(ended.err.starts_with("target: http://127.0.0.1:") && ended.err.lines().count() == 1, "{}", ended.err);
        serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {}", ended.out))
    }

    /// Returns the JSON document of a command on the database.
    async fn local_json(&self, arguments: &[&str]) -> Value {
        run(self.folder.path(), &[arguments, &["--json"]].concat()).await.json()
    }
}

async fn run(folder: &Path, arguments: &[&str]) -> CommandOutput {
    Program::within(folder, arguments).run_async().await
}

/// Checks a failure whose output is the target and a line that contains `expected`.
#[track_caller]
fn assert_refused(ended: &CommandOutput, code: i32, expected: &str) {
    assert!(ended.code == Some(code) && ended.err.contains(expected), "{:?}: {}{}", ended.code, ended.out, ended.err);
    assert!(!ended.err.contains("svc_"), "{}", ended.err);
}

#[tokio::test]
async fn api_and_database_print_equal_results() {
    let own = Installation::start().await;
    let mut endpoint = Endpoint::start().await;
    shop(&own.integrator, &endpoint.url("/hook")).await;
    let session = create_session(&own.integrator, "register").await;
    post_answer(&own.integrator, &session, &own.service.phone().answer(&session)).await.with(200);
    endpoint.next_request().await;
    own.service.wait_for_attempts(1).await;
    let uri = ["--redirect-uri", "https://wiki.test/cb"];
    let create = [&["clients", "create", "--domain", "shop.test", "--name", "Wiki"], &uri[..]].concat();
    let client = own.json(&create).await;
    assert!(text(&client, "client_secret").len() > 20, "{client}");
    let client = text(&client, "client_id");
    let user = own.local_json(&["users", "list", "--domain", "shop.test"]).await;
    let user = text(&user["users"][0], "id");
    let set = ["users", "set", user, "--domain", "shop.test", "--name", "Ann", "--external-id", "a-1"];
    assert_eq!(own.json(&set).await["external_id"], "a-1");
    let event = text(&own.local_json(&["deliveries", "list"]).await["deliveries"][0], "id").to_owned();
    for arguments in [
        &["domains", "list"][..],
        &["domains", "show", "shop.test"],
        &["clients", "list"],
        &["clients", "list", "--domain", "shop.test", "--sandbox"],
        &["clients", "show", client],
        &["users", "list", "--domain", "shop.test"],
        &["users", "list", "--domain", "shop.test", "--external-id", "a-1"],
        &["users", "show", user, "--domain", "shop.test"],
        &["users", "credentials", "list", user, "--domain", "shop.test"],
        &["users", "sign-ins", user, "--domain", "shop.test"],
        &["deliveries", "list"],
        &["deliveries", "list", "--state", "delivered", "--limit", "1"],
        &["deliveries", "list", "--state", "failed"],
    ] {
        assert_eq!(own.json(arguments).await, own.local_json(arguments).await, "{arguments:?}");
        let (remote, local) = (own.run(arguments).await, run(own.folder.path(), arguments).await);
        let (target, output) = remote.out.split_once('\n').expect("a first line");
        assert!(target.starts_with("target: ") && target.contains("account default"), "{target}");
        assert_eq!((output, remote.err.as_str()), (local.out.as_str(), ""), "{arguments:?}");
    }
    // The database also has the attempts.
    let mut local = own.local_json(&["deliveries", "show", &event]).await;
    assert!(local.as_object_mut().expect("an object").remove("past_attempts").is_some());
    assert_eq!(own.json(&["deliveries", "show", &event]).await, local);
}

#[tokio::test]
async fn changes_through_the_api_are_stored() {
    let own = Installation::start().await;
    let endpoint = Endpoint::start().await;
    let url = endpoint.url("/events");
    let add = ["domains", "add", "shop.test", "--handler", "hosted", "--webhook-url", url.as_str()];
    let made = own.json(&add).await;
    assert!(text(&made, "webhook_secret").starts_with("whsec_"));
    let again = own.json(&add).await;
    assert_eq!((&again["id"], again.get("webhook_secret")), (&made["id"], None));
    let set = ["domains", "set", "shop.test", "--registration", "closed", "--display-name", "Shop"];
    let changed = own.json(&set).await;
    assert_eq!((&changed["registration"], &changed["display_name"]), (&json!("closed"), &json!("Shop")));
    assert_eq!(own.local_json(&["domains", "show", "shop.test"]).await, changed);
    let create = ["clients", "create", "--domain", "shop.test", "--redirect-uri", "https://wiki.test/cb"];
    let client = text(&own.json(&create).await, "client_id").to_owned();
    let renamed = own.json(&["clients", "set", &client, "--name", "Notes", "--allow", "group:staff"]).await;
    assert_eq!((&renamed["name"], &renamed["allow"]), (&json!("Notes"), &json!(["group:staff"])));
    // Standard output has only the secret.
    let rotated = own.run(&["clients", "rotate", &client]).await;
    assert!(rotated.out.lines().count() == 1 && rotated.err.starts_with("target: "), "{}{}", rotated.out, rotated.err);
    let tested = own.json(&["deliveries", "test", "shop.test"]).await;
    assert_eq!(own.json(&["deliveries", "retry", text(&tested, "id")]).await, json!({ "retried": 1 }));
    assert_eq!(own.json(&["deliveries", "retry", "--failed"]).await, json!({ "retried": 0 }));
    let verified = own.run(&["domains", "verify", "shop.test"]).await;
    assert_refused(&verified, 1, "no proof of shop.test");
    assert!(verified.out.contains("_svc-challenge.shop.test"), "{}", verified.out);
}

#[tokio::test]
async fn removal_needs_the_name_of_the_domain() {
    let own = Installation::start().await;
    shop(&own.integrator, "http://127.0.0.1:1/hook").await;
    let create = ["clients", "create", "--domain", "shop.test", "--redirect-uri", "https://wiki.test/cb"];
    let client = text(&own.json(&create).await, "client_id").to_owned();
    for removal in [&["clients", "delete", client.as_str()][..], &["domains", "remove", "shop.test"]] {
        assert_refused(&own.run(removal).await, 2, "--yes shop.test");
        assert_refused(&own.run(&[removal, &["--yes"]].concat()).await, 2, "--yes shop.test");
        assert_refused(&own.run(&[removal, &["--yes", "other.test"]].concat()).await, 2, "shop.test");
        let ended = run(own.folder.path(), &[removal, &["--yes", "other.test"]].concat()).await;
        assert!(ended.failed(2).contains("shop.test"), "{}", ended.err);
        own.json(&[removal, &["--yes", "shop.test"]].concat()).await;
    }
    assert_eq!(own.local_json(&["domains", "list"]).await, json!({ "domains": [] }));
}

#[tokio::test]
async fn key_sees_only_its_account() {
    let own = Installation::start().await;
    let domain = own.integrator.register_domain("shop.test").await;
    let id = text(&domain, "id");
    let event = own.integrator.post_nothing(&format!("/domains/{id}/test-event")).await.with(202);
    let stranger = own.service.integrator_of("stranger", Environment::Sandbox).await;
    for (arguments, code, expected) in [
        (&["domains", "show", "shop.test"][..], 1, "no domain"),
        (&["domains", "show", id], 1, "no domain"),
        (&["domains", "remove", id, "--yes", "shop.test"], 1, "no domain"),
        (&["clients", "list", "--domain", id], 1, "domain_not_found"),
        (&["deliveries", "show", text(&event, "id")], 1, "no event"),
        (&["deliveries", "retry", text(&event, "id")], 1, "no event"),
        (&["trigger", "test", "--domain", id], 1, "domain_not_found"),
        (&["domains", "show", "shop.test", "--account", "default"], 2, "account stranger"),
        (&["domains", "show", "shop.test", "--live"], 2, "in the sandbox"),
        (&["domains", "add", "a.test", "--account", "default2"], 2, "account stranger"),
    ] {
        assert_refused(&own.run_with(&stranger, arguments).await, code, expected);
    }
    for (arguments, member) in
        [(["domains", "list", "--json"], "domains"), (["deliveries", "list", "--json"], "deliveries")]
    {
        let listed = own.run_with(&stranger, &arguments).await.out;
        assert_eq!(serde_json::from_str::<Value>(&listed).expect("JSON")[member], json!([]));
    }
    assert_eq!(stranger.get("/deliveries/signed").await.with(200), json!({ "events": [] }));
    let status = own.run_with(&stranger, &["status", "--json"]).await;
    let status: Value = serde_json::from_str(&status.out).expect("JSON");
    assert_eq!((&status["account"], &status["domains"]["sandbox"]), (&json!("stranger"), &json!(0)));
    assert!(own.json(&["status"]).await["domains"]["sandbox"] == 1);
}

#[tokio::test]
async fn secrets_are_not_available_to_a_key() {
    let own = Installation::start().await;
    shop(&own.integrator, "http://127.0.0.1:1/hook").await;
    for arguments in [
        &["domains", "secret", "shop.test"][..],
        &["domains", "secret", "shop.test", "--rotate"],
        &["domains", "secret", "shop.test", "--activate"],
        &["domains", "seal"],
        &["deliveries", "endpoints"],
        &["users", "credentials", "link", "usr_0123456789", "--domain", "shop.test"],
        &["users", "credentials", "add", "usr_0123456789", "02", "--domain", "shop.test"],
        &["users", "credentials", "rename", "usr_0123456789", "cred_0123456789", "x", "--domain", "shop.test"],
    ] {
        let ended = own.run(arguments).await;
        assert_refused(&ended, 1, "on the server");
        assert!(!ended.out.contains("whsec_"), "{}", ended.out);
    }
    for command in ["audit", "signing-keys", "keys"] {
        assert_refused(&own.run(&[command, "list"]).await, 2, "--api");
    }
}

#[tokio::test]
async fn listen_forwards_events_that_the_service_signs() {
    let own = Installation::start().await;
    let domain = own.integrator.register_domain("shop.test").await;
    let secret = WebhookSecret::parse(text(&domain, "webhook_secret")).expect("a secret");
    let mut receiver = Endpoint::start().await;
    let (address, url) = (own.address(), receiver.url("/events"));
    let listen = ["listen", "--forward-to", url.as_str(), "--json", "--api", address.as_str()];
    let mut listening = own.remote(&own.integrator, &listen).follow();
    let ready = listening.line().await;
    let known = json!({ "domain_id": domain["id"], "domain": "shop.test", "environment": "sandbox" });
    assert_eq!((&ready["type"], &ready["domains"]), (&json!("ready"), &json!([known])));
    let triggered = own.run(&["trigger", "login", "--domain", "shop.test"]).await;
    assert_refused(&triggered, 1, "did not answer as it should");
    let posted = receiver.next_request().await;
    assert!(secret.verify_x_svc_signature(posted.header("x-svc-signature"), &posted.body));
    assert_eq!(posted.json()["event"], "login");
    let (event, answer) = (listening.line().await, listening.line().await);
    assert_eq!(
        (&event["event"], &event["domain"], &answer["status"]),
        (&json!("login"), &json!("shop.test"), &json!(200))
    );
    receiver.respond_with(StatusCode::UNAUTHORIZED);
    receiver.respond_with(StatusCode::UNAUTHORIZED);
    own.json(&["deliveries", "test", "shop.test"]).await;
    assert_eq!(listening.line().await["event"], "test");
    assert_eq!(
        (&listening.line().await["status"], &listening.line().await["type"]),
        (&json!(401), &json!("diagnosis"))
    );
    listening.interrupt().await;
}

#[tokio::test]
async fn sandbox_key_triggers_every_kind_of_event() {
    let own = Installation::start().await;
    let mut endpoint = Endpoint::start().await;
    let domain = own.integrator.register_domain_at("shop.test", &endpoint.url("/hook")).await;
    for kind in ["login", "register", "link", "user.deleted", "test"] {
        let sent = own.json(&["trigger", kind]).await;
        assert_eq!(
            (&sent["event"], &sent["ok"], &sent["posts"][0]["status"]),
            (&json!(kind), &json!(true), &json!(200))
        );
        assert_eq!(endpoint.next_request().await.json()["event"], kind);
    }
    let path = format!("/domains/{}/test-event", text(&domain, "id"));
    own.integrator.post(&path, json!({ "event": "approval" })).await.assert_invalid_field("event");
    for flags in [&["--fault", "stale"][..], &["--forward-to", "localhost:1"]] {
        assert_refused(&own.run(&[&["trigger", "login"], flags].concat()).await, 2, "--secret");
    }
}

#[tokio::test]
async fn live_key_forges_no_login() {
    let own = Installation::start().await;
    let live = own.service.integrator_of("default", Environment::Live).await;
    let domain = live.register_domain_at("shop.test", "https://shop.test/hook").await;
    let path = format!("/domains/{}/test-event", text(&domain, "id"));
    for kind in ["login", "register", "link", "user.deleted"] {
        assert_refused(&own.run_with(&live, &["trigger", kind]).await, 2, "--secret");
        live.post(&path, json!({ "event": kind })).await.assert_invalid_field("event");
    }
    live.post(&path, json!({ "event": "test" })).await.with(202);
    let listen = ["listen", "--forward-to", "localhost:1"];
    assert_refused(&own.run_with(&live, &listen).await, 2, "--live");
    let mut receiver = Endpoint::start().await;
    let (address, url) = (own.address(), receiver.url("/events"));
    let listen = ["listen", "--live", "--forward-to", url.as_str(), "--json", "--api", address.as_str()];
    let mut listening = own.remote(&live, &listen).follow();
    assert_eq!(listening.line().await["domains"][0]["environment"], "live");
    live.post_nothing(&path).await.with(202);
    assert_eq!(receiver.next_request().await.json()["event"], "test");
    listening.interrupt().await;
    // Signed by the given secret, a sample needs neither the service nor a database.
    let secret = text(&domain, "webhook_secret");
    let given =
        ["trigger", "login", "--secret", secret, "--forward-to", url.as_str(), "--domain", "shop.test", "--json"];
    assert_eq!(own.remote(&live, &given).run_async().await.json()["ok"], true);
}

#[tokio::test]
async fn only_the_address_selects_the_api() {
    let own = Installation::start().await;
    own.integrator.register_domain("shop.test").await;
    let address = own.address();
    let data = own.folder.path().join("signpost-data").display().to_string();
    let list = ["domains", "list", "--json"];
    let remote = |arguments: &[&str]| own.remote(&own.integrator, arguments).env("SIGNPOST_API", &address);
    // A key alone selects nothing.
    let ended = own.remote(&own.integrator, &list).run_async().await;
    assert!(ended.failed(1).contains("no database"), "{}", ended.err);
    assert!(remote(&list).run_async().await.err.starts_with("target: http://127.0.0.1:"));
    // Settings of a database win over the variable.
    let by_flag = remote(&[&list[..], &["--data-dir", &data]].concat()).run_async().await;
    assert_eq!(by_flag.json()["domains"][0]["domain"], "shop.test");
    let by_variable = remote(&list).env("SIGNPOST_DATA_DIR", &data).run_async().await;
    assert_eq!(by_variable.json()["domains"][0]["domain"], "shop.test");
    let both = remote(&[&list[..], &["--api", &address, "--data-dir", &data]].concat()).run_async().await;
    assert_refused(&both, 2, "--data-dir");
    let flag = own.remote(&own.integrator, &[&list[..], &["--api", &address]].concat());
    assert_eq!(flag.env("SIGNPOST_DATA_DIR", "nowhere").run_async().await.code, Some(0));
    // The key of a file, and the warning about a key on the command line.
    let key = own.integrator.key.as_deref().expect("a key");
    std::fs::write(own.elsewhere.path().join("key"), format!("{key}\n")).expect("a file");
    let by_file = run(own.elsewhere.path(), &[&list[..], &["--api", &address, "--key-file", "key"]].concat()).await;
    assert_eq!((by_file.code, by_file.err.lines().count()), (Some(0), 1), "{}", by_file.err);
    let visible = run(own.elsewhere.path(), &[&list[..], &["--api", &address, "--key", key]].concat()).await;
    assert!(visible.code == Some(0) && visible.err.contains("process list"), "{}", visible.err);
    assert_refused(&run(own.elsewhere.path(), &[&list[..], &["--key-file", "key"]].concat()).await, 2, "--api");
}

#[tokio::test]
async fn server_ignores_the_variables() {
    let folder = tempfile::tempdir().expect("a folder");
    let variables = [("SIGNPOST_API", "http://127.0.0.1:1"), ("SIGNPOST_KEY", "secret-of-nobody")];
    let mut server = Program::serve(folder.path(), &variables);
    server.terminate();
    let (status, log) = server.wait_for_exit();
    assert!(status.success() && !log.contains("secret-of-nobody") && !log.contains("127.0.0.1:1/"), "{log}");
}

#[tokio::test]
async fn connection_errors_name_the_remedy() {
    let own = Installation::start().await;
    let other = Endpoint::start().await;
    let list = |address: &str| own.remote(&own.integrator, &["domains", "list", "--api", address]).run_async();
    let address = own.address();
    assert_refused(&list("http://127.0.0.1:1").await, 1, "http://127.0.0.1:1/sandbox/v1/account: no answer");
    other.respond_with((StatusCode::NOT_FOUND, "<html>"));
    assert_refused(&list(&other.url("")).await, 1, "is this the address of a Signpost server");
    other.respond_with((StatusCode::FOUND, [("location", "https://evil.test/")], ""));
    assert_refused(&list(&other.url("")).await, 1, "redirects are not followed");
    other.respond_with((StatusCode::OK, "{}"));
    assert_refused(&list(&other.url("")).await, 1, "cannot be understood");
    assert_refused(&list("http://login.example").await, 2, "--api: must be https");
    assert_refused(&list(&format!("{address}/v1")).await, 2, "belongs to the sandbox");
    // The key of another server.
    let elsewhere = Installation::start().await;
    let ended = own.run_with(&elsewhere.integrator, &["domains", "list"]).await;
    assert_refused(&ended, 1, "401 invalid_api_key");
    let nothing = Program::within(own.elsewhere.path(), &["domains", "list", "--api", &address]).run_async().await;
    assert_refused(&nothing, 2, "SIGNPOST_KEY");
}

#[tokio::test]
async fn hostile_service_is_bounded() {
    let own = Installation::start().await;
    let other = Endpoint::start().await;
    let url = other.url("");
    let list = || own.remote(&own.integrator, &["domains", "list", "--api", &url]).run_async();
    let account = json!({ "account": "acme\nverified", "key_id": "key_1", "domains": [], "next_cursor": "c" });
    // The replies for the account and for two pages of the list.
    for _ in 0..3 {
        other.respond_with((StatusCode::OK, account.to_string()));
    }
    let ended = list().await;
    assert_refused(&ended, 1, "repeats its cursor");
    assert!(ended.out.lines().count() <= 1, "{}", ended.out);
    let error = json!({ "error": { "code": "c".repeat(5000), "message": "m".repeat(5000), "details": {} } });
    other.respond_with((StatusCode::CONFLICT, error.to_string()));
    let ended = list().await;
    assert_refused(&ended, 1, "409 ccc");
    assert!(ended.err.len() < 1000, "{} bytes", ended.err.len());
}
