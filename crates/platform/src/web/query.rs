//! What stands behind the question mark of a list: how much of it, from where on, and which rows.

use std::collections::BTreeMap;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::Serialize;
use serde_json::{Value, json};
use url::form_urlencoded;

use crate::web::problem::Problem;

/// Rows on a page: where nobody says, and at most.
const USUAL: u32 = 50;
const MAX_PAGE_LIMIT: u32 = 100;

/// One page of a list.
#[derive(Debug)]
pub struct Page {
    /// Most rows of it.
    pub limit: u32,
    /// Whether somebody asked for pages at all.
    is_asked: bool,
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
        let limit =
            found.get("limit").map(|text| text.parse().ok().filter(|limit| (1..=MAX_PAGE_LIMIT).contains(limit)));
        let wrong = || Problem::field("limit", format!("must be a whole number from 1 to {MAX_PAGE_LIMIT}"));
        let limit = limit.map(|limit| limit.ok_or_else(wrong)).transpose()?;
        let is_asked = limit.is_some() || found.contains_key("cursor");
        Ok(Self { limit: limit.unwrap_or(USUAL), is_asked, query: found })
    }

    /// The whole list of at most `most` rows, unless somebody asks for pages: for a list that had none at first.
    #[must_use]
    pub fn whole_where_nobody_asks(self, most: u32) -> Self {
        if self.is_asked { self } else { Self { limit: most, ..self } }
    }

    /// A parameter of the list's own.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }

    /// Behind which row the page begins.
    ///
    /// # Errors
    /// Where it is not one that a page before gave as `next_cursor`.
    pub fn cursor<T>(&self, read: impl Fn(&str) -> Option<T>) -> Result<Option<T>, Problem> {
        let Some(text) = self.text("cursor") else { return Ok(None) };
        let wrong = || Problem::field("cursor", "must be a next_cursor of this list");
        read(text).map(Some).ok_or_else(wrong)
    }

    /// Takes the row away that was read beyond the page; names the last of the page where there was one.
    pub fn next<T>(&self, rows: &mut Vec<T>, name: impl Fn(&T) -> String) -> Option<String> {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        if rows.len() <= limit {
            return None;
        }
        rows.truncate(limit);
        rows.last().map(name)
    }

    /// The reply: the rows under their name, and where the next page begins.
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
    fn the_row_beyond_a_page_says_that_there_is_another() {
        let page = Page::read("limit=2").unwrap();
        let (mut rows, mut all) = (vec![1, 2, 3], vec![1, 2]);
        assert_eq!(page.next(&mut rows, ToString::to_string).as_deref(), Some("2"));
        assert_eq!((rows, page.next(&mut all, ToString::to_string)), (vec![1, 2], None));
    }
}
