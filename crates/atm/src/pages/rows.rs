//! Paginated and filtered lists of ATMs, sorted by distance.

use jiff::Timestamp;
use maud::{Markup, html};
use signpost_locator::{DataDates, Distance, Point, Tri};

use super::addresses::atm_path;
use super::context::PageContext;
use super::filters::ListFilter;
use super::paging::{ListPage, with_query};
use super::parts::figure;
use super::report_form::quote_line;
use super::status::{since, status_chip};
use super::words::LocatorWords;
use crate::catalogue::{CatalogueEntry, Moment};
use crate::map::StatusShape;
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

    /// Renders the total number of ATMs, and the number of ATMs that were checked within a year.
    pub(super) fn figures(&self, middle: &str) -> Markup {
        let words = self.context.words();
        html! {
            p.figures {
                span { ((words.machines)(self.all.len())) }
                span { ((words.checked_lately)(self.count(ListFilter::Checked))) }
                span { ((words.nearest_first)(middle)) }
            }
        }
    }

    /// Renders the links to the filters, and the number of ATMs with known opening hours.
    pub(super) fn filters(&self) -> Markup {
        let words = self.context.words();
        let known = self.all.iter().filter(|(view, _)| view.record.hours.is_some()).count();
        html! {
            nav.filters aria-label=(words.filter) {
                @for filter in ListFilter::EACH {
                    @let current = (filter == self.filter).then_some("true");
                    a.pill href=(self.link(filter)) aria-current=[current] {
                        ((words.filter_name)(filter)) " " ((words.number)(self.count(filter)))
                    }
                }
                a.pill.phone-only href="#map" { (words.map) }
            }
            @if known < self.all.len() { p.sm.soft.gap { ((words.hours_known)(known, self.all.len())) } }
        }
    }

    /// Renders the map of the ATMs on the page. `middle` is the origin of the distances.
    pub(super) fn map(&self, middle: Point, name: &str) -> Markup {
        figure(self.context, middle, name, self.shown().into_iter().map(|(number, (view, _))| (number, view)))
    }

    /// Renders the ATMs on the page, and the links to the previous and the next page.
    pub(super) fn rows(&self) -> Markup {
        let words = self.context.words();
        let shown = self.shown();
        html! {
            @if shown.is_empty() {
                div.empty {
                    h2 { (words.none_so) }
                    p.gap-sm { a.btn href=(self.link(ListFilter::All)) { (words.show_all) } }
                }
            } @else {
                ol.machines.gap start=(shown[0].0) {
                    @for (number, (view, away)) in &shown { (row(self.context, &self.moment, *number, view, *away)) }
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

/// Renders one ATM of a list. The name is a link, and the whole row is its click target.
pub(super) fn row(
    context: &PageContext,
    moment: &Moment<'_>,
    number: usize,
    view: &AtmView<'_>,
    away: Distance,
) -> Markup {
    let words = context.words();
    let record = view.record;
    let address = record.address.street.as_deref().map_or_else(|| view.address(), Into::into);
    html! {
        li.machine {
            span.pin.(StatusShape::of(view.status.status).class()) aria-hidden="true" { span { (number) } }
            div {
                h2 { a href=(context.link(&atm_path(view.entry.atm.id))) { bdi { (record.title()) } } }
                p.meta {
                    span { bdi { (if record.address.is_empty() { words.no_address.into() } else { address }) } }
                    @for term in terms(words, view) { span { (term) } }
                }
                p.says {
                    (status_chip(context, moment, view))
                    @if let Some(since) = since(words, view) { span.soft { (since) } }
                    @if let Some(reports) = view.reports { span.soft { (quote_line(&reports.verdict, context.language)) } }
                }
            }
            p.dist { ((words.distance)(away)) }
        }
    }
}

/// Returns a text about the services of an ATM: buying, selling or both.
fn trades(words: &LocatorWords, buy: Tri, sell: Tri) -> &'static str {
    match (buy, sell) {
        (Tri::Yes, Tri::Yes) => words.buy_and_sell,
        (Tri::Yes, Tri::No) => words.buy_only,
        (Tri::Yes, Tri::Unknown) => words.buy_at_least,
        (Tri::No | Tri::Unknown, Tri::Yes) => words.sell_only,
        (Tri::No, Tri::No) => words.trades_nothing,
        (Tri::No | Tri::Unknown, _) => words.trades_unknown,
    }
}

/// Returns a text about the services and a text about the purchase fee, or a single text if neither is known.
fn terms(words: &LocatorWords, view: &AtmView<'_>) -> Vec<String> {
    let record = view.record;
    let fee = match record.more.as_deref().and_then(|more| more.fees.buy_percent.as_ref()) {
        Some(percent) => (words.fee_percent)(&(words.decimal)(percent.as_str())),
        None if record.buy == Tri::Unknown && record.sell == Tri::Unknown => {
            return vec![words.terms_unknown.to_owned()];
        }
        None => words.fee_unknown.to_owned(),
    };
    vec![trades(words, record.buy, record.sell).to_owned(), fee]
}
