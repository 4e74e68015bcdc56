//! Tool arguments that clients also send as HTTP headers.

use http::HeaderName;
use serde_json::Value;

use crate::context::{Headers, decoded};
use crate::fault::{RpcFault, quoted};
use crate::tool::Arguments;

/// A tool argument that is also sent as a header (`x-mcp-header`, revision 2026-07-28), for intermediaries that do not
/// parse the body.
#[derive(Debug)]
pub(crate) struct MirroredArgument {
    header: HeaderName,
    /// The path of member names to the argument.
    path: Vec<String>,
}

impl MirroredArgument {
    /// Returns the arguments of a schema that are marked with `x-mcp-header`.
    ///
    /// # Panics
    /// If a mark is not a string, or two arguments share a header.
    pub(crate) fn from_schema(schema: &Value) -> Vec<Self> {
        let mut found = Vec::new();
        collect(schema, &mut Vec::new(), &mut found);
        for (at, mirrored) in found.iter().enumerate() {
            let header = &mirrored.header;
            assert!(found[..at].iter().all(|other| other.header != *header), "two arguments are the header {header:?}");
        }
        found
    }

    pub(crate) fn check(&self, arguments: &Arguments, headers: Headers<'_>) -> Result<(), RpcFault> {
        let mut value = arguments.get(&self.path[0]);
        for name in &self.path[1..] {
            value = value.and_then(|value| value.get(name));
        }
        let text = match value {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(other) => Some(other.to_string()),
        };
        let sent = headers.get(&self.header);
        if sent.map(decoded) == text.as_ref().map(|text| Some(text.as_bytes().into())) {
            return Ok(());
        }
        let name = self.path.join(".");
        let received = sent.map_or("missing".to_owned(), |sent| quoted(&String::from_utf8_lossy(sent)));
        let expected = text.map_or("absent".to_owned(), |text| quoted(&text));
        let header = &self.header;
        let detail = format!("the header {header} is {received} but params.arguments.{name} is {expected}");
        Err(RpcFault::header_mismatch(detail))
    }
}

fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<MirroredArgument>) {
    let Some(properties) = schema["properties"].as_object() else { return };
    for (name, property) in properties {
        path.push(name.clone());
        if let Some(mark) = property.get("x-mcp-header") {
            let mark = mark.as_str().expect("x-mcp-header is a string");
            let header = format!("mcp-param-{mark}");
            let Ok(header) = HeaderName::try_from(&header) else { panic!("{header:?} is not a valid header name") };
            found.push(MirroredArgument { header, path: path.clone() });
        }
        collect(property, path, found);
        path.pop();
    }
}
