//! Tests of long calls: notifications, input requests and cancellation.

use std::sync::Arc;

use futures_util::FutureExt;
use serde_json::{Value, json};
use signpost_mcp::{Context, LogLevel, Revision, router, serve_stdio};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex};
use tower::ServiceExt;

use crate::fixture::{META, Stream, http, post, send};
use crate::notebook::{Notebook, answer, app, server};

const NEW: Revision = Revision::V2026_07_28;
const EVENTS: &str = "Accept: application/json, text/event-stream";

fn wait(meta: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":"w","method":"tools/call","params":{{"_meta":{meta},"name":"wait"}}}}"#)
}

/// Parses the messages in the events of a body.
fn messages(body: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(body).unwrap();
    text.lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

/// Creates an app with a tool `wait` that returns immediately.
fn fast_app() -> axum::Router {
    let notebook = Notebook::default();
    notebook.go_on.notify_one();
    router(server(), notebook, http())
}

#[tokio::test]
async fn notifications_precede_the_reply() {
    let answer = send(&fast_app(), post("/mcp", EVENTS, wait(r#"{"progressToken":7}"#))).await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    assert_eq!(answer.header("x-accel-buffering"), Some("no"));
    let told = messages(&answer.body);
    assert_eq!(told.len(), 4, "{told:?}");
    assert_eq!(told[0]["params"], json!({ "progressToken": 7, "progress": 1.0, "total": 2.0, "message": "begun" }));
    assert_eq!(told[1]["params"]["progress"], 2.0);
    assert_eq!((&told[2]["method"], &told[2]["params"]["level"]), (&json!("notifications/message"), &json!("error")));
    assert_eq!((&told[3]["id"], &told[3]["result"]["content"][0]["text"]), (&json!("w"), &json!("waited")));
}

#[tokio::test]
async fn client_without_events_gets_only_the_reply() {
    for accept in ["", "Accept: application/json", "Accept: */*"] {
        let answer = send(&fast_app(), post("/mcp", accept, wait(r#"{"progressToken":7}"#))).await;
        assert_eq!(answer.header("content-type"), Some("application/json"), "{accept}");
        assert_eq!(answer.json()["result"]["content"][0]["text"], "waited");
    }
}

#[tokio::test]
async fn unrequested_notifications_are_not_sent() {
    let stateless = "MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: wait\n";
    let asked = |more: &str| META.replacen('{', &format!("{{{more}"), 1);
    for (meta, told) in [
        (asked(""), 0),
        (asked(r#""io.modelcontextprotocol/logLevel":"warning","#), 1),
        (asked(r#""io.modelcontextprotocol/logLevel":"debug","#), 2),
        (asked(r#""io.modelcontextprotocol/logLevel":"loud","#), 0),
        (asked(r#""progressToken":"p","io.modelcontextprotocol/logLevel":"emergency","#), 2),
        (asked(r#""progressToken":{},"#), 0),
    ] {
        let answer = send(&fast_app(), post("/mcp", &format!("{stateless}{EVENTS}"), wait(&meta))).await;
        let count = if told == 0 { 0 } else { messages(&answer.body).len() - 1 };
        assert_eq!((answer.status.as_u16(), count), (200, told), "{meta}");
        assert_eq!(answer.header("content-type") == Some("application/json"), told == 0);
    }
}

#[tokio::test]
async fn call_is_cancelled_with_its_client() {
    let notebook = Arc::new(Notebook::default());
    let response = router(shared(), Arc::clone(&notebook), http())
        .oneshot(post("/mcp", EVENTS, wait(r#"{"progressToken":7}"#)))
        .await
        .unwrap();
    assert_eq!(Arc::strong_count(&notebook), 2);
    drop(response);
    assert_eq!(Arc::strong_count(&notebook), 1);
}

/// Creates a server that shares its state with the test.
fn shared() -> signpost_mcp::Server<Arc<Notebook>> {
    use signpost_mcp::{Annotations, Handler, Output, Server, ServerInfo, Tool};
    Server::new(ServerInfo::default()).tool(Tool {
        name: "wait",
        title: "",
        description: "",
        input_schema: json!({}),
        output_schema: None,
        annotations: Annotations::LOOKUP,
        icons: Vec::new(),
        meta: serde_json::Map::new(),
        call: Handler::Async(|notebook: &Arc<Notebook>, _, call| {
            async move {
                call.progress(1.0, None, "");
                notebook.go_on.notified().await;
                Ok(Output::text(""))
            }
            .boxed()
        }),
    })
}

#[tokio::test]
async fn sse_session_gets_notifications_at_its_level() {
    let notebook = Arc::new(Notebook::default());
    let app = router(shared(), Arc::clone(&notebook), http());
    let mut stream = Stream::open(&app).await;
    assert_eq!(send(&app, post(&stream.endpoint, "", wait(r#"{"progressToken":1}"#))).await.status, 202);
    assert!(stream.message().await.contains("notifications/progress"));
    // The session accepts other requests during the call.
    send(&app, post(&stream.endpoint, "", r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#)).await;
    assert_eq!(stream.message().await, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    notebook.go_on.notify_one();
    assert!(stream.message().await.starts_with(r#"{"jsonrpc":"2.0","id":"w","result""#));

    let app = fast_app();
    let mut stream = Stream::open(&app).await;
    let level = r#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}"#;
    send(&app, post(&stream.endpoint, "", level)).await;
    assert_eq!(stream.message().await, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    send(&app, post(&stream.endpoint, "", wait("{}"))).await;
    for expected in ["small", "large", "waited"] {
        let message = stream.message().await;
        assert!(message.contains(expected), "{message}");
    }
    let bad = level.replace("debug", "loud");
    send(&app, post(&stream.endpoint, "", bad)).await;
    assert!(stream.message().await.contains("params.level must be one of debug, info"));
}

#[tokio::test]
async fn stdio_sends_notifications_during_a_call() {
    let (notebook, server) = (Notebook::default(), server());
    let (client, ours) = duplex(4096);
    let (reader, writer) = tokio::io::split(ours);
    let serving = serve_stdio(&server, &notebook, BufReader::new(reader), writer);
    let (answers, mut questions) = tokio::io::split(client);
    let talking = async {
        let mut lines = BufReader::new(answers).lines();
        questions.write_all(format!("{}\n", wait(r#"{"progressToken":"t"}"#)).as_bytes()).await.unwrap();
        assert!(lines.next_line().await.unwrap().unwrap().contains("begun"));
        notebook.go_on.notify_one();
        for expected in ["done", "large", "waited"] {
            assert!(lines.next_line().await.unwrap().unwrap().contains(expected));
        }
        questions.shutdown().await.unwrap();
    };
    let (ended, ()) = tokio::join!(serving, talking);
    ended.unwrap();
}

#[test]
fn input_is_requested_from_capable_clients() {
    let meta = |capabilities: Value| {
        let mut meta: Value = serde_json::from_str(META).unwrap();
        meta["io.modelcontextprotocol/clientCapabilities"] = capabilities;
        meta
    };
    let able = meta(json!({ "elicitation": {} }));
    let asked = answer(NEW, "tools/call", &json!({ "_meta": able, "name": "ask" }));
    assert_eq!((&asked["resultType"], &asked["requestState"]), (&json!("input_required"), &json!("s")));
    assert_eq!(asked["inputRequests"]["name"]["method"], "elicitation/create");
    let answers = json!({ "name": { "action": "accept", "content": { "name": "Ada" } }, "more": 1 });
    let again = json!({ "_meta": able, "name": "ask", "inputResponses": answers, "requestState": "s" });
    assert_eq!(answer(NEW, "tools/call", &again)["content"][0]["text"], r#""Ada" Some("s")"#);
    for unusable in [json!({ "name": 7 }), json!({})] {
        let again = json!({ "_meta": able, "name": "ask", "inputResponses": unusable });
        assert_eq!(answer(NEW, "tools/call", &again)["resultType"], "input_required");
    }
    for no_answers in [json!(null), json!([]), json!("x")] {
        let again = json!({ "_meta": able, "name": "ask", "inputResponses": no_answers });
        assert_eq!(answer(NEW, "tools/call", &again)["code"], -32602);
    }
    let unable = answer(NEW, "tools/call", &json!({ "_meta": meta(json!({})), "name": "ask" }));
    assert_eq!(unable["code"], -32021);
    assert_eq!(unable["data"]["requiredCapabilities"], json!({ "elicitation": {} }));
    assert_eq!(answer(Revision::V2025_11_25, "tools/call", &json!({ "name": "ask" }))["code"], -32602);
}

#[tokio::test]
async fn panic_in_a_call_affects_one_reply() {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"boom"}}"#;
    let answer = send(&app(), post("/mcp", "", body)).await;
    assert_eq!((answer.status.as_u16(), &answer.json()["error"]["code"]), (500, &json!(-32603)));
}

#[tokio::test]
async fn marked_argument_is_mirrored_in_a_header() {
    let headers = "MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: route\n";
    for (arguments, more, expected) in [
        (r#"{"region":"eu"}"#, "Mcp-Param-Region: eu", 200),
        (r#"{"region":"eu"}"#, "Mcp-Param-Region: =?base64?ZXU=?=", 200),
        (r#"{"region":"eu"}"#, "Mcp-Param-Region: =?base64?ZXU?=", 400),
        (r#"{"region":"eu"}"#, "Mcp-Param-Region: us", 400),
        (r#"{"region":"eu"}"#, "", 400),
        (r#"{"region":null}"#, "", 200),
        ("{}", "", 200),
        ("{}", "Mcp-Param-Region: eu", 400),
        (r#"{"deep":{"n":42}}"#, "Mcp-Param-N: 42", 200),
        (r#"{"deep":{"n":42}}"#, "Mcp-Param-N: 41", 400),
        (r#"{"deep":7}"#, "", 200),
    ] {
        let params = format!(r#"{{"_meta":{META},"name":"route","arguments":{arguments}}}"#);
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        let answer = send(&app(), post("/mcp", &format!("{headers}{more}"), body)).await;
        assert_eq!(answer.status, expected, "{arguments} {more} {:?}", answer.body);
        if expected == 400 {
            assert_eq!(answer.json()["error"]["code"], -32020);
        }
    }
    let legacy =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"route","arguments":{"region":"eu"}}}"#;
    assert_eq!(send(&app(), post("/mcp", "", legacy)).await.status, 200);
}

#[test]
fn unread_notifications_are_bounded() {
    let notifications = signpost_mcp::Notifications::default();
    let (state, server) = (Notebook::default(), server());
    for _ in 0..600 {
        state.go_on.notify_one();
        let context = Context {
            notifications: Some(&notifications),
            log_level: Some(LogLevel::Debug),
            ..Context::session(Revision::V2025_06_18)
        };
        server.handle(&state, &context, wait("{}").as_bytes()).now_or_never().expect("no await");
    }
    assert_eq!(std::iter::from_fn(|| notifications.take()).count(), 1000);
}
