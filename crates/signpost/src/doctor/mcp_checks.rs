//! The checks of the MCP endpoint `/mcp` of an address.

use serde_json::Value;
use signpost_mcp::Revision;

use super::{AddressProbe, CheckFinding};

/// Checks the handshake of `/mcp` in each revision.
pub(super) fn check_handshakes(probe: &AddressProbe) -> Option<CheckFinding> {
    const CHECK: &str = "MCP";
    if !probe.has_locator() {
        return None;
    }
    let mut refused = Vec::new();
    for (revision, answer) in &probe.handshakes {
        match answer {
            Ok(answer) if is_handshake(*revision, &answer.json()["result"]) => {}
            Ok(answer) => refused.push(format!("{revision} ({} {})", answer.status, first_words(&answer.body))),
            Err(reason) => refused.push(format!("{revision} ({reason})")),
        }
    }
    let spoken = probe.handshakes.len().saturating_sub(refused.len());
    let remedy =
        "let the proxy pass POST /mcp on with its body and headers, and check --allowed-origins where there are any";
    Some(if refused.is_empty() {
        let oldest_first: Vec<_> = probe.handshakes.iter().rev().map(|(revision, _)| revision.as_str()).collect();
        CheckFinding::pass(CHECK, format!("speaks {}", oldest_first.join(", ")))
    } else if spoken == 0 {
        CheckFinding::fail(CHECK, format!("/mcp speaks no revision: {}", refused[0]), remedy)
    } else {
        let found = format!("/mcp speaks {spoken} of {} revisions, not {}", probe.handshakes.len(), refused.join(", "));
        CheckFinding::warn(CHECK, found, remedy)
    })
}

/// Returns true if a result is a valid handshake of a server in a revision of the protocol.
fn is_handshake(revision: Revision, result: &Value) -> bool {
    if revision.is_stateless() {
        let supported = result["supportedVersions"].as_array();
        supported.is_some_and(|all| all.iter().any(|one| one == revision.as_str()))
    } else {
        result["protocolVersion"] == revision.as_str() && result["serverInfo"]["name"].is_string()
    }
}

/// Checks that `/mcp` offers exactly the locator's tools.
pub(super) fn check_tools(probe: &AddressProbe) -> Option<CheckFinding> {
    const CHECK: &str = "tools";
    if !probe.has_locator() {
        return None;
    }
    let listed = probe.tools.as_ref().ok()?.json();
    let names: Vec<_> =
        listed["result"]["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect();
    Some(if names.contains(&"find_nearest_bitcoin_atm") {
        CheckFinding::pass(CHECK, names.join(", "))
    } else {
        let found = format!("tools/list names no tool of the locator: {}", first_words(&listed["error"].to_string()));
        CheckFinding::fail(CHECK, found, "check that /mcp is Signpost's, and not another server's")
    })
}

fn first_words(text: &str) -> String {
    const MAX_CHARS: usize = 120;
    let text = if serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_null()) { "nothing" } else { text };
    signpost_text::clean_line(text).chars().take(MAX_CHARS).collect()
}
