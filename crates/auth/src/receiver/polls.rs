use serde_json::json;

use super::browser::{Browser, SiteOrigin};
use super::host::{ShownCode, Site};
use super::response::{HandlerRefusal, HandlerResponse};

/// How polls are judged.
#[derive(Clone, Debug)]
pub struct PollRules {
    /// Where the page that polls lives.
    pub origin: SiteOrigin,
    /// Whether only the browser that was shown the code learns that it was answered, and is logged in.
    ///
    /// `false` is the specification to the letter: whoever knows the `sid` is logged in. That is open to anyone who
    /// shows a victim a code of their own (RFC 10027).
    pub bind_poll: bool,
}

/// Answers the page that waits for its code to be answered.
///
/// 400 `{error}` without `sid`, 404 `{status: "not_found"}`, 200 `{status: "pending"}`, 200 `{status: "authenticated",
/// redirect}`. The first of the last kind logs the browser in.
pub async fn handle_poll<S: Site>(
    site: &S,
    sid: Option<&str>,
    browser: &Browser<'_>,
    rules: &PollRules,
) -> HandlerResponse {
    tell(site, sid, browser, rules).await.into()
}

async fn tell<S: Site>(
    site: &S,
    sid: Option<&str>,
    browser: &Browser<'_>,
    rules: &PollRules,
) -> Result<HandlerResponse, HandlerRefusal> {
    let sid = sid.filter(|sid| !sid.is_empty()).ok_or(HandlerRefusal::NoSid)?;
    let Some(code) = site.find_code(sid).await? else {
        return Ok(HandlerResponse { status: 404, ..HandlerResponse::ok(json!({ "status": "not_found" })) });
    };
    if !code.authenticated || !may_know(&code, sid, browser, rules) {
        return Ok(HandlerResponse::ok(json!({ "status": "pending" })));
    }
    let set_cookie = site.complete_login(sid).await?;
    let redirect = code.return_url.as_deref().filter(|url| is_local_path(url)).unwrap_or("/");
    Ok(HandlerResponse {
        set_cookie,
        ..HandlerResponse::ok(json!({ "status": "authenticated", "redirect": redirect }))
    })
}

fn may_know(code: &ShownCode, sid: &str, browser: &Browser<'_>, rules: &PollRules) -> bool {
    let PollRules { origin, bind_poll } = rules;
    let bound = |cookies| code.binding.is_held(sid, origin, cookies);
    !bind_poll || (!browser.is_foreign(origin) && browser.cookies.is_some_and(bound))
}

/// Whether a `return_url` is a path on the site that shows the code, and nothing a browser would read as another site.
///
/// ```
/// use signpost_auth::receiver::is_local_path;
///
/// assert!(is_local_path("/account?tab=1"));
/// assert!(!is_local_path("//evil.example") && !is_local_path("/\\evil.example"));
/// ```
#[must_use]
pub fn is_local_path(text: &str) -> bool {
    // Browsers drop tabs and line ends before they look at a URL: "/\t/evil.example" is "//evil.example" to them.
    let leaves = text.starts_with("//") || text.starts_with("/\\") || text.contains(char::is_control);
    text.starts_with('/') && !leaves
}
