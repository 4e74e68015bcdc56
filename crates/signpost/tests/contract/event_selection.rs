//! docs/handlers.md, Events about users: the kinds of events that a domain selects, by the API, the command line and the
//! console, and samples of these kinds.

use serde_json::{Value, json};

use crate::console::{operator, post_form};
use crate::harness::{Endpoint, Phone, Program, Service, text};
use crate::page_flow::{create_user_at, register_hosted_domain};

const DIRECT: [&str; 2] = ["login", "register"];
const HOSTED: [&str; 3] = ["login", "register", "link"];
const ALL: [&str; 8] = [
    "login",
    "register",
    "link",
    "user.updated",
    "user.deleted",
    "credential.added",
    "credential.removed",
    "user.signed_out",
];
const NEW: &str = "/console/sites/new";

#[tokio::test]
async fn default_depends_on_the_handler() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    assert_eq!(integrator.register_domain("direct.test").await["events"], json!(DIRECT));
    let hosted = register_hosted_domain(&integrator, "hosted.test").await;
    assert_eq!(hosted["events"], json!(HOSTED));
    let path = format!("/domains/{}", text(&hosted, "id"));
    let direct = integrator.patch(&path, &json!({ "handler": "direct" })).await.with(200);
    assert_eq!(direct["events"], json!(DIRECT));
}

#[tokio::test]
async fn selection_is_stored_in_order() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let new =
        json!({ "domain": "shop.test", "webhook_url": "http://127.0.0.1:1/", "events": ["user.deleted", "login"] });
    let domain = integrator.post("/domains", &new).await.with(201);
    assert_eq!(domain["events"], json!(["login", "user.deleted"]));
    let path = format!("/domains/{}", text(&domain, "id"));
    for (events, shown) in [
        (json!(ALL), json!(ALL)),
        (json!([]), json!([])),
        (json!(["link"]), json!(["link"])),
        (Value::Null, json!(DIRECT)),
    ] {
        let changed = integrator.patch(&path, &json!({ "events": events })).await.with(200);
        assert_eq!((&changed["events"], changed.get("handler")), (&shown, Some(&json!("direct"))));
        assert_eq!(integrator.get(&path).await.with(200), changed);
        // Other changes keep the selection.
        let again = integrator.patch(&path, &json!({ "display_name": "Shop" })).await.with(200);
        assert_eq!(again["events"], shown);
    }
}

#[tokio::test]
async fn invalid_selection_is_rejected() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = integrator.register_domain("shop.test").await;
    let path = format!("/domains/{}", text(&domain, "id"));
    for events in [
        json!("login"),
        json!("all"),
        json!(["login", "login"]),
        json!(["test"]),
        json!(["user"]),
        json!(["approval.requested"]),
        json!(["Login"]),
        json!([1]),
        json!({}),
    ] {
        let changed = integrator.patch(&path, &json!({ "events": events })).await;
        assert_eq!(changed.assert_error(400, "invalid_request")["field"], "events", "{events}");
        let new = json!({ "domain": "other.test", "webhook_url": "http://127.0.0.1:1/", "events": events });
        let created = integrator.post("/domains", &new).await;
        assert_eq!(created.assert_error(400, "invalid_request")["field"], "events", "{events}");
    }
    assert_eq!(integrator.get(&path).await.with(200)["events"], json!(DIRECT));
}

#[tokio::test]
async fn test_event_needs_no_selection() {
    let service = Service::start().await;
    let (integrator, mut endpoint) = (service.integrator().await, Endpoint::start().await);
    let domain = integrator.register_domain_at("shop.test", &endpoint.url("/")).await;
    let path = format!("/domains/{}", text(&domain, "id"));
    integrator.patch(&path, &json!({ "events": [] })).await.with(200);
    integrator.post_nothing(&format!("{path}/test-event")).await.with(202);
    assert_eq!(endpoint.next_request().await.json()["event"], "test");
}

#[tokio::test]
async fn commands_select_kinds() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::on(folder.path(), &Service::clock(), &[]).await;
    let data_dir = folder.path().to_str().expect("a path");
    let run = async |arguments: &[&str]| {
        let arguments = [&["--data-dir", data_dir, "domains"], arguments, &["--json"]].concat();
        Program::within(folder.path(), &arguments).run_async().await
    };
    let add = ["add", "shop.test", "--sandbox", "--handler", "hosted"];
    let added = run(&[&add[..], &["--events", "all"]].concat()).await.json();
    assert_eq!(added["events"], json!(ALL));
    for (value, expected) in [
        ("default", json!(HOSTED)),
        ("none", json!([])),
        ("user.signed_out,login", json!(["login", "user.signed_out"])),
    ] {
        assert_eq!(run(&["set", "shop.test", "--events", value]).await.json()["events"], expected);
        assert_eq!(run(&["show", "shop.test"]).await.json()["events"], expected);
    }
    // A domain that is added again keeps its selection without the flag.
    assert_eq!(run(&add).await.json()["events"], json!(["login", "user.signed_out"]));
    assert_eq!(run(&[&add[..], &["--events", "all"]].concat()).await.json()["events"], json!(ALL));
    for wrong in ["test", "login,login", "", "all,login"] {
        assert_eq!(run(&["set", "shop.test", "--events", wrong]).await.code, Some(2), "{wrong}");
    }
    let show = ["--data-dir", data_dir, "domains", "show", "shop.test"];
    let shown = Program::within(folder.path(), &show).run_async().await.out;
    assert!(shown.contains("kinds") && shown.contains("register, link, user.updated"), "{shown}");
    drop(service);
}

#[tokio::test]
async fn changes_by_commands_have_events() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::on(folder.path(), &Service::clock(), &[]).await;
    let integrator = service.integrator().await;
    let domain = register_hosted_domain(&integrator, "shop.test").await;
    let done = create_user_at(&service, &integrator, "shop.test", &service.phone()).await;
    let user = text(&done["user"], "id");
    integrator.patch(&format!("/domains/{}", text(&domain, "id")), &json!({ "events": ALL })).await.with(200);
    let data_dir = folder.path().to_str().expect("a path");
    let run = async |arguments: &[&str]| {
        let arguments = [&["--data-dir", data_dir, "users"], arguments, &["--domain", "shop.test", "--json"]].concat();
        Program::within(folder.path(), &arguments).run_async().await.json()
    };
    run(&["set", user, "--name", "Ann"]).await;
    let spare = Phone::of(21, &service.clock).public_key();
    let added = run(&["credentials", "add", user, &spare]).await;
    run(&["credentials", "remove", user, text(&added, "id")]).await;
    run(&["remove", user, "--yes"]).await;
    let mut sent: Vec<_> = Vec::new();
    for queued in service.outbox().await {
        sent.push(text(&queued.body, "event").to_owned());
        assert_eq!(queued.body["data"]["user_id"], json!(user));
    }
    sent.sort();
    assert_eq!(sent, ["credential.added", "credential.removed", "register", "user.deleted", "user.updated"]);
}

#[tokio::test]
async fn console_form_selects_kinds() {
    let service = Service::start().await;
    let mut browser = operator(&service).await;
    let form = browser.visit(NEW).await;
    for kind in HOSTED {
        assert!(form.html.contains(&format!("name=\"event {kind}\" value=\"on\" checked")), "{kind}: {}", form.html);
    }
    assert!(form.html.contains("name=\"event user.deleted\" value=\"on\">"), "{}", form.html);
    let boxes = |kinds: &[&str]| format!("&event+{}=on", kinds.join("=on&event+"));
    let integrator = service.integrator().await;
    for (name, handler, fields, expected) in [
        ("a.test", "hosted", format!("&events=chosen{}", boxes(&ALL)), json!(ALL)),
        ("b.test", "hosted", format!("&events=chosen{}", boxes(&HOSTED)), json!(HOSTED)),
        ("c.test", "hosted", "&events=chosen".to_owned(), json!([])),
        ("d.test", "direct", format!("&events=chosen{}", boxes(&HOSTED)), json!(DIRECT)),
        ("e.test", "hosted", String::new(), json!(HOSTED)),
        ("f.test", "hosted", format!("&events=chosen{}", boxes(&DIRECT)), json!(DIRECT)),
    ] {
        let fields = format!(
            "&domain={name}&account=acme&environment=sandbox&handler={handler}&webhook_url=&event_url={fields}"
        );
        assert_eq!(post_form(&mut browser, &form, NEW, &fields).await.status, 200, "{name}");
        let listed = integrator.get("/domains").await.with(200);
        let added = listed["domains"].as_array().expect("a list").iter().find(|domain| domain["domain"] == name);
        let path = format!("/domains/{}", text(added.expect("a domain"), "id"));
        assert_eq!(integrator.get(&path).await.with(200)["events"], expected, "{name}");
    }
    // A rejected form keeps the boxes.
    let fields = "&domain=%3C&account=acme&environment=sandbox&handler=hosted&events=chosen&event+user.deleted=on";
    let refused = post_form(&mut browser, &form, NEW, fields).await;
    assert!(refused.html.contains("name=\"event user.deleted\" value=\"on\" checked"), "{}", refused.html);
    assert!(refused.html.contains("name=\"event login\" value=\"on\">"), "{}", refused.html);
}

#[tokio::test]
async fn trigger_has_samples_of_all_kinds() {
    let mut endpoint = Endpoint::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let secret = signpost_auth::WebhookSecret::from_bytes(&[7; 32]);
    for kind in ALL {
        let url = endpoint.url("/events");
        let arguments = ["trigger", kind, "--forward-to", &url, "--secret", secret.reveal(), "--json"];
        let sent = Program::within(folder.path(), &arguments).run_async().await.json();
        assert_eq!((&sent["event"], &sent["ok"]), (&json!(kind), &json!(true)));
        let received = endpoint.next_request().await;
        let event: signpost_auth::Event = serde_json::from_slice(&received.body).expect("an event");
        assert_eq!(event.event.as_str(), kind);
        assert_eq!(event.user.is_some(), event.event.is_about_user());
        assert!(secret.verify_x_svc_signature(received.header("x-svc-signature"), &received.body));
    }
}
