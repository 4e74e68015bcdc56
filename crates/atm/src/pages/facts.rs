//! What a machine does, and on which terms.

use maud::{Markup, html};
use signpost_locator::{CashLimits, Decimal, Fees, Kyc, Tri};

use super::visit::LocatorVisit;
use super::words::LocatorWords;
use crate::view::MachineView;

/// The card of what it does. What is missing is said to be not known.
pub(super) fn facts(visit: &LocatorVisit, view: &MachineView<'_>) -> Markup {
    let (words, record) = (visit.words(), view.record);
    let more = record.more.as_deref();
    let fees = more.map(|more| &more.fees).filter(|fees| !fees.is_empty());
    let limits = more.map(|more| &more.limits).filter(|limits| !limits.is_empty());
    let fact = |name: &str, value: &Option<String>| {
        html! { dt { (name) } dd { (value.as_deref().unwrap_or(words.not_known)) } }
    };
    html! {
        section.card {
            h2 { (words.what_it_does) }
            dl.facts {
                dt { (words.buy) } dd { (answer(words, record.buy)) }
                dt { (words.sell) } dd { (answer(words, record.sell)) }
                (fact(words.coins, &coins(view)))
                (fact(words.fee, &fees.map(|fees| fee_text(words, fees))))
                (fact(words.limit, &limits.map(|limits| limit_text(words, limits))))
                @if let Some(kyc) = more.and_then(|more| more.kyc.known()) { dt { (words.bring) } dd { (id_text(words, kyc)) } }
                @if let Some(operator) = &record.operator { dt { (words.operator) } dd { bdi { (operator) } } }
                @if let Some(shop) = more.and_then(|more| more.located_in.as_ref()) { dt { (words.located_in) } dd { bdi { (shop) } } }
                @if let Some(note) = more.and_then(|more| more.note.as_ref()) { dt { (words.how_to_find) } dd { bdi { (note) } } }
                @if let Some(wheelchair) = more.and_then(|more| more.wheelchair.known()) { dt { (words.wheelchair) } dd { (answer(words, wheelchair)) } }
                @if let Some(notice) = more.and_then(|more| more.notice.as_ref()) { dt { (words.operator_says) } dd { bdi { (notice) } } }
            }
        }
    }
}

fn answer(words: &LocatorWords, known: Tri) -> &'static str {
    match known {
        Tri::Yes => words.yes,
        Tri::No => words.no,
        Tri::Unknown => words.not_known,
    }
}

/// The coins that it is known to deal in.
fn coins(view: &MachineView<'_>) -> Option<String> {
    let known = view.record.coins.iter().filter(|(_, deals)| **deals == Tri::Yes);
    let codes: Vec<&str> = known.map(|(coin, _)| coin.code()).collect();
    (!codes.is_empty()).then(|| codes.join(", "))
}

fn fee_text(words: &LocatorWords, fees: &Fees) -> String {
    let currency = fees.currency.map(|currency| format!(" {currency}")).unwrap_or_default();
    let side = |name: &str, percent: Option<&Decimal>, fixed: Option<&Decimal>| {
        let parts = [
            percent.map(|percent| format!("{} %", (words.decimal)(percent.as_str()))),
            fixed.map(|fixed| format!("{}{currency}", (words.decimal)(fixed.as_str()))),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("{name} {}", parts.join(" + ")))
    };
    let sides = [
        side(words.fee_buying, fees.buy_percent.as_ref(), fees.buy_fixed.as_ref()),
        side(words.fee_selling, fees.sell_percent.as_ref(), fees.sell_fixed.as_ref()),
    ];
    sides.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn limit_text(words: &LocatorWords, limits: &CashLimits) -> String {
    let currency = limits.currency.map(|currency| format!(" {currency}")).unwrap_or_default();
    let amount = |name: fn(&str) -> String, value: Option<&Decimal>| {
        value.map(|value| name(&format!("{}{currency}", (words.decimal)(value.as_str()))))
    };
    let all = [
        amount(words.limit_least, limits.min.as_ref()),
        amount(words.limit_once, limits.max.as_ref()),
        amount(words.limit_day, limits.max_day.as_ref()),
        amount(words.limit_kyc, limits.kyc_above.as_ref()),
    ];
    all.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn id_text(words: &LocatorWords, kyc: Kyc) -> &'static str {
    match kyc {
        Kyc::None => words.bring_nothing,
        Kyc::Phone => words.bring_phone,
        Kyc::Id => words.bring_id,
        Kyc::Unknown => words.not_known,
    }
}
