//! The `<main>` of `crates/signpost/assets/reference.html`, generated from `openapi.yaml`.

mod call;
mod events;
mod node;
mod page;
mod remedies;
mod schema;
mod snippets;
mod words;

use std::collections::BTreeSet;
use std::fs;

use node::DOCUMENT;
use remedies::REMEDIES;
use snippets::{LANGUAGES, METHODS, go_name, snake, snippet};

use crate::errors::CODES;
use crate::harness::Service;
use crate::harness::documented::operations;

const GENERATED: &str = include_str!("../../../assets/reference.html");

#[test]
fn the_page_matches_the_document() {
    assert!(page::page() == GENERATED, "crates/signpost/assets/reference.html is old: run 'make reference'");
}

#[test]
#[ignore = "it writes the page: make reference; the test the_page_matches_the_document compares it"]
fn write_the_page() {
    fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/reference.html"), page::page()).expect("a file");
}

/// Returns the unique element IDs of the page.
fn ids() -> BTreeSet<&'static str> {
    let ids: Vec<_> = GENERATED.split(" id=\"").skip(1).map(|rest| rest.split('"').next().expect("an end")).collect();
    let all: BTreeSet<_> = ids.iter().copied().collect();
    assert_eq!(all.len(), ids.len(), "duplicate ids");
    all
}

#[test]
fn the_page_is_complete() {
    let (ids, mut missing) = (ids(), Vec::new());
    let mut look = |id: String| {
        if !ids.contains(id.as_str()) {
            missing.push(id);
        }
    };
    for (.., operation) in operations() {
        let name = operation["operationId"].as_str().expect("a name");
        look(name.to_owned());
        let body = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].as_str();
        let inside = body.and_then(|pointer| members(pointer.rsplit('/').next().expect("a name")));
        inside.into_iter().flatten().for_each(|member| look(format!("{name}.{member}")));
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        for parameter in parameters.filter_map(|one| one["$ref"].as_str()) {
            let path: Vec<_> = parameter[2..].split('/').collect();
            look(format!("{name}.{}", DOCUMENT.at(&path).expect("a resource").text("name")));
        }
        for (status, response) in operation["responses"].as_object().expect("responses") {
            let schema = response["content"]["application/json"]["schema"]["$ref"].as_str();
            let schema = schema.filter(|_| status.starts_with('2')).map(|pointer| pointer.rsplit('/').next());
            let inside = schema.flatten().and_then(members);
            inside.into_iter().flatten().for_each(|member| look(format!("{name}.{status}.{member}")));
        }
    }
    for (kind, _) in DOCUMENT.get("webhooks").expect("events").members() {
        look(format!("event-{kind}"));
    }
    CODES.iter().for_each(|(status, code)| look(format!("error-{status}-{code}")));
    assert!(missing.is_empty(), "not on the page: {missing:?}");
}

/// Returns the members that a schema declares itself.
fn members(schema: &str) -> Option<impl Iterator<Item = &'static str>> {
    let properties = DOCUMENT.at(&["components", "schemas", schema, "properties"])?;
    Some(properties.members().iter().map(|(name, _)| name.as_str()))
}

#[test]
fn every_error_has_a_remedy() {
    let message: BTreeSet<_> = REMEDIES.iter().map(|(status, code, _)| (*status, *code)).collect();
    assert_eq!(message, *CODES);
}

#[test]
fn every_link_of_the_page_has_a_target() {
    let ids = ids();
    for link in GENERATED.split(" href=\"#").skip(1).map(|rest| rest.split('"').next().expect("an end")) {
        assert!(ids.contains(link), "nothing is at #{link}");
    }
}

/// SDKs that are not in the checkout are skipped.
#[test]
fn the_sdks_have_the_methods_on_the_page() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    let calls: BTreeSet<_> = METHODS.iter().map(|method| method.operation).collect();
    assert_eq!(calls.len(), METHODS.len(), "duplicate operations");
    assert!(calls.iter().all(|name| operations().any(|(.., one)| one["operationId"] == *name)), "{calls:?}");
    for (folder, kind) in
        [("sdk/typescript/src", "ts"), ("sdk/python/src", "py"), ("sdk/go", "go"), ("crates/auth/src/client", "rs")]
    {
        let sources = sources(&format!("{root}{folder}"), kind);
        for method in METHODS.iter().filter(|_| !sources.is_empty()) {
            let name = method.name;
            let declared = match kind {
                "ts" => format!(" {name}("),
                "py" => format!("def {}(", snake(name)),
                "go" => format!(") {}(ctx", go_name(name)),
                _ => format!("pub async fn {}(", snake(name)),
            };
            assert!(sources.contains(&declared), "{folder} has no {}.{name}", method.group);
        }
    }
}

/// Returns the concatenated files of a folder; empty if it does not exist.
fn sources(folder: &str, kind: &str) -> String {
    let mut text = String::new();
    for path in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() && !path.ends_with("venv") {
            text += &sources(path.to_str().expect("a UTF-8 path"), kind);
        } else if path.extension().is_some_and(|found| found == kind) {
            text += &fs::read_to_string(path).expect("a file");
        }
    }
    text
}

#[test]
fn examples_follow_the_syntax_of_each_language() {
    let body = DOCUMENT.at(&["components", "examples", "UserChange", "value"]);
    let shown = LANGUAGES.map(|language| snippet(language, "changeUser", body));
    let [type_script, python, go, rust, curl] = shown.map(Option::unwrap_or_default);
    assert_eq!(
        type_script,
        "const user = await signpost.users.update(domain.id, user.id, { name: 'Ann Lee', groups: ['staff'] });"
    );
    assert_eq!(python, "user = signpost.users.update(domain.id, user.id, name=\"Ann Lee\", groups=[\"staff\"])");
    assert!(go.starts_with("user, err := client.Users.Update(ctx, domain.ID, user.ID, signpost.UserChange{"), "{go}");
    assert!(rust.starts_with("let user = signpost.users().update(&domain.id, &user.id, &UserChange {"), "{rust}");
    assert_eq!(curl, "");
}

#[tokio::test]
async fn the_page_has_the_url_of_its_environment() {
    let service = Service::with(&[("public_url", "https://login.test:8443")]).await;
    for (path, other) in [("/v1", "/sandbox/v1"), ("/sandbox/v1", "/v1")] {
        let page = service.visitor().get(&format!("{path}/reference")).await;
        assert_eq!(page.status, 200);
        assert!(page.text.contains(&format!("curl https://login.test:8443{path}/sessions ")), "{path}");
        assert!(!page.text.contains(&format!("curl https://login.test:8443{other}/sessions ")), "{path}");
        assert!(page.text.contains("curl https://login.test:8443/sandbox/v1/sessions/sess_"), "{path}");
        assert!(!page.text.contains("{{") && page.text.contains("<html lang=\"en\">"), "{path}");
    }
}
