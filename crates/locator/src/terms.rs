//! On what terms a machine trades: fees, limits and what it wants to know of people.

use std::fmt;

use arcstr::ArcStr;
use serde::{Deserialize, Deserializer, Serialize};

use crate::stored_form::from_text;
use crate::tri::Tri;

/// A number as a source writes it, kept exactly: up to 12 digits before the point and 8 behind it, not negative.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(into = "String")]
pub struct Decimal(ArcStr);

/// The code of a currency (ISO 4217), such as `USD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(into = "String")]
pub struct Currency([u8; 3]);

/// What a machine charges.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fees {
    /// Per cent on what is bought.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buy_percent: Option<Decimal>,
    /// An amount for every purchase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buy_fixed: Option<Decimal>,
    /// Per cent on what is sold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sell_percent: Option<Decimal>,
    /// An amount for every sale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sell_fixed: Option<Decimal>,
    /// The currency of the amounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<Currency>,
}

/// How much can be traded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CashLimits {
    /// Least amount at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Decimal>,
    /// Most at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Decimal>,
    /// Most in a day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_day: Option<Decimal>,
    /// From this amount on people must identify themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kyc_above: Option<Decimal>,
    /// The currency of the amounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<Currency>,
}

/// What a machine wants to know of people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kyc {
    /// Nothing.
    None,
    /// A telephone number.
    Phone,
    /// A document.
    Id,
    /// Not known.
    #[default]
    Unknown,
}

/// How a machine deals in one coin, where that differs from the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trade {
    /// Whether it sells the coin for cash.
    pub buy: Tri,
    /// Whether it pays out cash for the coin.
    pub sell: Tri,
    /// Whether it takes or sends the coin over the Lightning network.
    pub lightning: Tri,
}

impl Kyc {
    /// What it wants to know, or `None` where that is not known.
    #[must_use]
    pub fn known(self) -> Option<Self> {
        (self != Self::Unknown).then_some(self)
    }
}

impl Decimal {
    /// The number in a text, without a currency or per cent sign around it and commas between thousands.
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
        let bare = text.trim().trim_start_matches(['$', '€', '£']).trim_end_matches('%').trim();
        let (whole, fraction) = bare.split_once('.').map_or((bare, None), |(whole, part)| (whole, Some(part)));
        let whole = without_separators(whole)?;
        let fits = are_digits(&whole, 12) && fraction.is_none_or(|part| are_digits(part, 8));
        let significant = whole.trim_start_matches('0');
        let whole = if significant.is_empty() { "0" } else { significant };
        fits.then(|| Self(fraction.map_or_else(|| whole.into(), |part| format!("{whole}.{part}").into())))
    }

    pub(crate) fn text_mut(&mut self) -> &mut ArcStr {
        &mut self.0
    }

    /// The number, as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a text is digits, up to so many.
fn are_digits(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is as a number is stored: digits without a zero in front, at most one point between them.
fn is_in_its_usual_form(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    are_digits(whole, 12) && are_digits(fraction, 8) && (whole == "0" || !whole.starts_with('0'))
}

/// `1,000` as `1000`; `None` where a comma does not separate thousands.
fn without_separators(whole: &str) -> Option<String> {
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let thousands = groups.clone().all(|group| group.len() == 3) && (first.len() <= 3 || !whole.contains(','));
    thousands.then(|| whole.replace(',', ""))
}

impl Currency {
    /// The currency with this code, in any case.
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
    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let amounts = [&self.buy_percent, &self.buy_fixed, &self.sell_percent, &self.sell_fixed];
        amounts.into_iter().all(Option::is_none)
    }
}

impl CashLimits {
    /// Whether nothing is known.
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
    fn numbers_are_kept_exactly_or_not_at_all() {
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
