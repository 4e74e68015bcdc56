//! Tests of resources and prompts, their completions and their lists.

use serde_json::{Value, json};
use signpost_mcp::{Handler, Method, Revision};

use crate::notebook::{Notebook, answer, server};

const OLD: Revision = Revision::V2025_06_18;
const NEW: Revision = Revision::V2026_07_28;

#[test]
fn resources_and_templates_have_separate_lists() {
    for revision in [OLD, NEW] {
        let listed = answer(revision, "resources/list", &json!({}));
        let uris: Vec<_> = listed["resources"].as_array().unwrap().iter().map(|one| one["uri"].clone()).collect();
        assert_eq!(uris, ["notes://welcome", "notes://picture"]);
        let templates = answer(revision, "resources/templates/list", &json!({}));
        assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "notes://{folder}/{note}.md");
        assert_eq!(listed.get("ttlMs").is_some(), revision == NEW);
    }
    let told = answer(OLD, "initialize", &json!({}))["capabilities"].take();
    assert_eq!(told, json!({ "tools": {}, "resources": {}, "prompts": {}, "completions": {}, "logging": {} }));
}

#[test]
fn resource_is_read_by_its_uri() {
    let read = |uri: &str| answer(OLD, "resources/read", &json!({ "uri": uri }));
    let welcome = json!({ "contents": [{ "uri": "notes://welcome", "mimeType": "text/plain", "text": "Hello" }] });
    assert_eq!(read("notes://welcome"), welcome);
    assert_eq!(read("notes://picture")["contents"][0]["blob"], "AQID");
    assert_eq!(read("notes://in%20box/caf%C3%A9.md")["contents"][0]["text"], "café in in box");
    let modern = answer(NEW, "resources/read", &json!({ "uri": "notes://welcome" }));
    assert_eq!((&modern["resultType"], &modern["cacheScope"]), (&json!("complete"), &json!("public")));
    assert!(modern["ttlMs"].is_u64() && modern["_meta"].is_object());
}

#[test]
fn unknown_resource_has_the_code_of_its_revision() {
    for uri in
        ["notes://nothing", "notes://a/b", "notes:///b.md", "notes://a/b/c.md", "notes://a/%ff.md", "", "x/lost.md"]
    {
        for (revision, code) in [(OLD, -32002), (NEW, -32602)] {
            let error = answer(revision, "resources/read", &json!({ "uri": uri }));
            assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(code), &json!(uri)), "{error}");
        }
    }
    let lost = answer(OLD, "resources/read", &json!({ "uri": "notes://a/lost.md" }));
    assert!(lost["message"].as_str().unwrap().ends_with("it was lost"), "{lost}");
    for params in [json!({}), json!({ "uri": 1 })] {
        assert_eq!(answer(OLD, "resources/read", &params)["code"], -32602);
    }
}

#[test]
fn prompt_accepts_its_declared_arguments() {
    let get = |params: Value| answer(OLD, "prompts/get", &params);
    let prompt = answer(OLD, "prompts/list", &json!({}))["prompts"][0].take();
    assert_eq!((&prompt["name"], &prompt["arguments"][0]["required"]), (&json!("summarise"), &json!(true)));
    let got = get(json!({ "name": "summarise", "arguments": { "folder": "inbox" } }));
    let message = json!({ "role": "user", "content": { "type": "text", "text": "Summarise inbox" } });
    assert_eq!(got, json!({ "description": "Summarises a folder.", "messages": [message] }));
    for (params, says) in [
        (json!({ "name": "summarise" }), "\"folder\" is missing; it takes folder, style"),
        (json!({ "name": "summarise", "arguments": { "folder": 1 } }), "\"folder\" must be a string"),
        (json!({ "name": "summarise", "arguments": { "folder": "a", "x": "b" } }), "no argument \"x\""),
        (json!({ "name": "summarise", "arguments": [] }), "must be an object"),
        (json!({ "name": "summarise", "arguments": { "folder": "secret" } }), "the folder is locked"),
        (json!({ "name": "other" }), "there is no prompt \"other\"; there are summarise"),
        (json!({}), "must be the name of a prompt, got nothing"),
    ] {
        let error = get(params);
        assert_eq!(error["code"], -32602);
        assert!(error["message"].as_str().unwrap().contains(says), "{error}");
    }
}

#[test]
fn partial_argument_is_completed() {
    let prompt = json!({ "type": "ref/prompt", "name": "summarise" });
    let template = json!({ "type": "ref/resource", "uri": "notes://{folder}/{note}.md" });
    let complete = |of: &Value, name: &str, value: &str, known: Value| {
        let argument = json!({ "name": name, "value": value });
        answer(
            NEW,
            "completion/complete",
            &json!({ "ref": of, "argument": argument, "context": { "arguments": known } }),
        )
    };
    for of in [&prompt, &template] {
        let few = complete(of, "folder", "folder24", json!({}))["completion"].take();
        assert_eq!((few["total"].clone(), few["hasMore"].clone()), (json!(11), json!(false)));
        assert_eq!(few["values"].as_array().unwrap().len(), 11);
        let many = complete(of, "folder", "", json!({}))["completion"].take();
        assert_eq!((many["total"].clone(), many["hasMore"].clone()), (json!(250), json!(true)));
        assert_eq!(many["values"].as_array().unwrap().len(), 100);
        let known = complete(of, "folder", "", json!({ "note": "x" }))["completion"].take();
        assert_eq!(known["values"], json!(["inbox"]));
    }
    assert_eq!(complete(&prompt, "style", "x", json!({}))["completion"]["total"], 0);
    assert_eq!(complete(&template, "note", "x", json!({}))["completion"]["total"], 0);
    let unknown = json!({ "type": "ref/prompt", "name": "other" });
    let nothing = json!({ "type": "ref/tool", "name": "wait" });
    for (of, name, known) in [
        (&unknown, "folder", json!({})),
        (&nothing, "folder", json!({})),
        (&prompt, "other", json!({})),
        (&template, "other", json!({})),
        (&prompt, "folder", json!([])),
        (&prompt, "folder", json!({ "note": 1 })),
        (&json!(7), "folder", json!({})),
    ] {
        assert_eq!(complete(of, name, "x", known.clone())["code"], -32602, "{of} {name} {known}");
    }
}

#[test]
fn long_list_is_paginated() {
    let small = || {
        let mut server = server().page_size(2);
        for name in ["a", "b", "c"] {
            let revisions = OLD..=OLD;
            server =
                server.method(Method { name, revisions, call: Handler::Sync(|_, _, _| Ok(json!({ "own": true }))) });
        }
        server
    };
    let ask = |method: &str, params: Value| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let context = signpost_mcp::Context::session(OLD);
        let state = Notebook::default();
        let reply = futures_util::FutureExt::now_or_never(small().handle(&state, &context, body.as_bytes())).unwrap();
        serde_json::from_slice::<Value>(&reply.body.unwrap()).unwrap()
    };
    let (mut names, mut cursor, mut pages) = (Vec::new(), Value::Null, 0);
    loop {
        let page = ask("tools/list", json!({ "cursor": cursor }))["result"].take();
        names.extend(page["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()));
        pages += 1;
        match page.get("nextCursor") {
            Some(next) => cursor = next.clone(),
            None => break,
        }
    }
    assert_eq!((names, pages), (vec![json!("wait"), json!("ask"), json!("boom"), json!("route")], 2));
    for cursor in [json!("page-0"), json!("page-2"), json!("x"), json!(1)] {
        assert_eq!(ask("tools/list", json!({ "cursor": cursor }))["error"]["code"], -32602);
    }
    assert_eq!(ask("b", json!({}))["result"], json!({ "own": true }));
    assert_eq!(ask("d", json!({}))["error"]["code"], -32601);
    assert_eq!(answer(NEW, "b", &json!({}))["code"], -32601);
}
