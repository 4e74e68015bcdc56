use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::fault::{RpcFault, quoted};
use crate::json::{kind, string};
use crate::message::Params;
use crate::response::Cacheable;
use crate::revision::Revision;

/// A list that is the same for everyone, cut into pages and rendered once.
#[derive(Debug)]
pub(crate) struct PagedList {
    /// The member of the result that holds the entries.
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

    /// Renders pages of `size` entries; `meta` is what a result of a stateless revision says about the server.
    pub(crate) fn render(&mut self, size: usize, meta: &RawValue) {
        let count = self.entries.len().div_ceil(size).max(1);
        let page = |number: usize| {
            let entries: Vec<_> = self.entries.iter().skip(number * size).take(size).collect();
            let mut result = json!({ self.member: entries });
            if number + 1 < count {
                result["nextCursor"] = json!(cursor(number + 1));
            }
            Cacheable::new(result, meta)
        };
        self.pages = (0..count).map(page).collect();
    }

    /// The page that the request asks for.
    pub(crate) fn page(&self, params: &Params<'_>, revision: Revision) -> Result<&RawValue, RpcFault> {
        let number = match params.cursor.filter(|cursor| kind(cursor) != "null") {
            None => Some(0),
            Some(asked) => string(asked).and_then(|asked| (1..self.pages.len()).find(|page| cursor(*page) == asked)),
        };
        let page = number.and_then(|number| self.pages.get(number));
        page.map(|page| page.at(revision)).ok_or_else(|| {
            let asked = params.cursor.map_or("", RawValue::get);
            RpcFault::params(format!(
                "params.cursor is unknown, got {}; leave it out for the first page",
                quoted(asked)
            ))
        })
    }
}

/// Opaque to clients.
fn cursor(page: usize) -> String {
    format!("page-{page}")
}
