//! The query parameters of list endpoints: pagination and filters.

use std::collections::BTreeMap;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::Serialize;
use serde_json::{Value, json};
use url::form_urlencoded;

use crate::web::problem::Problem;

/// Default number of rows per page.
const DEFAULT_PAGE_LIMIT: u32 = 50;
/// Maximum number of rows per page.
const MAX_PAGE_LIMIT: u32 = 100;

/// The requested page of a list, with the filters of the query.
#[derive(Debug)]
pub struct Page {
    /// Maximum number of rows to return.
    pub limit: u32,
    /// Set if the query contains `limit` or `cursor`.
    is_paged: bool,
    query: BTreeMap<String, String>,
}

impl Page {
    fn read(query: &str) -> Result<Self, Problem> {
        let mut found = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(query.as_bytes()).into_owned() {
            if found.insert(name.clone(), value).is_some() {
                return Err(Problem::field(name, "must be given exactly once"));
            }
        }
        let limit = match found.get("limit").map(|text| text.parse()) {
            None => DEFAULT_PAGE_LIMIT,
            Some(Ok(limit @ 1..=MAX_PAGE_LIMIT)) => limit,
            Some(_) => {
                return Err(Problem::field("limit", format!("must be a whole number from 1 to {MAX_PAGE_LIMIT}")));
            }
        };
        let is_paged = found.contains_key("limit") || found.contains_key("cursor");
        Ok(Self { limit, is_paged, query: found })
    }

    /// Checks that the query has no parameters besides `limit`, `cursor` and these filters, so that a misspelt filter
    /// does not return all rows.
    ///
    /// # Errors
    /// Returns [`Problem::InvalidRequest`] with the first unknown parameter.
    pub fn allow_only(&self, filters: &[&str]) -> Result<(), Problem> {
        let is_known = |name: &str| matches!(name, "limit" | "cursor") || filters.contains(&name);
        match self.query.keys().find(|name| !is_known(name)) {
            None => Ok(()),
            Some(name) => Err(Problem::field(name, "is not a query parameter of this list")),
        }
    }

    /// Requests up to `max` rows unless the query asks for a page, for lists that once had no
    /// pagination.
    #[must_use]
    pub fn or_whole_list(self, max: u32) -> Self {
        if self.is_paged { self } else { Self { limit: max, ..self } }
    }

    /// Returns the value of a query parameter.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }

    /// Parses the cursor, which identifies the last row of the previous page.
    ///
    /// # Errors
    /// Returns [`Problem::InvalidRequest`] if `read` cannot parse the cursor, because it is not a
    /// `next_cursor` of this list.
    pub fn cursor<T>(&self, read: impl Fn(&str) -> Option<T>) -> Result<Option<T>, Problem> {
        let Some(text) = self.text("cursor") else { return Ok(None) };
        match read(text) {
            Some(row) => Ok(Some(row)),
            None => Err(Problem::field("cursor", "must be a next_cursor of this list")),
        }
    }

    /// Removes the additional row that was read to detect a next page. Returns the cursor of the next
    /// page if there was such a row.
    pub fn next<T>(&self, rows: &mut Vec<T>, cursor_of: impl Fn(&T) -> String) -> Option<String> {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        if rows.len() <= limit {
            return None;
        }
        rows.truncate(limit);
        rows.last().map(cursor_of)
    }

    /// Returns the response body: the rows as the member `name`, and the cursor of the next page.
    #[must_use]
    pub fn reply(&self, name: &str, rows: &[impl Serialize], next: Option<String>) -> Value {
        let mut reply = json!({ name: rows });
        if let Some(next) = next {
            reply["next_cursor"] = next.into();
        }
        reply
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Page {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Self::read(parts.uri.query().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_bounds() {
        assert_eq!(Page::read("").unwrap().limit, 50);
        assert_eq!(Page::read("limit=100&status=a%20b").unwrap().text("status"), Some("a b"));
        for query in ["limit=0", "limit=101", "limit=x", "limit=", "limit=1&limit=2", "a=1&a=1"] {
            assert!(Page::read(query).is_err(), "{query}");
        }
    }

    #[test]
    fn unknown_parameter_is_named() {
        let page = Page::read("limit=1&cursor=a&q=b").unwrap();
        assert!(page.allow_only(&["q"]).is_ok());
        assert!(page.allow_only(&["state"]).unwrap_err().to_string().starts_with("q: "));
    }

    #[test]
    fn row_beyond_the_page_yields_a_cursor() {
        let page = Page::read("limit=2").unwrap();
        let (mut rows, mut all) = (vec![1, 2, 3], vec![1, 2]);
        assert_eq!(page.next(&mut rows, ToString::to_string).as_deref(), Some("2"));
        assert_eq!((rows, page.next(&mut all, ToString::to_string)), (vec![1, 2], None));
    }
}
