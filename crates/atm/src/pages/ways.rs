//! The links and buttons on an ATM's page: directions, contact, and sharing, saving and copying for browsers with scripts.

use maud::{Markup, html};
use signpost_platform::pages::href::href;

use super::MACHINE_SCRIPT;
use super::context::PageContext;
use super::install::COPY_SCRIPT;
use crate::view::AtmView;

/// Renders the links and buttons. Directions open with an https link on every platform; a script replaces it by the link
/// for the device, and shows the link of Android's choice of apps (`geo:`) on Android only.
pub(super) fn ways(context: &PageContext, view: &AtmView<'_>) -> Markup {
    let words = context.words();
    let [lat, lon] = view.degrees().map(|degrees| format!("{degrees:.6}"));
    let google = format!("https://www.google.com/maps/dir/?api=1&destination={lat}%2C{lon}");
    let apple = format!("https://maps.apple.com/?daddr={lat}%2C{lon}");
    let open_street_map = format!("https://www.openstreetmap.org/directions?to={lat}%2C{lon}");
    let record = view.record;
    let phone_link = record.phone.as_deref().and_then(phone_link);
    let website = record.website.as_deref().and_then(href);
    html! {
        div.row.ways {
            a #directions .btn.primary href=(google) rel="noopener" data-apple=(apple) { (words.directions) }
            @if let Some((phone, link)) = phone_link { a.btn href=(link) { (words.call) " " bdi { (phone) } } }
            @if let Some(website) = website {
                a.btn href=(website) rel="nofollow noopener ugc" { (words.website) }
            }
        }
        (buttons(context, view))
        p.sm.soft.ways {
            (words.directions_by) " "
            a href=(google) rel="noopener" { "Google Maps" } " · "
            a href=(apple) rel="noopener" { "Apple Maps" } " · "
            a href=(open_street_map) rel="noopener" { "OpenStreetMap" }
            span #other-app hidden { " · " a href={ "geo:" (lat) "," (lon) "?q=" (lat) "," (lon) } { (words.other_app) } }
        }
        p.sm.soft { (words.coordinates) " " span.num { (lat) ", " (lon) } }
    }
}

/// Renders the buttons for scripts, which show each button that the browser supports.
fn buttons(context: &PageContext, view: &AtmView<'_>) -> Markup {
    let words = context.words();
    html! {
        div.row.ways.scripted {
            button #share .btn type="button" hidden data-copied=(words.link_copied) { (words.share) }
            button #save .btn type="button" hidden aria-pressed="false" data-atm=(view.entry.atm.id) data-title=(view.record.title())
                data-address=(view.record.address.one_line().unwrap_or_default()) data-saved=(words.saved)
                data-unsaved=(words.unsaved) { (words.save) }
            @if !view.record.address.is_empty() {
                button #copy .btn type="button" hidden data-copied=(words.address_copied) { (words.copy_address) }
            }
        }
        p #copied .vh role="status" {}
    }
}

/// Renders the scripts of the page. An ATM that is gone has no links and buttons.
pub(super) fn scripts(context: &PageContext, view: &AtmView<'_>) -> Markup {
    let origin = &context.service.origin;
    html! {
        @if !view.is_gone() {
            script type="module" src=(MACHINE_SCRIPT.link(origin)) {}
            @if !view.record.address.is_empty() { script type="module" src=(COPY_SCRIPT.link(origin)) {} }
        }
    }
}

/// Returns a phone number with its link.
fn phone_link(phone: &str) -> Option<(&str, String)> {
    let digits: String = phone.chars().filter(|letter| letter.is_ascii_digit() || *letter == '+').collect();
    Some((phone, href(&format!("tel:{digits}"))?))
}
