//! Paginated lists of tools, resources, resource templates and prompts.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::fault::{RpcFault, quoted};
use crate::json::{kind, string};
use crate::message::Params;
use crate::response::Cacheable;
use crate::revision::Revision;

/// A list that is identical for all clients. It is split into pages and rendered once.
#[derive(Debug)]
pub(crate) struct PagedList {
    /// The name of the result member that contains the entries.
    member: &'static str,
    entries: Vec<Value>,
    pages: Vec<Cacheable>,
}

impl PagedList {
    pub(crate) fn new(member: &'static str) -> Self {
        Self { member, entries: Vec::new(), pages: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn push(&mut self, entry: Value) {
        self.entries.push(entry);
    }

    /// Renders pages of `size` entries. `meta` is the `_meta` member of results in stateless revisions.
    pub(crate) fn render(&mut self, size: usize, meta: &RawValue) {
        let count = self.entries.len().div_ceil(size).max(1);
        self.pages.clear();
        for number in 0..count {
            let entries: Vec<_> = self.entries.iter().skip(number * size).take(size).collect();
            let mut result = json!({ self.member: entries });
            if number + 1 < count {
                result["nextCursor"] = json!(cursor(number + 1));
            }
            self.pages.push(Cacheable::new(result, meta));
        }
    }

    /// Returns the page that the cursor in `params` selects, or the first page.
    pub(crate) fn page(&self, params: &Params<'_>, revision: Revision) -> Result<&RawValue, RpcFault> {
        let page = match params.cursor.filter(|cursor| kind(cursor) != "null") {
            None => self.pages.first(),
            Some(cursor) => string(cursor).and_then(|cursor| self.find_page(&cursor)),
        };
        match page {
            Some(page) => Ok(page.at(revision)),
            None => Err(RpcFault::params(format!(
                "params.cursor is unknown, got {}; leave it out for the first page",
                quoted(params.cursor.map_or("", RawValue::get))
            ))),
        }
    }

    /// Returns the page with this cursor.
    fn find_page(&self, requested: &str) -> Option<&Cacheable> {
        let number = (1..self.pages.len()).find(|number| cursor(*number) == requested)?;
        self.pages.get(number)
    }
}

/// Returns the cursor of a page. It is opaque to clients.
fn cursor(page: usize) -> String {
    format!("page-{page}")
}
