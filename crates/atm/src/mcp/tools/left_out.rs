//! The notice about ATMs that a search omitted because it is unknown whether they match the filter.

use crate::catalogue::{AtmFilter, PropertyCounts, TradeSide, ValueCounts};

/// Returns a notice with the numbers of ATMs at a place with known and unknown properties, or `None` if all of them
/// match. `place` is a text such as `within 25 miles of Austin, Texas`.
pub(super) fn left_out(known: &PropertyCounts, filter: &AtmFilter, place: &str) -> Option<String> {
    if known.matching == known.machines {
        return None;
    }
    let mut parts = vec![format!(
        "{} {place}",
        if known.machines == 1 { "1 machine is".to_owned() } else { format!("{} machines are", known.machines) }
    )];
    parts.extend(filter.open_now.then(|| open_now(known)));
    parts.extend(offer_phrase(filter).map(|offer| match known.offer {
        ValueCounts { yes: 0, no: 0 } => format!("whether they {offer} is known of none"),
        answers => split(answers, &offer),
    }));
    let parts = parts.join("; ");
    let count = match known.unclear {
        0 => return Some(format!("{parts}.")),
        all if all == known.machines => "All of them are".to_owned(),
        1 => "The one of which it is not known is".to_owned(),
        some => format!("The {some} of which it is not known are"),
    };
    Some(format!("{parts}. {count} left out: call again without {} to list them.", arguments(filter).join(" and ")))
}

fn open_now(known: &PropertyCounts) -> String {
    let hours = match known.with_hours {
        0 => "hours are known of none".to_owned(),
        some => format!("hours are known of {some}"),
    };
    match known.open {
        ValueCounts { yes: 0, no: 0 } if known.with_hours == 0 => hours,
        ValueCounts { yes: 0, no: 0 } => format!("{hours}, but of none whether it is open now"),
        answers => format!("{hours}; {}", split(answers, "be open now")),
    }
}

/// Formats the numbers of ATMs that are known to have a property and known not to have it.
fn split(answers: ValueCounts, property: &str) -> String {
    let yes = match answers.yes {
        0 => "none is".to_owned(),
        1 => "1 is".to_owned(),
        more => format!("{more} are"),
    };
    format!("{yes} known to {property}, {} not to", answers.no)
}

/// Returns the service and the coin of the filter as a verb phrase.
fn offer_phrase(filter: &AtmFilter) -> Option<String> {
    let coin = filter.coin.as_ref().map_or("bitcoin", |coin| coin.code());
    match filter.service {
        Some(TradeSide::Buy) => Some(format!("sell {coin}")),
        Some(TradeSide::Sell) => Some(format!("pay cash for {coin}")),
        None => filter.coin.is_some().then(|| format!("deal in {coin}")),
    }
}

/// Returns the names of the tool arguments that the filter sets.
fn arguments(filter: &AtmFilter) -> Vec<&'static str> {
    let all = [(filter.open_now, "openNow"), (filter.service.is_some(), "service"), (filter.coin.is_some(), "coin")];
    all.into_iter().filter(|(is_asked, _)| *is_asked).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use signpost_locator::Coin;

    use super::*;

    const PLACE: &str = "within 25 miles of Austin, Texas";

    fn answers(yes: usize, no: usize) -> ValueCounts {
        ValueCounts { yes, no }
    }

    #[test]
    fn omitted_results_are_counted() {
        let open_now = || AtmFilter { open_now: true, ..AtmFilter::default() };
        let coin = || AtmFilter { coin: Coin::parse("DOGE"), ..AtmFilter::default() };
        let both = || AtmFilter { open_now: true, service: Some(TradeSide::Sell), coin: None };
        let none = PropertyCounts { machines: 91, unclear: 91, offer: answers(91, 0), ..PropertyCounts::default() };
        for (known, filter, expected) in [
            (
                none,
                open_now(),
                "91 machines are within 25 miles of Austin, Texas; hours are known of none. All of them are \
                                left out: call again without openNow to list them.",
            ),
            (
                PropertyCounts { with_hours: 3, ..none },
                open_now(),
                "hours are known of 3, but of none whether it is open now. All",
            ),
            (
                PropertyCounts { matching: 10, with_hours: 20, open: answers(10, 5), unclear: 76, ..none },
                open_now(),
                "hours are known of 20; 10 are known to be open now, 5 not to. The 76 of which it is not known are left out",
            ),
            (
                PropertyCounts { offer: answers(0, 0), ..none },
                coin(),
                "; whether they deal in DOGE is known of none. All of them",
            ),
            (
                PropertyCounts { machines: 2, matching: 1, offer: answers(1, 1), unclear: 0, ..none },
                coin(),
                "2 machines are within 25 miles of Austin, Texas; 1 is known to deal in DOGE, 1 not to.",
            ),
            (
                PropertyCounts { machines: 1, offer: answers(0, 0), unclear: 1, ..none },
                both(),
                "1 machine is within 25 miles of Austin, Texas; hours are known of none; whether they pay cash for bitcoin is \
              known of none. All of them are left out: call again without openNow and service to list them.",
            ),
        ] {
            let parts = left_out(&known, &filter, PLACE).unwrap();
            assert!(parts.contains(expected), "{parts}");
        }
        let all = PropertyCounts { machines: 3, matching: 3, ..PropertyCounts::default() };
        assert_eq!(left_out(&all, &coin(), PLACE), None);
        assert_eq!(left_out(&PropertyCounts::default(), &coin(), PLACE), None);
    }
}
