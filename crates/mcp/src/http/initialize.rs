//! The part of an `initialize` request that is stored while the request waits for its turn.

use bytes::Bytes;
use serde_json::value::RawValue;

use crate::argument_reading::ArgumentReading;
use crate::json::RawMembers;
use crate::message::Message;
use crate::negotiated::MAX_CAPABILITIES_BYTES;
use crate::revision::Revision;

/// Maximum size, in bytes, of a reduced `initialize` request. Clients send a few hundred bytes.
const MAX_REDUCED_BYTES: usize = 8 * 1024;

/// Returns an `initialize` request with only the members that the server reads: the ID, the version, the capabilities
/// and `_meta`. Capabilities that are too large to be stored for a session are omitted. The rest of the body, of any
/// size, can be dropped.
///
/// Returns `None` for all other messages, for an invalid request, and if the result is larger than
/// [`MAX_REDUCED_BYTES`].
pub(super) fn reduced_initialize(body: &[u8]) -> Option<Bytes> {
    let message = Message::parse(body).ok()?;
    let id = message.id.filter(|_| message.method == "initialize")?;
    let params = message.params(Revision::ASSUMED, ArgumentReading::Strict).ok()?;
    let mut reduced = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize""#);
    if let Some(whole) = params.whole {
        reduced.push_str(r#","params":"#);
        reduced.push_str(&reduced_params(whole)?);
    }
    reduced.push('}');
    (reduced.len() <= MAX_REDUCED_BYTES).then(|| reduced.into())
}

fn reduced_params(params: &RawValue) -> Option<String> {
    let members = RawMembers::read(params.get(), ["protocolVersion", "capabilities", "_meta"]).ok()?;
    let [version, capabilities, meta] = members.values;
    let capabilities = capabilities.filter(|sent| sent.get().len() <= MAX_CAPABILITIES_BYTES);
    let mut written = Vec::new();
    for (name, value) in [("protocolVersion", version), ("capabilities", capabilities), ("_meta", meta)] {
        if let Some(value) = value {
            written.push(format!(r#""{name}":{value}"#));
        }
    }
    Some(format!("{{{}}}", written.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reduced(body: &str) -> Option<String> {
        reduced_initialize(body.as_bytes()).map(|reduced| String::from_utf8(reduced.to_vec()).unwrap())
    }

    fn initialize(params: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"initialize"{params}}}"#)
    }

    #[test]
    fn initialize_is_reduced_to_the_members_that_are_read() {
        let large = "x".repeat(60 * 1024);
        let info = format!(r#""clientInfo":{{"name":"c","version":"{large}"}}"#);
        for (params, kept) in [
            (String::new(), String::new()),
            (r#","params":{}"#.to_owned(), r#","params":{}"#.to_owned()),
            (
                format!(r#","params":{{"protocolVersion":"2025-06-18",{info},"capabilities":{{"roots":{{}}}}}}"#),
                r#","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{}}}"#.to_owned(),
            ),
            (
                format!(r#","params":{{"_meta":{{"a":1}},"capabilities":{{"x":"{large}"}},"protocolVersion":7}}"#),
                r#","params":{"protocolVersion":7,"_meta":{"a":1}}"#.to_owned(),
            ),
        ] {
            assert_eq!(reduced(&initialize(&params)), Some(initialize(&kept)));
        }
    }

    #[test]
    fn other_messages_are_not_reduced() {
        let long = "x".repeat(MAX_REDUCED_BYTES);
        for body in [
            "",
            "not JSON",
            "[]",
            r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"initialize"}}"#,
            r#"{"jsonrpc":"2.0","method":"initialize"}"#,
            r#"{"jsonrpc":"1.0","id":7,"method":"initialize"}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"initialize","method":"initialize"}"#,
            &initialize(r#","params":[]"#),
            &initialize(r#","params":{"protocolVersion":"a","protocolVersion":"b"}"#),
            &format!(r#"{{"jsonrpc":"2.0","id":"{long}","method":"initialize"}}"#),
            &initialize(&format!(r#","params":{{"protocolVersion":"{long}"}}"#)),
        ] {
            assert_eq!(reduced(body), None, "{}", &body[..body.len().min(90)]);
        }
    }
}
