//! Lists of machines.

use maud::{Markup, html};
use signpost_locator::gazetteer::ATTRIBUTION;
use signpost_locator::{Distance, Point, Tri};

use super::addresses::machine_path;
use super::filters::ListFilter;
use super::ground::Ground;
use super::status::{since, status_chip};
use super::visit::LocatorVisit;
use super::words::LocatorWords;
use crate::catalogue::Moment;
use crate::map::{FigureMachine, FigureScene, StatusShape, draw_figure};
use crate::report_form::quote_line;
use crate::view::MachineView;

/// Most machines on one page.
const ROWS: usize = 50;

/// Machines around a point, those that are nearest first, and which of them are shown.
pub(super) struct MachineList<'a> {
    /// All of them.
    all: Vec<(MachineView<'a>, Distance)>,
    pub(super) filter: ListFilter,
    /// From 1.
    pub(super) page: usize,
    /// The page without a filter, and what stands before one in its query: nothing, or a query that ends in `&`.
    path: String,
    query: String,
}

impl<'a> MachineList<'a> {
    /// Reads the filter and the page that an address names.
    pub(super) fn new(
        visit: &LocatorVisit,
        path: String,
        query: String,
        all: Vec<(MachineView<'a>, Distance)>,
    ) -> Self {
        let filter = ListFilter::named(visit.parameter("only").as_deref());
        Self { all, filter, page: visit.page_number(), path, query }
    }

    /// Whether there is a page of this number: the first is there always.
    pub(super) fn has_page(&self, visit: &LocatorVisit) -> bool {
        self.page == 1 || !self.shown(visit).is_empty()
    }

    /// How many there are of a kind.
    pub(super) fn count(&self, visit: &LocatorVisit, filter: ListFilter) -> usize {
        self.all.iter().filter(|(view, _)| filter.fits(view, visit.now)).count()
    }

    /// Those on the page, with their numbers.
    pub(super) fn shown(&self, visit: &LocatorVisit) -> Vec<(usize, &(MachineView<'a>, Distance))> {
        let fitting = self.all.iter().filter(|(view, _)| self.filter.fits(view, visit.now));
        (1..).zip(fitting).skip(self.page.saturating_sub(1).saturating_mul(ROWS)).take(ROWS).collect()
    }

    /// The query of this very list, for its address in another language.
    pub(super) fn own_query(&self) -> String {
        let only = self.filter.name().map(|name| format!("only={name}&")).unwrap_or_default();
        let page = if self.page > 1 { format!("page={}&", self.page) } else { String::new() };
        format!("{}{only}{page}", self.query)
    }

    /// Whether it is the whole list from its beginning: what search engines should know.
    pub(super) fn is_plain(&self) -> bool {
        self.filter == ListFilter::All && self.page == 1
    }

    fn address(&self, visit: &LocatorVisit, filter: ListFilter, page: usize) -> String {
        let own = Self { all: Vec::new(), filter, page, path: String::new(), query: self.query.clone() }.own_query();
        let query = own.trim_end_matches('&');
        visit.link(&if query.is_empty() { self.path.clone() } else { format!("{}?{query}", self.path) })
    }

    /// The choice of filters, with what is not known of the machines.
    pub(super) fn filters(&self, visit: &LocatorVisit) -> Markup {
        let words = visit.words();
        let known = self.all.iter().filter(|(view, _)| view.record.hours.is_some()).count();
        html! {
            nav.filters aria-label=(words.filter) {
                @for filter in ListFilter::EACH {
                    @let current = (filter == self.filter).then_some("true");
                    a.pill href=(self.address(visit, filter, 1)) aria-current=[current] {
                        ((words.filter_name)(filter)) " " ((words.number)(self.count(visit, filter)))
                    }
                }
                a.pill.phone-only href="#map" { (words.map) }
            }
            @if known < self.all.len() { p.sm.soft.gap { ((words.hours_known)(known, self.all.len())) } }
        }
    }

    /// The map of the machines of the page, around the point that they were measured from.
    pub(super) fn map(&self, visit: &LocatorVisit, ground: &Ground, middle: Point, name: Option<&str>) -> Markup {
        let machine = |(number, (view, _)): &(usize, &(MachineView<'_>, Distance))| FigureMachine {
            number: u32::try_from(*number).unwrap_or(u32::MAX),
            point: view.record.point,
            shape: StatusShape::of(view.status.status),
        };
        let machines: Vec<_> = self.shown(visit).iter().map(machine).collect();
        let attribution: Vec<_> = ground.snapshot.attribution().chain([ATTRIBUTION]).collect();
        let (language, unit, origin) = (visit.language, visit.ring_unit(), &visit.service.origin);
        draw_figure(&FigureScene {
            language,
            unit,
            origin,
            middle,
            middle_name: name,
            machines: &machines,
            gazetteer: &ground.places,
            attribution: &attribution,
        })
    }

    /// The machines of the page, and the way to the others.
    pub(super) fn rows(&self, visit: &LocatorVisit, moment: &Moment<'_>) -> Markup {
        let words = visit.words();
        let shown = self.shown(visit);
        let total = self.count(visit, self.filter);
        let last = shown.last().map_or(0, |(number, _)| *number);
        html! {
            @if shown.is_empty() {
                div.empty {
                    h2 { (words.none_so) }
                    p.gap-sm { a.btn href=(self.address(visit, ListFilter::All, 1)) { (words.show_all) } }
                }
            } @else {
                ol.machines.gap start=(shown[0].0) {
                    @for (number, (view, away)) in &shown { (row(visit, moment, *number, view, *away)) }
                }
            }
            @if self.page > 1 || last < total {
                p.row.gap {
                    @if self.page > 1 {
                        a.btn rel="prev" href=(self.address(visit, self.filter, self.page - 1)) { (words.rows_before) }
                    }
                    @if last > 0 && last < total {
                        a.btn rel="next" href=(self.address(visit, self.filter, self.page + 1)) {
                            ((words.rows_after)(ROWS.min(total - last)))
                        }
                    }
                }
            }
        }
    }
}

/// One machine. Its name is the link; the whole row is its target.
pub(super) fn row(
    visit: &LocatorVisit,
    moment: &Moment<'_>,
    number: usize,
    view: &MachineView<'_>,
    away: Distance,
) -> Markup {
    let (words, record) = (visit.words(), view.record);
    let address = record.address.street.as_deref().map_or_else(|| view.address(), Into::into);
    html! {
        li.machine {
            span.pin.(StatusShape::of(view.status.status).class()) aria-hidden="true" { span { (number) } }
            div {
                h2 { a href=(visit.link(&machine_path(view.entry.machine.id))) { bdi { (record.title()) } } }
                p.meta {
                    span { bdi { (if record.address.is_empty() { words.no_address.into() } else { address }) } }
                    @for term in terms(words, view) { span { (term) } }
                }
                p.says {
                    (status_chip(visit, moment, view))
                    @if let Some(since) = since(words, view) { span.soft { (since) } }
                    @if let Some(reports) = view.reports { span.soft { (quote_line(&reports.verdict, visit.language)) } }
                }
            }
            p.dist { ((words.distance)(away)) }
        }
    }
}

/// Whether people can buy and sell there.
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

/// What it does and what it charges for a purchase. Where nothing of that is known it is said once.
fn terms(words: &LocatorWords, view: &MachineView<'_>) -> Vec<String> {
    let record = view.record;
    let fees = record.more.as_deref().map(|more| &more.fees);
    let fee = fees.and_then(|fees| fees.buy_percent.as_ref());
    if (record.buy, record.sell, fee) == (Tri::Unknown, Tri::Unknown, None) {
        return vec![words.terms_unknown.to_owned()];
    }
    let fee = fee.map_or_else(
        || words.fee_unknown.to_owned(),
        |percent| (words.fee_percent)(&(words.decimal)(percent.as_str())),
    );
    vec![trades(words, record.buy, record.sell).to_owned(), fee]
}
