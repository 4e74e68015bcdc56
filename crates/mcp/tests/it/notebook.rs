//! A test server with resources, a prompt, and tools that wait, request input and write log messages.

use axum::Router;
use futures_util::FutureExt;
use serde_json::{Map, Value, json};
use signpost_mcp::{
    Annotations, CallError, Completion, Contents, Context, Handler, InputRequired, LogLevel, Output, Prompt,
    PromptArgument, PromptMessage, Resource, Revision, Server, ServerInfo, StringMap, Tool, router,
};
use tokio::sync::Notify;

use crate::fixture::{META, http};

/// The state of the test server: the event that the tool `wait` waits for.
#[derive(Default)]
pub(crate) struct Notebook {
    pub(crate) go_on: Notify,
}

pub(crate) fn server() -> Server<Notebook> {
    Server::new(ServerInfo { name: "notebook".into(), ..ServerInfo::default() })
        .logs()
        .resource(resource("notes://welcome", Handler::Sync(|_, _, _| Ok(Contents::Text("Hello".into())))))
        .resource(resource("notes://picture", Handler::Sync(|_, _, _| Ok(Contents::Blob(vec![1, 2, 3])))))
        .resource(Resource {
            completions: vec![("folder", folders)],
            ..resource("notes://{folder}/{note}.md", Handler::Sync(|_, variables, _| note(variables)))
        })
        .prompt(Prompt {
            name: "summarise",
            title: "Summarise",
            description: "Summarises a folder.",
            arguments: vec![argument("folder", true), argument("style", false)],
            icons: Vec::new(),
            get: Handler::Sync(|_, arguments, _| match &*arguments["folder"] {
                "secret" => Err(CallError::Failed("the folder is locked".into())),
                folder => Ok(vec![PromptMessage::user(format!("Summarise {folder}"))]),
            }),
        })
        .tool(tool(
            "wait",
            &json!({}),
            Handler::Async(|notebook: &Notebook, _, call| {
                async move {
                    call.progress(1.0, Some(2.0), "begun");
                    notebook.go_on.notified().await;
                    call.progress(2.0, None, "done");
                    call.log(LogLevel::Debug, "wait", &json!("small"));
                    call.log(LogLevel::Error, "wait", &json!({ "large": true }));
                    Ok(Output::text("waited"))
                }
                .boxed()
            }),
        ))
        .tool(tool(
            "ask",
            &json!({}),
            Handler::Sync(|_, _, call| match call.input("name") {
                Some(answer) => Ok(Output::text(format!("{} {:?}", answer["content"]["name"], call.state()))),
                None => Err(CallError::InputRequired(
                    InputRequired::new()
                        .request("name", "elicitation/create", &json!({ "message": "Who?" }))
                        .state("s"),
                )),
            }),
        ))
        .tool(tool("boom", &json!({}), Handler::Async(|_, _, _| async { panic!("in the middle") }.boxed())))
        .tool(tool(
            "route",
            &json!({ "region": { "type": "string", "x-mcp-header": "Region" },
                    "deep": { "type": "object", "properties": { "n": { "type": "integer", "x-mcp-header": "N" } } } }),
            Handler::Sync(|_, _, _| Ok(Output::text("routed"))),
        ))
}

pub(crate) fn tool(
    name: &'static str,
    properties: &Value,
    call: Handler<Notebook, signpost_mcp::Arguments, Output>,
) -> Tool<Notebook> {
    Tool {
        name,
        title: name,
        description: name,
        input_schema: json!({ "type": "object", "properties": properties }),
        output_schema: None,
        annotations: Annotations::LOOKUP,
        icons: Vec::new(),
        meta: Map::new(),
        call,
    }
}

fn resource(uri: &'static str, read: Handler<Notebook, StringMap, Contents>) -> Resource<Notebook> {
    let (name, title, description, mime_type) = (uri, uri, uri, "text/plain");
    Resource {
        uri,
        name,
        title,
        description,
        mime_type,
        icons: Vec::new(),
        meta: Map::new(),
        completions: Vec::new(),
        read,
    }
}

fn argument(name: &'static str, required: bool) -> PromptArgument<Notebook> {
    let complete: Option<signpost_mcp::Complete<Notebook>> = if required { Some(folders) } else { None };
    PromptArgument { name, title: name, description: name, required, complete }
}

fn folders(_: &Notebook, typed: &str, known: &StringMap) -> Completion {
    if known.contains_key("note") {
        return ["inbox"].into_iter().collect();
    }
    (0..250).map(|n| format!("folder{n}")).filter(|folder| folder.starts_with(typed)).collect()
}

fn note(variables: &StringMap) -> Result<Contents, CallError> {
    match &*variables["note"] {
        "lost" => Err(CallError::Failed("it was lost".into())),
        note => Ok(Contents::Text(format!("{} in {}", note, variables["folder"]))),
    }
}

pub(crate) fn app() -> Router {
    router(server(), Notebook::default(), http())
}

/// Returns the result of a method that never waits.
pub(crate) fn answer(revision: Revision, method: &str, params: &Value) -> Value {
    let mut params = params.clone();
    if revision.is_stateless() && params.get("_meta").is_none() {
        params["_meta"] = serde_json::from_str(META).unwrap();
    }
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let (state, context) = (Notebook::default(), Context::session(revision));
    let reply = server().handle(&state, &context, body.as_bytes()).now_or_never().expect("nothing waits");
    let mut reply: Value = serde_json::from_slice(&reply.body.unwrap()).unwrap();
    let member = if reply.get("error").is_some() { "error" } else { "result" };
    reply[member].take()
}
