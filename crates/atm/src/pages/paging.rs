//! Pagination of lists with the URL parameter `page`.

use std::ops::Range;

use maud::{Markup, html};

use super::context::PageContext;

/// A page of a paginated list.
pub(super) struct ListPage {
    path: String,
    /// The query without the page number: empty, or ending in `&`.
    query: String,
    /// The page number, starting from 1.
    number: usize,
    /// Maximum number of items on a page.
    size: usize,
    /// The total number of items in the list.
    total: usize,
}

impl ListPage {
    /// Creates the page with the number in the URL. Returns `None` after the last page. The first page exists even if
    /// the list is empty.
    pub(super) fn new(context: &PageContext, path: &str, query: &str, size: usize, total: usize) -> Option<Self> {
        Self::numbered(context.page_number(), path, query, size, total)
    }

    fn numbered(number: usize, path: &str, query: &str, size: usize, total: usize) -> Option<Self> {
        let exists = number == 1 || (1..=total.div_ceil(size)).contains(&number);
        exists.then(|| Self { path: path.to_owned(), query: query.to_owned(), number, size, total })
    }

    /// Returns `true` for the first page, because it has additional content.
    pub(super) fn is_first(&self) -> bool {
        self.number == 1
    }

    /// Returns the positions of the page's items in the list.
    pub(super) fn range(&self) -> Range<usize> {
        let start = (self.number - 1) * self.size;
        start..self.total.min(start + self.size)
    }

    /// Returns the path and query of the page.
    pub(super) fn path(&self) -> String {
        with_query(&self.path, &self.query_prefix())
    }

    /// Returns the query that precedes the `lang` parameter in links to other languages: empty, or ending in `&`.
    pub(super) fn query_prefix(&self) -> String {
        self.query_of(self.number)
    }

    /// Adds the page number to a title, so that it is unique among the pages of the list.
    pub(super) fn title(&self, title: String) -> String {
        if self.is_first() { title } else { format!("{title} ({})", self.shown()) }
    }

    /// Returns the range of the page's items, such as `401–800 / 60000`. Empty if the list has a single page.
    pub(super) fn shown(&self) -> String {
        if self.total <= self.size {
            return String::new();
        }
        let Range { start, end } = self.range();
        format!("{}–{end} / {}", start + 1, self.total)
    }

    /// Renders the links to the previous and the next page.
    pub(super) fn links(&self, context: &PageContext) -> Markup {
        let words = context.words();
        let left = self.total - self.range().end;
        html! {
            @if !self.is_first() || left > 0 {
                p.row.gap {
                    @if !self.is_first() {
                        a.btn rel="prev" href=(self.link(context, self.number - 1)) { (words.rows_before) }
                    }
                    @if left > 0 {
                        a.btn rel="next" href=(self.link(context, self.number + 1)) {
                            ((words.rows_after)(self.size.min(left)))
                        }
                    }
                }
            }
        }
    }

    fn link(&self, context: &PageContext, number: usize) -> String {
        context.link(&with_query(&self.path, &self.query_of(number)))
    }

    /// Returns the query of a page. The first page has no page number.
    fn query_of(&self, number: usize) -> String {
        if number == 1 { self.query.clone() } else { format!("{}page={number}&", self.query) }
    }
}

/// Joins a path and a query. The query may be empty or end in `&`.
pub(super) fn with_query(path: &str, query: &str) -> String {
    if query.is_empty() { path.to_owned() } else { format!("{path}?{}", query.trim_end_matches('&')) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_on_exactly_one_page() {
        for total in [0, 1, 9, 10, 11, 20, 21] {
            let pages = (1..).map_while(|number| ListPage::numbered(number, "/list", "", 10, total));
            let shown: Vec<usize> = pages.flat_map(|page| page.range()).collect();
            assert_eq!(shown, (0..total).collect::<Vec<_>>());
        }
        assert!(ListPage::numbered(usize::MAX, "/list", "", 10, 100).is_none());
        assert!(ListPage::numbered(0, "/list", "", 10, 100).is_none());
    }
}
