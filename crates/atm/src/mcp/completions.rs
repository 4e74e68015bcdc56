//! What a half-typed argument could become, from the machines that are there.

use std::collections::BTreeSet;

use signpost_locator::{Region, fold};
use signpost_mcp::{Completion, Texts};

use crate::locator::Locator;

/// Codes of the states and provinces that have machines, by code or name.
pub(crate) fn state(locator: &Locator, typed: &str, _: &Texts) -> Completion {
    let (snapshot, typed) = (locator.catalogue.snapshot(), fold(typed));
    let fits = |region: &Region| fold(region.code()).starts_with(&typed) || fold(region.name()).starts_with(&typed);
    snapshot.regions().map(|(region, _)| region).filter(fits).map(Region::code).collect()
}

/// Cities that have machines, of the state if that is known.
pub(crate) fn city(locator: &Locator, typed: &str, known: &Texts) -> Completion {
    let (snapshot, typed) = (locator.catalogue.snapshot(), fold(typed));
    let state = known.get("state").and_then(|state| Region::parse(state));
    let of = |region: Region| state.is_none_or(|state| region == state);
    let cities = snapshot.cities().filter(|(region, folded, _)| of(*region) && folded.starts_with(&typed));
    cities.map(|(_, _, name)| name).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Places that have machines, as `City, ST`.
pub(crate) fn location(locator: &Locator, typed: &str, _: &Texts) -> Completion {
    let (snapshot, typed) = (locator.catalogue.snapshot(), fold(typed));
    let cities = snapshot.cities().filter(|(_, folded, _)| folded.starts_with(&typed));
    let names = cities.map(|(region, _, name)| format!("{name}, {}", region.code()));
    names.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Ids that begin with the digits typed.
pub(crate) fn atm_id(locator: &Locator, typed: &str, _: &Texts) -> Completion {
    let snapshot = locator.catalogue.snapshot();
    let ids = snapshot.entries().iter().map(|entry| entry.machine.id.get());
    match typed.trim() {
        "" => ids.collect(),
        typed => match typed.parse::<u64>().ok().filter(|digits| *digits > 0) {
            Some(digits) => ids.filter(|id| begins(*id, digits)).collect(),
            None => Completion::default(),
        },
    }
}

/// Whether a number is written with these digits first.
fn begins(number: u64, digits: u64) -> bool {
    let (length, of) = (number.ilog10(), digits.ilog10());
    length >= of && number / 10_u64.pow(length - of) == digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_begin_with_digits() {
        for number in [1, 7, 10, 12, 99, 100, 120, 1_234, 9_007_199_254_740_992] {
            for digits in [1, 7, 9, 10, 12, 123, 90, 9_007_199_254_740_992] {
                assert_eq!(begins(number, digits), number.to_string().starts_with(&digits.to_string()));
            }
        }
    }
}
