//! Checks the settings when a site starts, so that a wrong setting is in the log before the first
//! user logs in.

use std::time::Duration;

use crate::client::{ErrorCode, HandlerKind, Paging, Signpost, SignpostError};

/// Timeout of the check.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of pages of domains to search.
const MAX_PAGES: usize = 100;

/// Checks the API key, the base URL and the domain with the service. Returns a sentence about the
/// first fault, with its remedy, or `None` if there is none.
pub(super) async fn find_fault(signpost: &Signpost, domain: &str) -> Option<String> {
    let signpost = signpost.clone().with_timeout(TIMEOUT).with_retries(0);
    match find_handler(&signpost, domain).await {
        Ok(Some(HandlerKind::Direct)) => {
            Some(format!("the domain {domain} has the handler direct, and the login page requires the handler hosted"))
        }
        Ok(Some(_)) => None,
        Ok(None) => Some(format!(
            "the domain {domain} is not registered with this API key: run signpost domains add {domain} --handler hosted"
        )),
        Err(error) => Some(describe(&error, signpost.base_url().as_str())),
    }
}

/// Returns the handler of a domain of the account, or `None` if the account has no such domain.
async fn find_handler(signpost: &Signpost, domain: &str) -> Result<Option<HandlerKind>, SignpostError> {
    match signpost.domains().get(domain).await {
        Ok(found) => return Ok(Some(found.handler)),
        Err(error) if error.code == ErrorCode::DomainNotFound => {}
        Err(error) => return Err(error),
    }
    // Earlier versions of the service find a domain only by its ID.
    let mut paging = Paging { limit: Some(100), cursor: None };
    for _ in 0..MAX_PAGES {
        let page = signpost.domains().list(&paging).await?;
        if let Some(listed) = page.domains.into_iter().find(|listed| listed.domain == domain) {
            return Ok(Some(signpost.domains().get(&listed.id).await?.handler));
        }
        paging.cursor = page.next_cursor;
        if paging.cursor.is_none() {
            break;
        }
    }
    Ok(None)
}

fn describe(error: &SignpostError, base_url: &str) -> String {
    match (&error.code, error.status) {
        (ErrorCode::InvalidApiKey, _) => format!(
            "{base_url} rejects the API key: check its value, and whether it belongs to the environment of the base \
             URL ({error})"
        ),
        (ErrorCode::InsufficientScope, _) => {
            format!("the API key has no scope auth: create one with signpost keys create --scope auth ({error})")
        }
        (ErrorCode::ConnectionFailed | ErrorCode::Timeout, _) => {
            format!("the service cannot be reached at the base URL {base_url} ({error})")
        }
        (ErrorCode::InvalidResponse, _) | (_, Some(404)) => {
            format!("the base URL {base_url} is not that of a Signpost server; it ends in /v1 or /sandbox/v1 ({error})")
        }
        _ => format!("the service at {base_url} replied with an error ({error})"),
    }
}
