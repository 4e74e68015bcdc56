//! The translated texts of the locator's pages, with a submodule for each language. A text with a variable part is a
//! function of this part, so that no translation can omit it.

mod english;
mod english_words;
mod spanish;
mod spanish_words;

use jiff::Timestamp;
use jiff::civil::{Date, Time, Weekday};
use jiff::tz::TimeZone;
use maud::Markup;
use signpost_locator::gazetteer::PlaceNote;
use signpost_locator::{AtmStatus, Country, Currency, Distance, StatusReason};
use signpost_platform::pages::Language;
use signpost_platform::pages::words::MarkupFn;

use super::fact::UnknownFact;
use super::filters::ListFilter;

type Text = &'static str;
/// A function that formats a text with one variable part.
type WithText = fn(&str) -> String;
/// A function that formats a text with two variable parts.
type TwoTexts = fn(&str, &str) -> String;

/// The statuses with their names and explanations.
type StatusMeanings = [(AtmStatus, Text, Text); 6];

/// The texts of the locator's pages in a language.
#[derive(Debug)]
pub(super) struct LocatorWords {
    pub(super) start: Text,
    pub(super) about_data: Text,
    pub(super) for_assistants: Text,
    pub(super) sources_and_licences: Text,
    pub(super) how_status: Text,
    pub(super) sample_data: Text,
    pub(super) data_of: WithText,
    pub(super) data_between: TwoTexts,
    pub(super) undated_data: WithText,
    pub(super) no_advice: Text,

    pub(super) home_title: Text,
    pub(super) home_description: Text,
    pub(super) by_state: Text,
    pub(super) country: fn(Country) -> Text,
    pub(super) by_country: Text,
    pub(super) other_countries: Text,
    pub(super) no_machines: Text,
    pub(super) most_machines: Text,
    pub(super) all_towns: Text,
    pub(super) all_of_area: WithText,
    pub(super) no_such_page: Text,
    pub(super) no_such_page_text: Text,

    pub(super) search: Text,
    pub(super) search_label: Text,
    pub(super) search_examples: Text,
    pub(super) near_me: Text,
    pub(super) near_asking: Text,
    pub(super) near_denied: Text,
    pub(super) near_failed: Text,
    pub(super) near_insecure: Text,
    pub(super) near_scriptless: Text,
    /// The user, as the place of a search.
    pub(super) near_you: Text,
    /// Formats the note about the rounded location of the user from its coordinates.
    pub(super) near_rounded: WithText,
    pub(super) saved_list: Text,
    pub(super) saved_note: Text,
    pub(super) saved_remove: Text,
    pub(super) near_title: MarkupFn,
    pub(super) near_what: Text,
    pub(super) say_where: Text,
    pub(super) too_long: Text,
    pub(super) bad_coordinates: Text,
    pub(super) too_large: Text,
    pub(super) swapped: Text,
    pub(super) which_one: Text,
    pub(super) place_unknown: Text,
    pub(super) place_note: fn(&PlaceNote) -> String,
    pub(super) did_you_mean: Text,
    pub(super) none_near: WithText,
    pub(super) nearest_is: fn(&Markup, &str) -> Markup,
    pub(super) show_it: Text,

    pub(super) city_title: WithText,
    pub(super) city_description: fn(usize, &str) -> String,
    pub(super) machines: fn(usize) -> Markup,
    pub(super) nearest_first: Text,
    pub(super) towns_close_by: Text,
    pub(super) filter: Text,
    pub(super) filter_name: fn(ListFilter) -> Text,
    /// The rest of the name of the filter for checked ATMs, for wide windows.
    pub(super) within_a_year: Text,
    /// Formats the sentence about facts that are unknown for all ATMs of a list, from their number.
    pub(super) unknown_for_all: fn(&[UnknownFact], usize) -> String,
    pub(super) hours_known: fn(usize, usize) -> String,
    pub(super) none_so: Text,
    pub(super) show_all: Text,
    pub(super) rows_before: Text,
    pub(super) rows_after: fn(usize) -> String,
    pub(super) no_address: Text,
    pub(super) buy_and_sell: Text,
    pub(super) buy_only: Text,
    pub(super) sell_only: Text,
    pub(super) trades_nothing: Text,
    pub(super) map: Text,

    pub(super) open: Text,
    pub(super) open_always: Text,
    pub(super) open_until: WithText,
    pub(super) closed: Text,
    pub(super) closed_until: WithText,
    pub(super) closed_for_now: Text,
    pub(super) closed_for_good: Text,
    pub(super) out_of_service: Text,
    pub(super) unknown: Text,
    /// Formats an unknown status from its reason and the year of the last report.
    pub(super) unknown_status: fn(StatusReason<'_>, Option<i16>) -> String,
    pub(super) not_confirmed: Text,
    pub(super) not_confirmed_since: fn(i16) -> String,
    pub(super) confirmed: WithText,
    /// Formats the confirmation by a number of people, from the time since then.
    pub(super) confirmed_by: fn(usize, &str) -> String,
    pub(super) reported: WithText,
    /// Formats a number of days before today.
    pub(super) ago: fn(i32) -> String,
    pub(super) checked_on: WithText,

    pub(super) in_force_since: WithText,
    pub(super) sent_here: Text,
    /// Formats the number of laws that the warning about fraud precedes.
    pub(super) and_laws: fn(usize) -> String,
    pub(super) call_someone: Text,
    pub(super) report_fraud: MarkupFn,

    pub(super) machine_title: TwoTexts,
    pub(super) machine_of: MarkupFn,
    pub(super) machine_kind: Text,
    pub(super) machine_gone: Text,
    pub(super) machine_gone_text: Text,
    /// Formats the note about an ATM that its source no longer lists, from the name of the source and the date.
    pub(super) unlisted: TwoTexts,
    pub(super) unlisted_text: Text,
    pub(super) status: Text,
    pub(super) local_time: TwoTexts,
    pub(super) directions: Text,
    pub(super) directions_by: Text,
    pub(super) other_app: Text,
    pub(super) coordinates: Text,
    pub(super) call: Text,
    pub(super) website: Text,
    pub(super) copy_address: Text,
    pub(super) address_copied: Text,
    pub(super) share: Text,
    pub(super) link_copied: Text,
    pub(super) save: Text,
    pub(super) saved: Text,
    pub(super) unsaved: Text,
    pub(super) machines_close_by: Text,
    pub(super) what_it_does: Text,
    pub(super) not_known: Text,
    pub(super) yes: Text,
    pub(super) no: Text,
    pub(super) buy: Text,
    pub(super) sell: Text,
    pub(super) coins: Text,
    pub(super) fee: Text,
    pub(super) fee_buying: Text,
    pub(super) fee_selling: Text,
    /// Formats an amount of money, with its currency if known.
    pub(super) money: fn(u32, Option<Currency>) -> String,
    /// Formats what an amount of money buys, from both amounts.
    pub(super) buys_about: TwoTexts,
    pub(super) limit: Text,
    pub(super) limit_least: WithText,
    pub(super) limit_once: WithText,
    pub(super) limit_day: WithText,
    pub(super) limit_kyc: WithText,
    pub(super) bring: Text,
    pub(super) bring_nothing: Text,
    pub(super) bring_phone: Text,
    pub(super) bring_id: Text,
    pub(super) operator: Text,
    pub(super) located_in: Text,
    pub(super) how_to_find: Text,
    pub(super) wheelchair: Text,
    pub(super) operator_says: Text,
    pub(super) closes_on: Text,
    pub(super) is_this_right: Text,
    pub(super) correct_at_source: Text,
    pub(super) where_from: Text,
    pub(super) sources: Text,
    pub(super) source: Text,
    pub(super) says: Text,
    pub(super) dated: Text,
    pub(super) no_date: Text,
    pub(super) taken_on: Text,
    pub(super) part: fn(&'static str) -> Text,

    pub(super) hours: Text,
    pub(super) hours_unknown: Text,
    pub(super) hours_in_words: Text,
    pub(super) always: Text,
    pub(super) all_day: Text,
    pub(super) closed_that_day: Text,
    pub(super) uncertain: Text,
    pub(super) from_to: TwoTexts,
    pub(super) today: Text,
    pub(super) time_zone: WithText,

    pub(super) about_lead: Text,
    pub(super) licence: Text,
    pub(super) machines_head: Text,
    pub(super) places_from: Text,
    pub(super) status_lead: Text,
    pub(super) statuses: StatusMeanings,
    pub(super) status_end: Text,
    pub(super) advisories: Text,
    pub(super) advisories_text: Text,
    pub(super) your_searches: Text,
    pub(super) your_searches_text: Text,
    pub(super) asks_geocoder: WithText,

    pub(super) date: fn(Date) -> String,
    /// Formats a date without its year.
    pub(super) day_and_month: fn(Date) -> String,
    pub(super) long_date: fn(Date) -> String,
    pub(super) time: fn(Time) -> String,
    pub(super) weekday: fn(Weekday) -> Text,
    pub(super) short_weekday: fn(Weekday) -> Text,
    pub(super) on_day: TwoTexts,
    pub(super) number: fn(usize) -> String,
    /// Formats a decimal number that is written with a point.
    pub(super) decimal: WithText,
    pub(super) distance: fn(Distance) -> String,
}

/// Returns the UTC date of a time.
pub(super) fn utc_date(at: Timestamp) -> Date {
    TimeZone::UTC.to_datetime(at).date()
}

/// Capitalizes the first letter of a text.
pub(super) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns the texts of the locator's pages in a language.
pub(super) fn locator_words(language: Language) -> &'static LocatorWords {
    match language {
        Language::English => &english::LOCATOR,
        Language::Spanish => &spanish::LOCATOR,
    }
}

/// Formats a distance, with one decimal place if it is short: `0.4`, `12`.
fn rounded(distance: f64) -> String {
    if distance < 9.95 { format!("{distance:.1}") } else { format!("{distance:.0}") }
}

/// Formats a whole amount of money, such as `$100` or `100 EUR`.
fn dollars(amount: u32, currency: Option<Currency>) -> String {
    match currency.map(|currency| currency.to_string()) {
        Some(code) if code != "USD" => format!("{amount}\u{a0}{code}"),
        Some(_) => format!("${amount}"),
        None => amount.to_string(),
    }
}

/// Formats a number with a separator between thousands.
fn grouped(number: usize, separator: &str) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push_str(separator);
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_for_people() {
        for (number, english) in [(0, "0"), (999, "999"), (1000, "1,000"), (9_865, "9,865"), (1_234_567, "1,234,567")] {
            assert_eq!((english::LOCATOR.number)(number), english);
        }
        assert_eq!((spanish::LOCATOR.number)(9_865), "9865");
        for (number, in_spanish) in [("16.5", "16,5"), ("12", "12")] {
            assert_eq!((english::LOCATOR.decimal)(number), number);
            assert_eq!((spanish::LOCATOR.decimal)(number), in_spanish);
        }
        assert_eq!((spanish::LOCATOR.number)(12_345), "12\u{a0}345");
    }

    #[test]
    fn times_and_distances_are_formatted_for_people() {
        let (english, spanish) = (&english::LOCATOR, &spanish::LOCATOR);
        for (hour, minute, words, digits) in [
            (0, 0, "midnight", "medianoche"),
            (7, 0, "7 am", "7:00"),
            (12, 0, "noon", "12:00"),
            (21, 48, "9:48 pm", "21:48"),
        ] {
            let time = Time::constant(hour, minute, 0, 0);
            assert_eq!(((english.time)(time), (spanish.time)(time)), (words.to_owned(), digits.to_owned()));
        }
        assert_eq!((english.distance)(Distance::miles(0.44)), "0.4 mi");
        assert_eq!((english.distance)(Distance::miles(41.2)), "41 mi");
        assert_eq!((spanish.distance)(Distance::kilometres(1.25)), "1,2 km");
        let date = jiff::civil::date(2026, 11, 12);
        assert_eq!(((english.date)(date), (spanish.date)(date)), ("12 Nov 2026".to_owned(), "12 nov 2026".to_owned()));
        assert_eq!((spanish.long_date)(date), "12 de noviembre de 2026");
    }
}
