//! Paginated and filtered lists of ATMs, sorted by distance.

use jiff::Timestamp;
use maud::{Markup, html};
use signpost_locator::{DataDates, Distance, Point};

use super::context::PageContext;
use super::filters::ListFilter;
use super::paging::{ListPage, with_query};
use super::parts::figure;
use super::row::MachineRow;
use super::unknown_facts::unknown_facts;
use crate::catalogue::{CatalogueEntry, Moment};
use crate::map::FigureCenter;
use crate::view::AtmView;

/// Maximum number of ATMs on a page of a list.
const PAGE_SIZE: usize = 50;

/// The ATMs around a point sorted by distance, with the filter and the page to show.
pub(super) struct MachineList<'a> {
    context: &'a PageContext,
    moment: Moment<'a>,
    all: Vec<(AtmView<'a>, Distance)>,
    filter: ListFilter,
    page: ListPage,
    path: String,
    /// The query that precedes the filter and the page number: empty, or ending in `&`.
    query: String,
}

impl<'a> MachineList<'a> {
    /// Creates the list with the filter and the page number in the URL. Returns `None` after the last page.
    pub(super) fn new(
        context: &'a PageContext,
        path: String,
        query: String,
        entries: impl Iterator<Item = (&'a CatalogueEntry, Distance)>,
    ) -> Option<Self> {
        let moment = context.moment();
        let all: Vec<_> = entries.map(|(entry, away)| (AtmView::of(&moment, entry), away)).collect();
        let filter = ListFilter::named(context.parameter("only").as_deref());
        let total = matching(&all, filter, context.now).count();
        let page = ListPage::new(context, &path, &filter.add_to(&query), PAGE_SIZE, total)?;
        Some(Self { context, moment, all, filter, page, path, query })
    }

    /// Returns all ATMs of the list, regardless of filter and page.
    pub(super) fn entries(&self) -> Vec<&'a CatalogueEntry> {
        self.all.iter().map(|(view, _)| view.entry).collect()
    }

    fn count(&self, filter: ListFilter) -> usize {
        matching(&self.all, filter, self.context.now).count()
    }

    /// Returns the ATMs on the page with their numbers.
    pub(super) fn shown(&self) -> Vec<(usize, &(AtmView<'a>, Distance))> {
        let matching = matching(&self.all, self.filter, self.context.now);
        (1..).zip(matching).skip(self.page.range().start).take(PAGE_SIZE).collect()
    }

    /// Returns the dates of the ATMs on the page, or `None` if the page is empty.
    pub(super) fn dates(&self) -> Option<DataDates> {
        let shown = self.shown();
        if shown.is_empty() {
            return None;
        }
        Some(shown.iter().map(|(_, (view, _))| view.entry.atm.known_at()).collect())
    }

    /// Returns the query that precedes the `lang` parameter in links to other languages: empty, or ending in `&`.
    pub(super) fn query_prefix(&self) -> String {
        self.page.query_prefix()
    }

    /// Returns `true` for the first page without a filter. Search engines may index only this page.
    pub(super) fn is_plain(&self) -> bool {
        self.filter == ListFilter::All && self.page.is_first()
    }

    fn link(&self, filter: ListFilter) -> String {
        self.context.link(&with_query(&self.path, &filter.add_to(&self.query)))
    }

    /// Renders the total number of ATMs, and the link to their map for narrow windows.
    pub(super) fn figures(&self) -> Markup {
        let words = self.context.words();
        html! {
            p.figures {
                span { ((words.machines)(self.all.len())) ", " (words.nearest_first) }
                a.phone-only href="#map" { (words.map) }
            }
        }
    }

    /// Renders the links to the filters that select some of the ATMs, but not all; and with the filter for open ATMs, the
    /// number of ATMs with known opening hours.
    pub(super) fn filters(&self) -> Markup {
        let words = self.context.words();
        let known = self.all.iter().filter(|(view, _)| view.record.hours.is_some()).count();
        let useful = self.useful_filters();
        html! {
            @if !useful.is_empty() {
                nav.filters aria-label=(words.filter) {
                    @for filter in useful {
                        @let current = (filter == self.filter).then_some("true");
                        a.pill href=(self.link(filter)) aria-current=[current] {
                            span {
                                ((words.filter_name)(filter))
                                @if filter == ListFilter::Checked { span.wide-only { (words.within_a_year) } }
                            }
                            " " ((words.number)(self.count(filter)))
                        }
                    }
                }
            }
            @if self.filter == ListFilter::Open && known < self.all.len() {
                p.sm.soft.gap-sm { ((words.hours_known)(known, self.all.len())) }
            }
        }
    }

    /// Returns the filters to offer: the current one and those that select some of the ATMs, but not all. The list of all
    /// ATMs is offered only if a filter is active.
    fn useful_filters(&self) -> Vec<ListFilter> {
        let is_useful = |filter: &ListFilter| match filter {
            ListFilter::All => self.filter != ListFilter::All,
            filter => *filter == self.filter || (1..self.all.len()).contains(&self.count(*filter)),
        };
        ListFilter::EACH.into_iter().filter(is_useful).collect()
    }

    /// Renders the map of the ATMs on the page. `middle` is the origin of the distances.
    pub(super) fn map(&self, middle: Point, name: &str, center: FigureCenter) -> Markup {
        figure(self.context, (middle, name, center), self.shown().into_iter().map(|(number, (view, _))| (number, view)))
    }

    /// Renders the ATMs on the page, and the links to the previous and the next page.
    pub(super) fn rows(&self) -> Markup {
        let words = self.context.words();
        let shown = self.shown();
        let views: Vec<_> = self.all.iter().map(|(view, _)| view).collect();
        let unknown = unknown_facts(self.context, &views);
        let row = MachineRow { context: self.context, moment: &self.moment, unknown_for_all: &unknown };
        html! {
            @if shown.is_empty() {
                div.empty {
                    h2 { (words.none_so) }
                    p.gap-sm { a.btn href=(self.link(ListFilter::All)) { (words.show_all) } }
                }
            } @else {
                @if !unknown.is_empty() { p.sm.soft.gap-sm { ((words.unknown_for_all)(&unknown, self.all.len())) } }
                ol.machines start=(shown[0].0) {
                    @for (number, (view, away)) in &shown { (row.draw(*number, view, *away)) }
                }
            }
            (self.page.links(self.context))
        }
    }
}

fn matching<'l, 'a>(
    all: &'l [(AtmView<'a>, Distance)],
    filter: ListFilter,
    now: Timestamp,
) -> impl Iterator<Item = &'l (AtmView<'a>, Distance)> {
    all.iter().filter(move |(view, _)| filter.fits(view, now))
}
