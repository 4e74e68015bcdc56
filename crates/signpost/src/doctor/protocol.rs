//! The checks of `/mcp`, as an address speaks it.

use serde_json::Value;
use signpost_mcp::Revision;

use super::{CheckFinding, Fetched, Visit};

/// How `/mcp` introduces itself, in each revision.
pub(super) fn check_handshakes(visit: &Visit) -> Option<CheckFinding> {
    const CHECK: &str = "MCP";
    if !visit.has_locator() {
        return None;
    }
    let refused = |(revision, answer): &(Revision, Result<Fetched, String>)| {
        let reason = match answer {
            Ok(answer) if is_introduction(*revision, &answer.json()["result"]) => return None,
            Ok(answer) => format!("{} {}", answer.status, first_words(&answer.body)),
            Err(reason) => reason.clone(),
        };
        Some(format!("{revision} ({reason})"))
    };
    let refused: Vec<_> = visit.handshakes.iter().filter_map(refused).collect();
    let spoken = visit.handshakes.len().saturating_sub(refused.len());
    let mend =
        "let the proxy pass POST /mcp on with its body and headers, and check --allowed-origins where there are any";
    Some(if refused.is_empty() {
        let oldest_first: Vec<_> = visit.handshakes.iter().rev().map(|(revision, _)| revision.as_str()).collect();
        CheckFinding::pass(CHECK, format!("speaks {}", oldest_first.join(", ")))
    } else if spoken == 0 {
        CheckFinding::fail(CHECK, format!("/mcp speaks no revision: {}", refused[0]), mend)
    } else {
        let found = format!("/mcp speaks {spoken} of {} revisions, not {}", visit.handshakes.len(), refused.join(", "));
        CheckFinding::warn(CHECK, found, mend)
    })
}

/// Whether a result is how a server introduces itself in a revision.
fn is_introduction(revision: Revision, result: &Value) -> bool {
    if revision.is_stateless() {
        let supported = result["supportedVersions"].as_array();
        supported.is_some_and(|all| all.iter().any(|one| one == revision.as_str()))
    } else {
        result["protocolVersion"] == revision.as_str() && result["serverInfo"]["name"].is_string()
    }
}

/// Whether it is the locator that answers there.
pub(super) fn check_tools(visit: &Visit) -> Option<CheckFinding> {
    const CHECK: &str = "tools";
    if !visit.has_locator() {
        return None;
    }
    let listed = visit.tools.as_ref().ok()?.json();
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
    const MOST: usize = 120;
    let text = if serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_null()) { "nothing" } else { text };
    signpost_text::line(text).chars().take(MOST).collect()
}
