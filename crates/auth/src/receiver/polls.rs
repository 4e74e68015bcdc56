//! The endpoint of a receiver that the page with the login code polls.

use serde_json::json;

use super::browser::{Browser, SiteOrigin};
use super::host::{ShownCode, Site};
use super::response::{HandlerRefusal, HandlerResponse};

/// The rules for responding to polls.
#[derive(Clone, Debug)]
pub struct PollRules {
    /// The origin of the page that displays the code.
    pub origin: SiteOrigin,
    /// Whether only the browser that displays the code can be logged in.
    ///
    /// `false` implements the specification literally: any browser that knows the `sid` is logged
    /// in. An attacker who shows a victim the code of another session can exploit this (RFC 10027).
    pub bind_poll: bool,
}

/// Responds to a poll of the page that displays a code and waits for an answer.
///
/// The responses are 400 `{error}` without `sid`, 404 `{status: "not_found"}`, 200
/// `{status: "pending"}` and 200 `{status: "authenticated", redirect}`. The first response with
/// `authenticated` logs the browser in.
pub async fn handle_poll<S: Site>(
    site: &S,
    sid: Option<&str>,
    browser: &Browser<'_>,
    rules: &PollRules,
) -> HandlerResponse {
    respond_to_poll(site, sid, browser, rules).await.into()
}

async fn respond_to_poll<S: Site>(
    site: &S,
    sid: Option<&str>,
    browser: &Browser<'_>,
    rules: &PollRules,
) -> Result<HandlerResponse, HandlerRefusal> {
    let sid = sid.filter(|sid| !sid.is_empty()).ok_or(HandlerRefusal::MissingSid)?;
    let Some(code) = site.find_code(sid).await? else {
        return Ok(HandlerResponse { status: 404, ..HandlerResponse::ok(json!({ "status": "not_found" })) });
    };
    if !code.authenticated || !is_bound(&code, sid, browser, rules) {
        return Ok(HandlerResponse::ok(json!({ "status": "pending" })));
    }
    let set_cookie = site.complete_login(sid).await?;
    let redirect = code.return_url.as_deref().filter(|url| is_local_path(url)).unwrap_or("/");
    Ok(HandlerResponse {
        set_cookie,
        ..HandlerResponse::ok(json!({ "status": "authenticated", "redirect": redirect }))
    })
}

/// Returns `true` if the browser may be logged in with this code.
fn is_bound(code: &ShownCode, sid: &str, browser: &Browser<'_>, rules: &PollRules) -> bool {
    let PollRules { origin, bind_poll } = rules;
    if !bind_poll {
        return true;
    }
    !browser.is_foreign(origin)
        && browser.cookies.is_some_and(|cookies| code.binding.matches_cookie(sid, origin, cookies))
}

/// Returns `true` if a `return_url` is a path that no browser parses as a URL of another site.
///
/// ```
/// use signpost_auth::receiver::is_local_path;
///
/// assert!(is_local_path("/account?tab=1"));
/// assert!(!is_local_path("//evil.example") && !is_local_path("/\\evil.example"));
/// ```
#[must_use]
pub fn is_local_path(text: &str) -> bool {
    // Browsers remove tabs and line breaks from URLs, so they parse "/\t/evil.example" as
    // "//evil.example".
    let leaves_site = text.starts_with("//") || text.starts_with("/\\") || text.contains(char::is_control);
    text.starts_with('/') && !leaves_site
}
