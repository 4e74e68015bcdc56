//! Tables of the console, which become cards on a small screen, and what stands in them.

use jiff::Timestamp;
use maud::{Markup, html};
use signpost_login::events::DeliveryRow;
use signpost_platform::origin::PublicOrigin;
use signpost_platform::pages::icons::Sign;

use super::dates::{moment, say_distance};

/// A panel with a heading, and what stands beside it.
pub(super) fn panel(id: &str, title: &str, aside: &Markup, body: &Markup) -> Markup {
    html! {
        section.panel aria-labelledby=(id) {
            header { h2 id=(id) { (title) } (aside) }
            (body)
        }
    }
}

/// A table in a region that scrolls, or what stands there instead.
pub(super) fn table(name: &str, heads: &[&str], rows: &[Vec<Markup>], empty: &Markup) -> Markup {
    html! {
        @if rows.is_empty() {
            div.empty { (empty) }
        } @else {
            div.scroll tabindex="0" role="group" aria-label=(name) {
                table.table.cards {
                    thead { tr { @for head in heads { th scope="col" { (head) } } } }
                    tbody { @for row in rows { tr { @for cell in row { td { (cell) } } } } }
                }
            }
        }
    }
}

/// The link to what comes next.
pub(super) fn older(address: Option<String>) -> Markup {
    html! { @if let Some(address) = address { p.more { a.btn.small href=(address) { "Older ones" } } } }
}

/// A result with its sign.
pub(super) fn chip(class: &str, text: &str) -> Markup {
    let sign = match class {
        "ok" => Sign::Tick,
        "fail" => Sign::Stop,
        _ => Sign::Clock,
    };
    html! { span class={ "chip " (class) } { (sign.draw(14)) (signpost_text::line(text)) } }
}

/// What became of a delivery.
pub(super) fn delivery_chip(row: &DeliveryRow) -> Markup {
    let status = row.last_status.map(|status| status.to_string());
    match (row.state.as_str(), status, &row.last_error) {
        ("delivered", Some(status), _) => chip("ok", &format!("Taken, {status}")),
        ("delivered", None, _) => chip("ok", "Taken"),
        ("failed", Some(status), _) => chip("fail", &format!("Failed, {status}")),
        ("failed", None, _) => chip("fail", "Failed"),
        (_, Some(status), _) => chip("fail", &format!("Refused, {status}")),
        (_, None, Some(_)) => chip("fail", "No answer"),
        (_, None, None) => chip("wait", "Waits for its first attempt"),
    }
}

/// A row for each delivery.
pub(super) fn delivery_rows(origin: &PublicOrigin, rows: &[DeliveryRow], now: Timestamp) -> Vec<Vec<Markup>> {
    let row = |row: &DeliveryRow| {
        let link = origin.link(&format!("/console/deliveries/{}", row.id));
        let next = (row.state == "pending" && row.attempts > 0).then(|| say_distance(row.next_attempt_at, now));
        let attempts = match (row.attempts, next) {
            (0, _) => "none yet".to_owned(),
            (attempts, None) => format!("{attempts}"),
            (attempts, Some(next)) => format!("{attempts}, the next {next}"),
        };
        vec![
            html! { a href=(link) { (signpost_text::line(&row.url)) } },
            delivery_chip(row),
            html! { (attempts) },
            html! { (moment(row.created_at)) },
        ]
    };
    rows.iter().map(row).collect()
}

/// The heads of those rows.
pub(super) const DELIVERY_HEADS: [&str; 4] = ["Endpoint", "Result", "Attempts", "Created"];
