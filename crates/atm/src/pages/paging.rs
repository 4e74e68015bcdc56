//! Long lists on several pages: `?page=2` is the second.

use std::ops::Range;

use maud::{Markup, html};

use super::visit::LocatorVisit;

/// A page of a list.
pub(super) struct ListPage<'a> {
    /// The address of the first page.
    path: &'a str,
    /// From 1.
    number: usize,
    /// Maximum items on a page.
    size: usize,
    /// All items of the list.
    total: usize,
}

impl<'a> ListPage<'a> {
    /// Returns the page that the address names; `None` after the last one. The first page exists even if the list is empty.
    pub(super) fn new(visit: &LocatorVisit, path: &'a str, size: usize, total: usize) -> Option<Self> {
        Self::numbered(visit.page_number(), path, size, total)
    }

    fn numbered(number: usize, path: &'a str, size: usize, total: usize) -> Option<Self> {
        let exists = number == 1 || (1..=total.div_ceil(size)).contains(&number);
        exists.then_some(Self { path, number, size, total })
    }

    /// Whether it is the first page, which has more than the list.
    pub(super) fn is_first(&self) -> bool {
        self.number == 1
    }

    /// Returns the positions of its items in the list.
    pub(super) fn range(&self) -> Range<usize> {
        let start = (self.number - 1) * self.size;
        start..self.total.min(start + self.size)
    }

    /// Returns its address. The first page has no number.
    pub(super) fn address(&self) -> String {
        self.address_of(self.number)
    }

    /// Returns its query for the address in another language: nothing, or a query that ends in `&`.
    pub(super) fn kept_query(&self) -> String {
        if self.is_first() { String::new() } else { format!("page={}&", self.number) }
    }

    /// Returns a title that differs from those of the other pages.
    pub(super) fn title(&self, title: String) -> String {
        if self.is_first() { title } else { format!("{title} ({})", self.shown()) }
    }

    /// Returns the numbers of its items, such as `401–800 / 60000`; nothing if the list has one page.
    pub(super) fn shown(&self) -> String {
        if self.total <= self.size {
            return String::new();
        }
        let Range { start, end } = self.range();
        format!("{}–{end} / {}", start + 1, self.total)
    }

    /// Returns the links to the pages before and after it.
    pub(super) fn links(&self, visit: &LocatorVisit) -> Markup {
        let words = visit.words();
        let left = self.total - self.range().end;
        html! {
            @if !self.is_first() || left > 0 {
                p.row.gap {
                    @if !self.is_first() {
                        a.btn rel="prev" href=(visit.link(&self.address_of(self.number - 1))) { (words.rows_before) }
                    }
                    @if left > 0 {
                        a.btn rel="next" href=(visit.link(&self.address_of(self.number + 1))) {
                            ((words.rows_after)(self.size.min(left)))
                        }
                    }
                }
            }
        }
    }

    fn address_of(&self, number: usize) -> String {
        if number == 1 { self.path.to_owned() } else { format!("{}?page={number}", self.path) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_is_on_one_page_and_no_page_is_after_the_last() {
        for total in [0, 1, 9, 10, 11, 20, 21] {
            let pages = (1..).map_while(|number| ListPage::numbered(number, "/list", 10, total));
            let shown: Vec<usize> = pages.flat_map(|page| page.range()).collect();
            assert_eq!(shown, (0..total).collect::<Vec<_>>());
        }
        assert!(ListPage::numbered(usize::MAX, "/list", 10, 100).is_none());
        assert!(ListPage::numbered(0, "/list", 10, 100).is_none());
    }
}
