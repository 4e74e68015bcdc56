//! The terms of trade of an ATM: fees, limits, and required identification.

use std::fmt;

use arcstr::ArcStr;
use serde::{Deserialize, Deserializer, Serialize};

use crate::stored_form::from_text;
use crate::tri::Tri;

/// An exact, non-negative decimal number: up to 12 digits before the point and 8 after it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(into = "String")]
pub struct Decimal(ArcStr);

/// The code of a currency (ISO 4217), such as `USD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(into = "String")]
pub struct Currency([u8; 3]);

/// The fees of an ATM.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fees {
    /// Percentage fee of a purchase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buy_percent: Option<Decimal>,
    /// Fixed fee of a purchase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buy_fixed: Option<Decimal>,
    /// Percentage fee of a sale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sell_percent: Option<Decimal>,
    /// Fixed fee of a sale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sell_fixed: Option<Decimal>,
    /// The currency of the amounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<Currency>,
}

/// The cash limits of an ATM.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CashLimits {
    /// Minimum amount of a transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Decimal>,
    /// Maximum amount of a transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Decimal>,
    /// Maximum amount per day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_day: Option<Decimal>,
    /// Maximum amount without identification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kyc_above: Option<Decimal>,
    /// The currency of the amounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<Currency>,
}

/// The identification that an ATM requires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kyc {
    /// No identification.
    None,
    /// A telephone number.
    Phone,
    /// An identity document.
    Id,
    /// The source does not state it.
    #[default]
    Unknown,
}

/// The trading options of an ATM for a coin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trade {
    /// Whether it sells the coin for cash.
    pub buy: Tri,
    /// Whether it pays out cash for the coin.
    pub sell: Tri,
    /// Whether it accepts or sends the coin over the Lightning network.
    pub lightning: Tri,
}

impl Kyc {
    /// Returns the value, or `None` if it is [`Kyc::Unknown`].
    #[must_use]
    pub fn known(self) -> Option<Self> {
        (self != Self::Unknown).then_some(self)
    }
}

impl Decimal {
    /// Parses a number. A currency sign, a per cent sign and commas between thousands are ignored.
    ///
    /// ```
    /// # use signpost_locator::Decimal;
    /// assert_eq!(Decimal::parse("$1,000.50").unwrap().as_str(), "1000.50");
    /// assert_eq!(Decimal::parse("12%").unwrap().as_str(), "12");
    /// assert_eq!(Decimal::parse("-1"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if is_in_its_usual_form(text) {
            return Some(Self(text.into()));
        }
        let number = text.trim().trim_start_matches(['$', '€', '£']).trim_end_matches('%').trim();
        let (whole, fraction) = match number.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (number, None),
        };
        let whole = without_separators(whole)?;
        if !are_digits(&whole, 12) {
            return None;
        }
        let significant = whole.trim_start_matches('0');
        let whole = if significant.is_empty() { "0" } else { significant };
        match fraction {
            None => Some(Self(whole.into())),
            Some(fraction) if are_digits(fraction, 8) => Some(Self(format!("{whole}.{fraction}").into())),
            Some(_) => None,
        }
    }

    pub(crate) fn text_mut(&mut self) -> &mut ArcStr {
        &mut self.0
    }

    /// Returns the number as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Checks whether a text consists of 1 to `max` digits.
fn are_digits(text: &str, max: usize) -> bool {
    (1..=max).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Checks whether a text is in the stored form: digits without leading zeros, and at most one decimal point between
/// digits.
fn is_in_its_usual_form(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    are_digits(whole, 12) && are_digits(fraction, 8) && (whole == "0" || !whole.starts_with('0'))
}

/// Removes commas between thousands, as in `1,000`. Returns `None` if a comma is at another position.
fn without_separators(whole: &str) -> Option<String> {
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let are_thousands = groups.all(|group| group.len() == 3) && (first.len() <= 3 || !whole.contains(','));
    if are_thousands { Some(whole.replace(',', "")) } else { None }
}

impl Currency {
    /// Parses a code, in any case.
    ///
    /// ```
    /// # use signpost_locator::Currency;
    /// assert_eq!(Currency::parse("usd").unwrap().to_string(), "USD");
    /// assert_eq!(Currency::parse("dollars"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let code = <[u8; 3]>::try_from(text.trim().as_bytes()).ok()?.map(|letter| letter.to_ascii_uppercase());
        code.iter().all(u8::is_ascii_uppercase).then_some(Self(code))
    }
}

impl Fees {
    /// Returns `true` if all values are unknown.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let amounts = [&self.buy_percent, &self.buy_fixed, &self.sell_percent, &self.sell_fixed];
        amounts.into_iter().all(Option::is_none)
    }
}

impl CashLimits {
    /// Returns `true` if all values are unknown.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        [&self.min, &self.max, &self.max_day, &self.kyc_above].into_iter().all(Option::is_none)
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.0).unwrap_or_default())
    }
}

impl From<Currency> for String {
    fn from(currency: Currency) -> Self {
        currency.to_string()
    }
}

impl<'de> Deserialize<'de> for Currency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_text(deserializer, |text| Self::parse(text).ok_or("a currency is three letters, such as USD"))
    }
}

impl From<Decimal> for String {
    fn from(number: Decimal) -> Self {
        number.0.to_string()
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_text(deserializer, |text| {
            Self::parse(text).ok_or("a number has up to 12 digits before the point and 8 behind it")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_stored_exactly_or_dropped() {
        for (text, expected) in [
            ("10", "10"),
            (" 7.50 ", "7.50"),
            ("$1,000", "1000"),
            ("€20", "20"),
            ("14.9 %", "14.9"),
            ("0", "0"),
            ("007", "7"),
            ("0.1", "0.1"),
        ] {
            assert_eq!(Decimal::parse(text).as_ref().map(Decimal::as_str), Some(expected), "{text}");
        }
        for text in
            ["", "-1", "1e3", "1.", ".5", "1,00", "ten", "1 000", "1234567890123", "NaN", "1.123456789", "1,0000"]
        {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
    }
}
