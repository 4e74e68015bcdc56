//! Renders the panels, tables and cells of the console. On a small screen, tables become cards.

use jiff::Timestamp;
use maud::{Markup, html};
use signpost_login::events::DeliveryRow;
use signpost_platform::origin::PublicOrigin;
use signpost_platform::pages::icons::PageIcon;

use super::dates::{format_distance, render_time};

/// Draws a panel. `aside` is next to its heading.
pub(super) fn panel(id: &str, title: &str, aside: &Markup, body: &Markup) -> Markup {
    html! {
        section.panel aria-labelledby=(id) {
            header { h2 id=(id) { (title) } (aside) }
            (body)
        }
    }
}

/// Draws a table in a scrollable region, or `empty` if there are no rows.
pub(super) fn table(name: &str, heads: &[&str], rows: impl IntoIterator<Item = Vec<Markup>>, empty: &Markup) -> Markup {
    let mut rows = rows.into_iter().peekable();
    if rows.peek().is_none() {
        return html! { div.empty { (empty) } };
    }
    html! {
        div.scroll tabindex="0" role="group" aria-label=(name) {
            table.table.cards {
                thead { tr { @for head in heads { th scope="col" { (head) } } } }
                tbody { @for row in rows { tr { @for cell in row { td { (cell) } } } } }
            }
        }
    }
}

/// Draws a count with its name and unit.
pub(super) fn tile(name: &str, value: &str, text: &str) -> Markup {
    html! { div.tile { dt { (name) } dd { p.v { (value) } p.xs.soft { (text) } } } }
}

/// Draws the link to the next page.
pub(super) fn older(address: Option<String>) -> Markup {
    html! { @if let Some(address) = address { p.more { a.btn.small href=(address) { "Older ones" } } } }
}

/// Draws a result with its icon.
pub(super) fn chip(class: &str, text: &str) -> Markup {
    let icon = match class {
        "ok" => PageIcon::Tick,
        "fail" => PageIcon::Stop,
        _ => PageIcon::Clock,
    };
    html! { span class={ "chip " (class) } { (icon.draw(14)) (signpost_text::clean_line(text)) } }
}

/// Draws the result of a delivery.
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

/// Draws a row for each delivery.
pub(super) fn delivery_rows(origin: &PublicOrigin, rows: &[DeliveryRow], now: Timestamp) -> Vec<Vec<Markup>> {
    let mut drawn = Vec::new();
    for row in rows {
        let link = origin.link(&format!("/console/deliveries/{}", row.id));
        let attempts = match row.attempts {
            0 => "none yet".to_owned(),
            attempts if row.state == "pending" => {
                format!("{attempts}, the next {}", format_distance(row.next_attempt_at, now))
            }
            attempts => attempts.to_string(),
        };
        drawn.push(vec![
            html! { a href=(link) { (signpost_text::clean_line(&row.url)) } },
            delivery_chip(row),
            html! { (attempts) },
            html! { (render_time(row.created_at)) },
        ]);
    }
    drawn
}

/// The column headings of the rows from [`delivery_rows`].
pub(super) const DELIVERY_HEADS: [&str; 4] = ["Endpoint", "Result", "Attempts", "Created"];
