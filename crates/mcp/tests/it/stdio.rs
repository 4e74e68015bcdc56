//! Tests of the stdio transport with one message per line.

use signpost_mcp::{MAX_MESSAGE_BYTES, serve_stdio};

use crate::fixture::{META, Start, server};

async fn exchange(input: impl AsRef<[u8]>) -> Vec<String> {
    let mut output = Vec::new();
    serve_stdio(&server(), &Start(40), input.as_ref(), &mut output).await.unwrap();
    let output = String::from_utf8(output).unwrap();
    assert!(output.is_empty() || output.ends_with('\n'));
    output.lines().map(str::to_owned).collect()
}

fn ping(id: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)
}

fn pong(id: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
}

#[tokio::test]
async fn only_replies_are_written_in_order() {
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let input = format!("{}\n\n  \r\n{notification}\n{}\r\n{}", ping(1), ping(2), ping(3));
    assert_eq!(exchange(input).await, [pong(1), pong(2), pong(3)]);
    let modern = format!(r#"{{"jsonrpc":"2.0","id":4,"method":"ping","params":{{"_meta":{META}}}}}"#);
    assert_eq!(exchange(modern).await, [pong(4)]);
    assert!(exchange("").await.is_empty());
    assert!(exchange("\n\n").await.is_empty());
}

#[tokio::test]
async fn line_over_1_mib_is_skipped() {
    let padded = |length: usize| format!("{}{}", ping(1), " ".repeat(length - ping(1).len()));
    for ending in ["", "\n", "\r\n"] {
        let fits = format!("{}{ending}", padded(MAX_MESSAGE_BYTES - 1));
        assert_eq!(exchange(fits).await, [pong(1)], "{ending:?}");
    }
    assert_eq!(exchange(padded(MAX_MESSAGE_BYTES) + "\n" + &ping(2)).await, [pong(1), pong(2)]);
    for length in [MAX_MESSAGE_BYTES + 1, MAX_MESSAGE_BYTES + 2, 5 * MAX_MESSAGE_BYTES] {
        let replies = exchange(padded(length) + "\n" + &ping(2)).await;
        assert_eq!((replies.len(), &replies[1]), (2, &pong(2)), "{length}");
        let refused =
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request: the line is longer"#;
        assert!(replies[0].starts_with(refused));
        assert_eq!(exchange(padded(length)).await.len(), 1);
    }
}

#[tokio::test]
async fn negotiated_revision_persists() {
    let bad = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add"}}"#;
    let with_meta = bad.replace(r#""name""#, &format!(r#""_meta":{META},"name""#));
    let initialize = |revision: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}"}}}}"#)
    };
    let input =
        [bad, &with_meta, &initialize("2025-11-25"), bad, &initialize("2025-06-18"), bad, &with_meta].join("\n");
    let replies = exchange(input).await;
    let is_result: Vec<_> = replies.iter().map(|reply| reply.contains(r#""isError":true"#)).collect();
    assert_eq!(is_result, [false, true, false, true, false, false, true]);
}
