//! The card on an ATM's page with its services, fees and limits.

use maud::{Markup, html};
use signpost_locator::{CashLimits, Country, Currency, Decimal, Fees, Kyc, Tri};

use super::context::PageContext;
use super::words::LocatorWords;
use crate::view::AtmView;

/// Renders the card. Missing coins, fees and limits are shown as unknown; other missing values are omitted.
pub(super) fn facts(context: &PageContext, view: &AtmView<'_>) -> Markup {
    let words = context.words();
    let record = view.record;
    let more = record.more.as_deref();
    let coins = traded_coins(view);
    let coins = (!coins.is_empty()).then(|| coins.join(", "));
    let fee = more.filter(|more| !more.fees.is_empty()).map(|more| fee_text(words, &more.fees));
    let money = buys_about(words, view);
    let limit = more.filter(|more| !more.limits.is_empty()).map(|more| limit_text(words, &more.limits));
    html! {
        section.card {
            h2 { (words.what_it_does) }
            dl.facts {
                dt { (words.buy) } dd { (answer(words, record.buy)) }
                dt { (words.sell) } dd { (answer(words, record.sell)) }
                dt { (words.coins) } dd { (coins.as_deref().unwrap_or(words.not_known)) }
                dt { (words.fee) }
                dd {
                    @if let Some(money) = money { (money) " (" (fee.as_deref().unwrap_or_default()) ")" }
                    @else { (fee.as_deref().unwrap_or(words.not_known)) }
                }
                dt { (words.limit) } dd { (limit.as_deref().unwrap_or(words.not_known)) }
                @if let Some(kyc) = more.and_then(|more| more.kyc.known()) { dt { (words.bring) } dd { (id_text(words, kyc)) } }
                @if let Some(operator) = &record.operator { dt { (words.operator) } dd { bdi { (operator) } } }
                @if let Some(shop) = more.and_then(|more| more.located_in.as_ref()) { dt { (words.located_in) } dd { bdi { (shop) } } }
                @if let Some(note) = more.and_then(|more| more.note.as_ref()) { dt { (words.how_to_find) } dd { bdi { (note) } } }
                @if let Some(wheelchair) = more.and_then(|more| more.wheelchair.known()) { dt { (words.wheelchair) } dd { (answer(words, wheelchair)) } }
                @if let Some(date) = more.and_then(|more| more.end_date) { dt { (words.closes_on) } dd { ((words.date)(date)) } }
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

/// Returns the codes of the coins that the ATM is known to trade.
pub(super) fn traded_coins<'a>(view: &AtmView<'a>) -> Vec<&'a str> {
    let traded = view.record.coins.iter().filter(|(_, trades)| **trades == Tri::Yes);
    traded.map(|(coin, _)| coin.code()).collect()
}

fn fee_text(words: &LocatorWords, fees: &Fees) -> String {
    let currency = fees.currency.map(|currency| format!(" {currency}")).unwrap_or_default();
    let mut sides = Vec::new();
    for (name, percent, fixed) in [
        (words.fee_buying, &fees.buy_percent, &fees.buy_fixed),
        (words.fee_selling, &fees.sell_percent, &fees.sell_fixed),
    ] {
        let percent = percent.as_ref().map(|percent| format!("{} %", (words.decimal)(percent.as_str())));
        let fixed = fixed.as_ref().map(|fixed| format!("{}{currency}", (words.decimal)(fixed.as_str())));
        let parts: Vec<String> = percent.into_iter().chain(fixed).collect();
        if !parts.is_empty() {
            sides.push(format!("{name} {}", parts.join(" + ")));
        }
    }
    sides.join("; ")
}

/// The amount of money in the example of a fee.
const EXAMPLE_AMOUNT: u32 = 100;

/// Formats the fee of a purchase as money, such as `$100 buys about $87`. Returns `None` if the percentage is unknown,
/// or if the fee exceeds the amount.
pub(super) fn buys_about(words: &LocatorWords, view: &AtmView<'_>) -> Option<String> {
    let fees = &view.record.more.as_deref()?.fees;
    let bought = bought_for(EXAMPLE_AMOUNT, fees.buy_percent.as_ref()?, fees.buy_fixed.as_ref())?;
    let is_american = view.record.address.country == Some(Country::UNITED_STATES);
    let currency = fees.currency.or_else(|| if is_american { Currency::parse("USD") } else { None });
    Some((words.buys_about)(&(words.money)(EXAMPLE_AMOUNT, currency), &(words.money)(bought, currency)))
}

/// Returns the value of the coins that an amount of money buys, rounded to whole units: the fixed fee is deducted first,
/// and the percentage is a markup on the price. `None` if nothing is left.
fn bought_for(amount: u32, percent: &Decimal, fixed: Option<&Decimal>) -> Option<u32> {
    let number = |decimal: &Decimal| decimal.as_str().parse::<f64>().ok();
    let fixed = match fixed {
        Some(fixed) => number(fixed)?,
        None => 0.0,
    };
    let bought = ((f64::from(amount) - fixed) / (1.0 + number(percent)? / 100.0)).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be from 1 to the amount")]
    let whole = (1.0..=f64::from(amount)).contains(&bought).then_some(bought as u32);
    whole
}

fn limit_text(words: &LocatorWords, limits: &CashLimits) -> String {
    let currency = limits.currency.map(|currency| format!(" {currency}")).unwrap_or_default();
    let mut texts = Vec::new();
    for (text, limit) in [
        (words.limit_least, &limits.min),
        (words.limit_once, &limits.max),
        (words.limit_day, &limits.max_day),
        (words.limit_kyc, &limits.kyc_above),
    ] {
        if let Some(limit) = limit {
            texts.push(text(&format!("{}{currency}", (words.decimal)(limit.as_str()))));
        }
    }
    texts.join("; ")
}

fn id_text(words: &LocatorWords, kyc: Kyc) -> &'static str {
    match kyc {
        Kyc::None => words.bring_nothing,
        Kyc::Phone => words.bring_phone,
        Kyc::Id => words.bring_id,
        Kyc::Unknown => words.not_known,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fee_is_a_markup_after_the_fixed_fee() {
        for (percent, fixed, bought) in [
            ("15", None, Some(87)),
            ("0", None, Some(100)),
            ("16.5", None, Some(86)),
            ("20", Some("4"), Some(80)),
            ("10", Some("100"), None),
            ("10", Some("250"), None),
            ("999999999999", None, None),
        ] {
            let percent = Decimal::parse(percent).expect("a percentage");
            let fixed = fixed.map(|fixed| Decimal::parse(fixed).expect("an amount"));
            assert_eq!(bought_for(100, &percent, fixed.as_ref()), bought, "{percent:?} {fixed:?}");
        }
    }
}
