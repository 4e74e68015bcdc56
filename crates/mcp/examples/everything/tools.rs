//! The tools for the conformance suite: every kind of content, logging, progress, and errors.

use std::time::Duration;

use serde_json::{Value, json};
use signpost_mcp::{Annotations, CallError, Content, Contents, Handler, LogLevel, Output, Tool};
use tokio::time::sleep;

use crate::Everything;

pub(crate) const PICTURE: &[u8] = include_bytes!("dot.png");
const SOUND: &[u8] = include_bytes!("silence.wav");

pub(crate) type Run = Handler<Everything, signpost_mcp::Arguments, Output>;

pub(crate) fn tool(name: &'static str, description: &'static str, call: Run) -> Tool<Everything> {
    with_schema(name, description, json!({ "type": "object", "properties": {} }), call)
}

fn with_schema(name: &'static str, description: &'static str, input_schema: Value, call: Run) -> Tool<Everything> {
    Tool {
        name,
        title: name,
        description,
        input_schema,
        output_schema: None,
        annotations: Annotations::LOOKUP,
        icons: Vec::new(),
        meta: serde_json::Map::new(),
        call,
    }
}

pub(crate) fn all() -> Vec<Tool<Everything>> {
    vec![
        tool(
            "test_simple_text",
            "Returns a text",
            Handler::Sync(|_, _, _| Ok(Output::text("This is a simple text response for testing."))),
        ),
        tool("test_image_content", "Returns a picture", Handler::Sync(|_, _, _| Ok(Output::Content(vec![picture()])))),
        tool(
            "test_audio_content",
            "Returns a sound",
            Handler::Sync(|_, _, _| {
                Ok(Output::Content(vec![Content::Audio { data: SOUND.to_vec(), mime_type: "audio/wav".into() }]))
            }),
        ),
        tool(
            "test_embedded_resource",
            "Returns what a resource holds",
            Handler::Sync(|_, _, _| Ok(Output::Content(vec![embedded("test://embedded-resource")]))),
        ),
        tool(
            "test_multiple_content_types",
            "Returns a text, a picture and what a resource holds",
            Handler::Sync(|_, _, _| {
                let text = Content::Text("Several kinds of content:".into());
                Ok(Output::Content(vec![text, picture(), embedded("test://mixed-content-resource")]))
            }),
        ),
        tool(
            "test_error_handling",
            "Fails",
            Handler::Sync(|_, _, _| {
                Err(CallError::Failed("This tool intentionally returns an error for testing".into()))
            }),
        ),
        tool(
            "test_missing_capability",
            "Needs a client that can sample",
            Handler::Sync(|_, _, call| {
                call.require("sampling")?;
                Ok(Output::text("The client can sample."))
            }),
        ),
        logging("test_tool_with_logging"),
        logging("test_logging_tool"),
        progress(),
        schema_2020_12(),
        mirrored(),
    ]
}

fn picture() -> Content {
    Content::Image { data: PICTURE.to_vec(), mime_type: "image/png".into() }
}

fn embedded(uri: &str) -> Content {
    let contents = Contents::Text("This is an embedded resource content.".into());
    Content::Resource { uri: uri.into(), mime_type: "text/plain".into(), contents }
}

fn logging(name: &'static str) -> Tool<Everything> {
    tool(
        name,
        "Logs three times while it works",
        Handler::Async(|_, _, call| {
            Box::pin(async move {
                for message in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                    call.log(LogLevel::Info, "everything", &json!(message));
                    sleep(Duration::from_millis(50)).await;
                }
                Ok(Output::text("Logged three times."))
            })
        }),
    )
}

fn progress() -> Tool<Everything> {
    tool(
        "test_tool_with_progress",
        "Tells three times how far it is",
        Handler::Async(|_, _, call| {
            Box::pin(async move {
                for done in [0.0, 50.0, 100.0] {
                    call.progress(done, Some(100.0), &format!("{done} of 100"));
                    sleep(Duration::from_millis(50)).await;
                }
                Ok(Output::text("Done."))
            })
        }),
    )
}

/// Returns a schema with the JSON Schema 2020-12 keywords that a server must preserve.
fn schema_2020_12() -> Tool<Everything> {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
        } },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    });
    let call = Handler::Sync(|_: &Everything, arguments: &signpost_mcp::Arguments, _: &signpost_mcp::Call<'_>| {
        Ok(Output::text(format!("Called with {}", Value::Object(arguments.clone()))))
    });
    with_schema("json_schema_2020_12_tool", "Has a schema of many words", schema, call)
}

/// Returns a tool with an argument that is also sent as a header.
fn mirrored() -> Tool<Everything> {
    let schema = json!({
        "type": "object",
        "properties": { "region": { "type": "string", "x-mcp-header": "Region" }, "query": { "type": "string" } },
        "required": ["region"],
    });
    with_schema("test_custom_header", "Takes a region", schema, Handler::Sync(|_, _, _| Ok(Output::text("There."))))
}
