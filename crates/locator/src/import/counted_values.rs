//! Values with their numbers of rows.

use std::collections::BTreeMap;
use std::fmt;

/// Maximum number of different values that are counted by themselves.
const MAX_VALUES: usize = 1_000;
/// Maximum number of characters of a value.
const MAX_VALUE_CHARS: usize = 60;
/// Maximum number of values in a message.
const MAX_SHOWN: usize = 20;

/// Values of a column or tag with their numbers of rows. At most 1,000 different values are counted by themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountedValues {
    counts: BTreeMap<String, usize>,
    /// The number of rows with further values.
    others: usize,
}

impl CountedValues {
    /// Counts a row with this value.
    pub(super) fn add(&mut self, value: &str) {
        let value: String = signpost_text::clean_line(value).trim().chars().take(MAX_VALUE_CHARS).collect();
        if let Some(count) = self.counts.get_mut(&value) {
            *count += 1;
        } else if self.counts.len() < MAX_VALUES {
            self.counts.insert(value, 1);
        } else {
            self.others += 1;
        }
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn total(&self) -> usize {
        self.counts.values().sum::<usize>() + self.others
    }

    /// Returns the 20 values with the most rows, the most frequent first, and their numbers of rows.
    #[must_use]
    pub fn most_frequent(&self) -> Vec<(&str, usize)> {
        let mut values: Vec<(&str, usize)> =
            self.counts.iter().map(|(value, count)| (value.as_str(), *count)).collect();
        values.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        values.truncate(MAX_SHOWN);
        values
    }
}

impl fmt::Display for CountedValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.most_frequent();
        for (at, (value, count)) in shown.iter().enumerate() {
            let separator = if at == 0 { "" } else { ", " };
            write!(f, "{separator}{value} ({count})")?;
        }
        let others = self.total() - shown.iter().map(|(_, count)| count).sum::<usize>();
        if others > 0 { write!(f, " and others ({others})") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_frequent_values_come_first() {
        let mut values = CountedValues::default();
        for value in ["bank", "atm", "atm", ""] {
            values.add(value);
        }
        assert_eq!(values.most_frequent(), [("atm", 2), ("", 1), ("bank", 1)]);
        assert_eq!(values.to_string(), "atm (2),  (1), bank (1)");
    }

    #[test]
    fn values_are_bounded_and_counted() {
        let mut values = CountedValues::default();
        for number in 0..MAX_VALUES + 50 {
            values.add(&format!("value {number}{}", "x".repeat(200)));
        }
        assert_eq!((values.total(), values.counts.len(), values.others), (MAX_VALUES + 50, MAX_VALUES, 50));
        let text = values.to_string();
        assert!(text.len() < 2_000 && text.ends_with(" and others (1030)"), "{text}");
    }
}
