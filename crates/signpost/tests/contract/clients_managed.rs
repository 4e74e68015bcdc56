//! The `signpost clients` commands, run next to a server.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use signpost_openid::clients::sql;
use signpost_openid::ids::ClientId;
use signpost_platform::accounts::Environment;
use signpost_platform::accounts::audit;
use signpost_store::{Statement, params};

use crate::harness::{CommandOutput, Integrator, Program, Service, members, text};
use crate::hosted::shop;

const CREATE: [&str; 6] = ["clients", "create", "--domain", "shop.test", "--redirect-uri", "https://wiki.test/cb"];

async fn start_server_with_shop() -> (tempfile::TempDir, Service, Integrator) {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = [("public_url", "https://login.test"), ("allow_private_webhooks", "true")];
    let service = Service::on(&folder.path().join("signpost-data"), &Service::clock(), &settings).await;
    let integrator = service.integrator().await;
    shop(&integrator, "http://127.0.0.1:1/hook").await;
    (folder, service, integrator)
}

async fn run(folder: &Path, arguments: &[&str]) -> CommandOutput {
    Program::within(folder, arguments).run_async().await
}

async fn json_of(folder: &Path, arguments: &[&str]) -> Value {
    run(folder, &[arguments, &["--json"]].concat()).await.json()
}

/// Returns true if the server accepts the secret at the system time, which the command line uses.
async fn accepts(service: &Service, client: &str, secret: &str) -> bool {
    let id = ClientId::parse(client).expect("an id");
    let client = sql::find_in_any_domain(&service.app.store, &id).await.expect("a database").expect("a client");
    client.accepts_secret(secret, signpost_platform::clock::Clock::System.now())
}

async fn count_audit_entries(service: &Service, action: &str) -> usize {
    let all = audit::sql::list(&service.app.store, None, jiff::Timestamp::UNIX_EPOCH, "", action, 1000).await;
    all.expect("a database").iter().filter(|entry| entry.actor.as_str() == "operator").count()
}

#[tokio::test]
async fn created_client_is_visible_in_the_api() {
    let (folder, service, integrator) = start_server_with_shop().await;
    let domain = integrator.get("/domains").await.with(200)["domains"][0]["id"].as_str().expect("an id").to_owned();
    let made = json_of(folder.path(), &CREATE).await;
    assert_eq!(members(&made), ["client_id", "client_secret", "issuer"].into());
    assert_eq!(made["issuer"], format!("https://login.test/sandbox/{domain}"));
    let id = text(&made, "client_id");
    assert!(accepts(&service, id, text(&made, "client_secret")).await);
    let shown = integrator.get(&format!("/domains/{domain}/clients/{id}")).await.with(200);
    assert_eq!(json_of(folder.path(), &["clients", "show", id]).await, shown);
    assert_eq!(json_of(folder.path(), &["clients", "list"]).await, json!({ "clients": [shown] }));

    let flags = [
        &CREATE[..],
        &["http://localhost:3000/cb", "--post-logout-uri", "https://wiki.test/", "--name", "Wiki", "--alg", "ES256"],
        &["--email", "none", "--no-pkce", "--trusted", "--allow", "group:staff", "group:admins", "--sandbox"],
        &["--auth-method", "client_secret_post"],
    ]
    .concat();
    let flagged = json_of(folder.path(), &flags).await;
    let shown = json_of(folder.path(), &["clients", "show", text(&flagged, "client_id")]).await;
    let expected = json!({
        "client_id": flagged["client_id"], "issuer": made["issuer"], "name": "Wiki", "public": false, "alg": "ES256",
        "redirect_uris": ["https://wiki.test/cb", "http://localhost:3000/cb"],
        "post_logout_uris": ["https://wiki.test/"], "email": "none", "pkce": false, "trusted": true,
        "allow": ["group:staff", "group:admins"], "token_endpoint_auth_method": "client_secret_post",
        "created_at": shown["created_at"],
    });
    assert_eq!(shown, expected);
    let public =
        [&CREATE[..4], &["--public", "--redirect-uri", "com.example.app:/cb", "--allow", "*", "--yes"]].concat();
    let public = json_of(folder.path(), &public).await;
    assert_eq!(members(&public), ["client_id", "issuer"].into());
    assert_eq!(count_audit_entries(&service, "client.created").await, 3);
    let listed = json_of(folder.path(), &["clients", "list", "--domain", "shop.test", "--limit", "2"]).await;
    assert_eq!(listed["clients"].as_array().map(Vec::len), Some(2));
    for (filter, count) in [("--sandbox", 3), ("--live", 0)] {
        let listed = json_of(folder.path(), &["clients", "list", filter]).await;
        assert_eq!(listed["clients"].as_array().map(Vec::len), Some(count), "{filter}");
    }
    let table = run(folder.path(), &["clients", "list"]).await.out;
    assert!(table.contains("shop.test") && table.contains("Wiki") && table.contains("com.example.app"), "{table}");
}

#[tokio::test]
async fn create_prints_the_secret_once_and_a_warning() {
    let (folder, service, integrator) = start_server_with_shop().await;
    let ended = run(folder.path(), &CREATE).await;
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let value = |label: &str| {
        let line = ended.out.lines().find_map(|line| line.strip_prefix(label));
        line.unwrap_or_else(|| panic!("{label}: {}", ended.out)).trim().to_owned()
    };
    assert!(accepts(&service, &value("client_id"), &value("client_secret")).await);
    assert!(value("issuer").starts_with("https://login.test/sandbox/dom_"));
    assert!(ended.err.contains("not shown again") && ended.err.contains("anyone may register at shop.test"));
    assert!(!ended.err.contains("sgp_cs_"), "{}", ended.err);
    let shown = run(folder.path(), &["clients", "show", &value("client_id")]).await.out;
    assert!(shown.contains("wiki.test") && shown.contains("everybody") && !shown.contains("sgp_cs_"), "{shown}");

    let everybody = [&CREATE[..], &["--allow", "*"]].concat();
    let refused = run(folder.path(), &everybody).await;
    assert!(refused.failed(2).contains("anyone may register at shop.test"), "{}", refused.err);
    assert!(run(folder.path(), &[&everybody[..], &["--yes"]].concat()).await.code == Some(0));
    let domain = integrator.get("/domains").await.with(200)["domains"][0]["id"].as_str().expect("an id").to_owned();
    integrator.patch(&format!("/domains/{domain}"), &json!({ "registration": "closed" })).await.with(200);
    let ended = run(folder.path(), &CREATE).await;
    assert!(ended.code == Some(0) && !ended.err.contains("anyone may register"), "{}", ended.err);
    assert_eq!(run(folder.path(), &everybody).await.code, Some(0));
}

#[tokio::test]
async fn create_names_the_invalid_flag() {
    let (folder, service, integrator) = start_server_with_shop().await;
    for (arguments, expected) in [
        (&["--redirect-uri", "http://a.test/"][..], "--redirect-uri: must be https"),
        (&["--redirect-uri", "https://a.test/#x"], "--redirect-uri: must not have a fragment"),
        (&["--redirect-uri", "com.example.app:/cb"], "--redirect-uri: has a scheme"),
        (&["--redirect-uri", "https://a.test/", "--post-logout-uri", "ftp://a.test"], "--post-logout-uri:"),
        (&["--redirect-uri", "https://a.test/", "--name", ""], "--name:"),
        (&["--redirect-uri", "https://a.test/", "--allow", "ann"], "--allow:"),
        (&["--redirect-uri", "https://a.test/", "https://b.test/", "--for", "grafana"], "--redirect-uri: with --for"),
    ] {
        let ended = run(folder.path(), &[&CREATE[..4], arguments].concat()).await;
        assert!(ended.failed(2).contains(expected), "{arguments:?}: {}", ended.err);
    }
    for wrong in [
        &["--public", "--no-pkce"][..],
        &["--public", "--for", "grafana"],
        &["--alg", "HS256"],
        &["--email", "asked"],
        &["--for", "word"],
    ] {
        assert_eq!(run(folder.path(), &[&CREATE[..], wrong].concat()).await.code, Some(2), "{wrong:?}");
    }
    assert_eq!(run(folder.path(), &CREATE[..4]).await.code, Some(2));
    let verified = [&CREATE[..], &["--email", "verified"]].concat();
    assert!(run(folder.path(), &verified).await.failed(1).contains("domains verify"));
    let prove = Statement::expect_row("UPDATE domains SET verified_at = 1 WHERE name = $1", params!["shop.test"]);
    assert!(service.app.store.write([prove]).await.expect("a database").is_committed());
    json_of(folder.path(), &verified).await;
    let direct = ["clients", "create", "--domain", "direct.test", "--redirect-uri", "https://a.test/"];
    assert!(run(folder.path(), &direct).await.failed(1).contains("no domain"));
    integrator.register_domain("direct.test").await;
    assert!(run(folder.path(), &direct).await.failed(1).contains("--handler hosted"));
    // If the name exists in both environments, the command requires the environment.
    shop(&service.integrator_of("acme", Environment::Live).await, "http://127.0.0.1:1/hook").await;
    assert!(run(folder.path(), &CREATE).await.failed(1).contains("--sandbox, --live"));
    let live = json_of(folder.path(), &[&CREATE[..], &["--live"]].concat()).await;
    assert!(text(&live, "issuer").starts_with("https://login.test/dom_"));
}

#[tokio::test]
async fn set_changes_only_the_given_settings() {
    let (folder, service, integrator) = start_server_with_shop().await;
    let made = json_of(folder.path(), &[&CREATE[..], &["--name", "Wiki", "--allow", "group:staff"]].concat()).await;
    let id = text(&made, "client_id");
    let mut expected = json_of(folder.path(), &["clients", "show", id]).await;
    for (arguments, member, value) in [
        (&["--name", "Books"][..], "name", json!("Books")),
        (&["--no-name"], "name", Value::Null),
        (
            &["--redirect-uri", "https://a.test/cb", "https://b.test/cb"],
            "redirect_uris",
            json!(["https://a.test/cb", "https://b.test/cb"]),
        ),
        (&["--post-logout-uri", "https://a.test/"], "post_logout_uris", json!(["https://a.test/"])),
        (&["--no-post-logout-uri"], "post_logout_uris", json!([])),
        (&["--alg", "ES256"], "alg", json!("ES256")),
        (&["--email", "none"], "email", json!("none")),
        (&["--no-pkce"], "pkce", json!(false)),
        (&["--pkce"], "pkce", json!(true)),
        (&["--trusted"], "trusted", json!(true)),
        (&["--no-trusted"], "trusted", json!(false)),
        (&["--allow", "group:admins", "group:staff"], "allow", json!(["group:admins", "group:staff"])),
        (&["--allow", "*", "--yes"], "allow", json!(["*"])),
        (&["--no-allow"], "allow", Value::Null),
        (&["--auth-method", "any"], "token_endpoint_auth_method", json!("any")),
        (&["--auth-method", "client_secret_basic"], "token_endpoint_auth_method", json!("client_secret_basic")),
        (&["--no-auth-method"], "token_endpoint_auth_method", Value::Null),
    ] {
        let shown = json_of(folder.path(), &[&["clients", "set", id], arguments].concat()).await;
        let members = expected.as_object_mut().expect("an object");
        if value.is_null() {
            drop(members.remove(member));
        } else {
            drop(members.insert(member.to_owned(), value));
        }
        assert_eq!(shown, expected, "{arguments:?}");
    }
    assert_eq!(count_audit_entries(&service, "client.changed").await, 17);
    let domain = integrator.get("/domains").await.with(200)["domains"][0]["id"].as_str().expect("an id").to_owned();
    let path = format!("/domains/{domain}/clients/{id}");
    assert_eq!(integrator.get(&path).await.with(200), expected);
    for (arguments, code, phrase) in [
        (&[][..], 2, "name at least one setting"),
        (&["--redirect-uri", "http://a.test/"], 2, "--redirect-uri: must be https"),
        (&["--allow", "ann"], 2, "--allow:"),
        (&["--allow", "*"], 2, "anyone may register at shop.test"),
        (&["--email", "verified"], 1, "domains verify"),
    ] {
        let ended = run(folder.path(), &[&["clients", "set", id], arguments].concat()).await;
        assert!(ended.failed(code).contains(phrase), "{arguments:?}: {}", ended.err);
    }
    let public = [&CREATE[..], &["--public"]].concat();
    let public = json_of(folder.path(), &public).await;
    let refused = run(folder.path(), &["clients", "set", text(&public, "client_id"), "--no-pkce"]).await;
    assert!(refused.failed(2).contains("--no-pkce: must be true"), "{}", refused.err);
    assert!(
        run(folder.path(), &["clients", "set", "cli_x", "--pkce"]).await.failed(1).contains("no client has the ID")
    );
    assert_eq!(integrator.get(&path).await.with(200), expected, "a rejected request changes nothing");
}

#[tokio::test]
async fn client_secret_rotates_and_client_is_deleted() {
    let (folder, service, _) = start_server_with_shop().await;
    let made = json_of(folder.path(), &CREATE).await;
    let (id, first) = (text(&made, "client_id"), text(&made, "client_secret"));
    let ended = run(folder.path(), &["clients", "rotate", id]).await;
    assert!(ended.code == Some(0) && ended.err.contains("accepted until"), "{}", ended.err);
    let second = ended.out.trim();
    assert!(accepts(&service, id, first).await && accepts(&service, id, second).await);
    let third = json_of(folder.path(), &["clients", "rotate", id, "--now"]).await;
    assert_eq!(members(&third), ["client_id", "client_secret", "issuer"].into());
    assert!(!accepts(&service, id, second).await && accepts(&service, id, text(&third, "client_secret")).await);
    let fourth = json_of(folder.path(), &["clients", "rotate", id]).await;
    assert!(fourth["previous_secret_until"].is_string(), "{fourth}");
    assert_eq!(count_audit_entries(&service, "client.rotated").await, 3);
    let public = [&CREATE[..], &["--public"]].concat();
    let public = json_of(folder.path(), &public).await;
    let refused = run(folder.path(), &["clients", "rotate", text(&public, "client_id")]).await;
    assert!(refused.failed(1).contains("no secret"), "{}", refused.err);

    let refused = run(folder.path(), &["clients", "delete", id]).await;
    assert!(refused.failed(2).contains("its tokens") && refused.err.contains("--yes"), "{}", refused.err);
    let deleted = json_of(folder.path(), &["clients", "delete", id, "--yes"]).await;
    assert_eq!(deleted, json!({ "deleted": id, "name": "wiki.test" }));
    assert_eq!(count_audit_entries(&service, "client.deleted").await, 1);
    for arguments in [["show", id], ["rotate", id], ["delete", id], ["show", "x"]] {
        let ended = run(folder.path(), &["clients", arguments[0], arguments[1]]).await;
        assert!(ended.failed(1).contains("no client has the ID"), "{}", ended.err);
    }
}

#[test]
fn issuer_is_known_after_the_first_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut server = Program::serve(folder.path(), &[]);
    server.terminate();
    assert!(server.wait_for_exit().0.success());
    let add = ["domains", "add", "localhost", "--sandbox", "--handler", "hosted", "--json"];
    Program::within(folder.path(), &add).run().json();
    let create = ["clients", "create", "--domain", "localhost", "--redirect-uri", "http://localhost:3000/cb", "--json"];
    let made = Program::within(folder.path(), &create).run().json();
    assert!(text(&made, "issuer").starts_with("http://localhost:"), "{made}");
}

/// Supported applications with the expected configuration.
const APPLICATIONS: [(&str, &str); 7] = [
    ("grafana", include_str!("applications/grafana.ini")),
    ("gitea", include_str!("applications/gitea.sh")),
    ("nextcloud", include_str!("applications/nextcloud.sh")),
    ("apache", include_str!("applications/apache.conf")),
    ("oauth2-proxy", include_str!("applications/oauth2-proxy.cfg")),
    ("authjs", include_str!("applications/authjs.ts")),
    ("jupyterhub", include_str!("applications/jupyterhub_config.py")),
];

#[tokio::test]
async fn application_configuration_is_complete() {
    let (folder, _service, _) = start_server_with_shop().await;
    for (name, golden) in APPLICATIONS {
        let base = format!("https://{name}.test/tools/");
        let create = [&CREATE[..4], &["--redirect-uri", &base, "--for", name]].concat();
        let made = json_of(folder.path(), &create).await;
        assert_eq!(members(&made), ["client_id", "client_secret", "configuration", "issuer"].into());
        let configuration = text(&made, "configuration");
        let mut response = configuration.to_owned();
        for (member, word) in [("client_id", "CLIENT"), ("client_secret", "SECRET"), ("issuer", "ISSUER")] {
            response = response.replace(text(&made, member), word);
        }
        assert_eq!(hide_drawn(&response), golden.trim_end(), "{name}");
        let shown = json_of(folder.path(), &["clients", "show", text(&made, "client_id")]).await;
        let uri = shown["redirect_uris"][0].as_str().expect("a URI");
        assert!(uri.starts_with(&base), "{name}: {uri}");
        assert_eq!(shown["pkce"], name != "gitea");
        let is_in_it = configuration.contains(uri);
        assert_eq!(is_in_it, matches!(name, "apache" | "oauth2-proxy" | "jupyterhub"), "{name}: {uri}");
        // Without `--json`, stdout contains only the configuration.
        let ended = run(folder.path(), &create).await;
        assert_eq!(ended.out.lines().count(), configuration.lines().count(), "{name}");
        check_syntax(name, configuration);
    }
}

/// Replaces the cookie secret, which is random.
fn hide_drawn(text: &str) -> String {
    let is_drawn = |word: &str| word.len() == 44 && word.ends_with('=');
    text.split_inclusive(['"', ' ', '\n'])
        .map(|part| {
            let word = part.trim_end_matches(['"', ' ', '\n']);
            if is_drawn(word) { part.replace(word, "DRAWN") } else { part.to_owned() }
        })
        .collect()
}

/// Checks the syntax if a parser is available.
fn check_syntax(name: &str, configuration: &str) {
    let checked = match name {
        "oauth2-proxy" => {
            configuration.parse::<toml::Table>().expect("TOML");
            return;
        }
        "gitea" | "nextcloud" => Command::new("bash").args(["-n", "-c", configuration]).output(),
        "jupyterhub" => {
            Command::new("python3").args(["-c", "import ast, sys; ast.parse(sys.argv[1])", configuration]).output()
        }
        _ => return,
    };
    let checked = checked.expect("bash and Python");
    assert!(checked.status.success(), "{name}: {}", String::from_utf8_lossy(&checked.stderr));
}
