//! Completions of prompt and resource arguments from the values in the catalogue.

use std::collections::BTreeSet;

use signpost_locator::{Region, fold};
use signpost_mcp::{Completion, StringMap};

use crate::locator::Locator;

/// Completes the code of a state or province with ATMs from the start of its code or name.
pub(crate) fn state(locator: &Locator, typed: &str, _: &StringMap) -> Completion {
    let typed = fold(typed);
    let snapshot = locator.catalogue.snapshot();
    let regions = snapshot.regions().map(|(region, _)| region);
    let matching =
        regions.filter(|region| [region.code(), region.name()].iter().any(|name| fold(name).starts_with(&typed)));
    matching.map(Region::code).collect()
}

/// Completes the name of a city with ATMs, limited to the state if it is already given.
pub(crate) fn city(locator: &Locator, typed: &str, known: &StringMap) -> Completion {
    let typed = fold(typed);
    let snapshot = locator.catalogue.snapshot();
    let state = known.get("state").and_then(|state| Region::parse(state));
    let cities = snapshot
        .cities()
        .filter(|(region, folded, _)| state.is_none_or(|state| *region == state) && folded.starts_with(&typed));
    cities.map(|(_, _, name)| name).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Completes a location of the form `City, ST` from the cities with ATMs.
pub(crate) fn location(locator: &Locator, typed: &str, _: &StringMap) -> Completion {
    let typed = fold(typed);
    let snapshot = locator.catalogue.snapshot();
    let cities = snapshot.cities().filter(|(_, folded, _)| folded.starts_with(&typed));
    let names = cities.map(|(region, _, name)| format!("{name}, {}", region.code()));
    names.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Completes the ID of an ATM from its first digits.
pub(crate) fn atm_id(locator: &Locator, typed: &str, _: &StringMap) -> Completion {
    let snapshot = locator.catalogue.snapshot();
    let ids = snapshot.entries().iter().map(|entry| entry.atm.id.get());
    match typed.trim() {
        "" => ids.collect(),
        typed => match typed.parse::<u64>() {
            Ok(digits) if digits > 0 => ids.filter(|id| starts_with(*id, digits)).collect(),
            _ => Completion::default(),
        },
    }
}

/// Returns `true` if the decimal form of a number starts with these digits.
fn starts_with(number: u64, digits: u64) -> bool {
    match number.ilog10().checked_sub(digits.ilog10()) {
        Some(rest) => number / 10_u64.pow(rest) == digits,
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_completed_from_digits() {
        for number in [1, 7, 10, 12, 99, 100, 120, 1_234, 9_007_199_254_740_992] {
            for digits in [1, 7, 9, 10, 12, 123, 90, 9_007_199_254_740_992] {
                assert_eq!(starts_with(number, digits), number.to_string().starts_with(&digits.to_string()));
            }
        }
    }
}
