//! `docs/reference.html`: the page that is made of `openapi.yaml`.

use std::fmt::Write;
use std::fs;

use serde_json::Value;

use crate::harness::documented::{DOCUMENT, operations};

#[test]
fn the_page_is_made_of_the_document() {
    let made = page();
    assert!(
        made == include_str!("../../../../docs/reference.html"),
        "docs/reference.html is old: run 'make reference'"
    );
}

/// `make reference` runs this.
#[test]
#[ignore = "it writes docs/reference.html"]
fn write_the_page() {
    fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference.html"), page()).expect("a file");
}

fn page() -> String {
    let mut page = String::from(HEAD);
    let info = &DOCUMENT["info"];
    write!(page, "<h1>{} API</h1>{}", escaped(&info["title"]), paragraphs(&info["description"])).unwrap();
    for tag in DOCUMENT["tags"].as_array().expect("tags") {
        let name = &tag["name"];
        write!(page, "<h2>{}</h2>{}", escaped(name), paragraphs(&tag["description"])).unwrap();
        for (path, method, operation) in operations().filter(|(.., operation)| operation["tags"][0] == *name) {
            section(&mut page, path, method, operation);
        }
    }
    page.push_str("<h2>Schemas</h2>");
    for (name, schema) in DOCUMENT["components"]["schemas"].as_object().expect("schemas") {
        let schema = serde_json::to_string_pretty(schema).unwrap();
        let schema = schema.replace("#/components/schemas/", "");
        let schema = escaped(&schema.into());
        // Whoever uses the keyboard scrolls it too.
        let region = format!("tabindex=\"0\" role=\"region\" aria-labelledby=\"{name}\"");
        write!(page, "<h3 id=\"{name}\">{name}</h3><pre {region}>{schema}</pre>").unwrap();
    }
    page.push_str("</main>\n");
    page
}

fn section(page: &mut String, path: &str, method: &str, operation: &Value) {
    let (upper, id) = (method.to_uppercase(), operation["operationId"].as_str().expect("an id"));
    write!(page, "\n<section id=\"{id}\"><h3><b>{upper}</b> <code>{path}</code></h3>").unwrap();
    write!(page, "<p><strong>{}</strong></p>{}", escaped(&operation["summary"]), paragraphs(&operation["description"]))
        .unwrap();
    let parameters = operation["parameters"].as_array().into_iter().flatten().filter_map(|one| one["$ref"].as_str());
    let parameters: Vec<_> = parameters.map(|pointer| &DOCUMENT.pointer(&pointer[1..]).expect("it")["name"]).collect();
    if !parameters.is_empty() {
        let names: Vec<_> = parameters.into_iter().map(|name| format!("<code>{}</code>", escaped(name))).collect();
        write!(page, "<p>Parameters: {}</p>", names.join(", ")).unwrap();
    }
    if let Some(pointer) = operation.pointer("/requestBody/content/application~1json/schema/$ref") {
        write!(page, "<p>Body: {}</p>", link(pointer)).unwrap();
    }
    page.push_str("<table>");
    for (status, response) in operation["responses"].as_object().expect("responses") {
        let pointer = response["$ref"].as_str();
        let response = pointer.map_or(response, |pointer| DOCUMENT.pointer(&pointer[1..]).expect("it"));
        let schema = response.pointer("/content/application~1json/schema/$ref").map(link).unwrap_or_default();
        write!(page, "<tr><th>{status}<td>{}<td>{schema}", escaped(&response["description"])).unwrap();
    }
    page.push_str("</table></section>");
}

fn link(pointer: &Value) -> String {
    let name = pointer.as_str().and_then(|pointer| pointer.rsplit('/').next()).expect("a name");
    format!("<a href=\"#{name}\">{name}</a>")
}

fn paragraphs(text: &Value) -> String {
    let text = escaped(text);
    if text.is_empty() { text } else { format!("<p>{}</p>", text.trim().replace("\n\n", "</p><p>")) }
}

/// Text in a page; what stands between backticks is code.
fn escaped(text: &Value) -> String {
    let text = text.as_str().unwrap_or_default();
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let parts = text.split('`').enumerate();
    parts.map(|(at, part)| if at % 2 == 1 { format!("<code>{part}</code>") } else { part.to_owned() }).collect()
}

const HEAD: &str = "<!doctype html>
<html lang=\"en\">
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<title>Signpost API</title>
<style>
:root { color-scheme: light dark; background: Canvas; color: CanvasText; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 52rem; margin: 0 auto; padding: 1rem; }
section { border-top: 1px solid #8884; padding: .5rem 0; }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; }
pre { overflow-x: auto; background: #8881; padding: .75rem; border-radius: .5rem; }
:focus-visible { outline: 3px solid; outline-offset: 2px; }
table { border-collapse: collapse; }
th, td { text-align: left; padding: .15rem 1rem .15rem 0; vertical-align: top; } td, p, h3 { overflow-wrap: anywhere; }
</style>
<main>";
