//! Reads the query parameters of the login handlers.

use url::form_urlencoded;

use crate::receiver::is_local_path;

/// Maximum length of `next` in bytes. It is stored in a cookie, and browsers accept cookies of up
/// to 4096 bytes.
const MAX_NEXT_LEN: usize = 1024;

/// Returns the value of a query parameter, or `None` if it is missing or repeated.
pub(super) fn single_parameter(query: &str, name: &str) -> Option<String> {
    let mut found = form_urlencoded::parse(query.as_bytes()).filter(|(other, _)| other == name);
    let (_, value) = found.next()?;
    if found.next().is_some() { None } else { Some(value.into_owned()) }
}

/// Returns the parameter `next` of a query if it is a path of this site, and the root path
/// otherwise.
pub(super) fn requested_next(query: &str) -> String {
    next_or_root(single_parameter(query, "next").unwrap_or_default())
}

/// Returns `next` if it is a path of this site, and the root path otherwise.
pub(super) fn next_or_root(next: String) -> String {
    if is_local_path(&next) && next.len() <= MAX_NEXT_LEN { next } else { "/".to_owned() }
}
