//! The card: the ATMs of a result as a small page that an assistant shows in its own window (MCP Apps, 2026-01-26).
//! Its parts are in `assets/card`; `npm --prefix tests/pages run card` builds the file that is served.

use serde_json::{Map, Value, json};
use signpost_mcp::{Contents, Handler, Resource};

use crate::locator::{Locator, icons};

/// Name of the protocol extension for the card.
pub(super) const EXTENSION: &str = "io.modelcontextprotocol/ui";
/// Assistants cache the card by its URI, so a changed card needs another URI.
const URI: &str = "ui://signpost/atms-v1.html";
const MIME_TYPE: &str = "text/html;profile=mcp-app";

const HTML: &str = include_str!("../../assets/atms-v1.html");

/// Returns the settings of the extension in the capabilities of the server.
pub(super) fn settings() -> Map<String, Value> {
    Map::from_iter([("mimeTypes".to_owned(), json!([MIME_TYPE]))])
}

/// Returns the metadata of a tool with results for the card: the current member and two older members.
pub(super) fn shows_results() -> Map<String, Value> {
    Map::from_iter([
        ("ui".to_owned(), json!({ "resourceUri": URI, "visibility": ["model", "app"] })),
        ("ui/resourceUri".to_owned(), json!(URI)),
        ("openai/outputTemplate".to_owned(), json!(URI)),
    ])
}

/// Returns the card. It loads nothing and calls only its assistant. `domain` is its host name there.
pub(super) fn resource(domain: Option<&str>) -> Resource<Locator> {
    let mut ui = json!({
        "csp": { "connectDomains": [], "resourceDomains": [] },
        "permissions": {},
        "prefersBorder": true,
    });
    if let Some(domain) = domain {
        ui["domain"] = json!(domain);
    }
    Resource {
        uri: URI,
        name: "atms-card",
        title: "Bitcoin ATMs on a card",
        description: "The machines of a result, for an assistant to show to its user.",
        mime_type: MIME_TYPE,
        icons: icons(),
        meta: Map::from_iter([("ui".to_owned(), ui)]),
        completions: Vec::new(),
        read: Handler::Sync(|_, _, _| Ok(Contents::Text(HTML.to_owned()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn card_is_small_and_names_hosts_only_in_links() {
        assert!(HTML.len() <= 8_000, "{} bytes", HTML.len());
        let named: Vec<_> = HTML.match_indices("://").map(|(at, _)| HTML[at..].split('/').nth(2)).collect();
        assert_eq!(named, [Some("www.google.com")], "the link for directions");
        for word in ["src=", "@import", "url(", "eval(", "fetch("] {
            assert!(!HTML.contains(word), "{word}");
        }
    }
}
