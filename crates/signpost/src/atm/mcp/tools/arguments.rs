//! Arguments become types that cannot hold what the contract forbids; a refusal says which argument, what it was, what
//! is allowed, and gives a call that works.

use serde_json::{Map, Value};
use signpost_locator::{AtmId, Coin, Distance, Point};
use signpost_mcp::CallError;

use crate::atm::catalogue::Service;

/// The most characters of a value that are sent back to whoever sent it.
const SHOWN: usize = 80;
/// The largest number that a fraction counts exactly, 2^53.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

/// The arguments of one call, to be taken one by one; what is left is unknown.
pub(crate) struct Arguments<'a> {
    given: &'a Map<String, Value>,
    taken: Vec<&'static str>,
    example: &'static str,
}

/// The unit of distances in texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Units {
    Miles,
    Kilometres,
}

impl<'a> Arguments<'a> {
    /// `example` is a call of the same tool that works.
    pub(crate) fn new(given: &'a Map<String, Value>, example: &'static str) -> Self {
        Self { given, taken: Vec::new(), example }
    }

    /// A refusal of one argument.
    pub(crate) fn refuse(&self, name: &str, allowed: &str, received: &Value) -> CallError {
        let text = received.to_string();
        let mut shown: String = text.chars().take(SHOWN).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        self.bad(&format!("{name} must be {allowed}, received {shown}"))
    }

    /// A refusal in other words.
    pub(crate) fn bad(&self, reason: &str) -> CallError {
        CallError::BadArgument(format!("{reason}; for example {}", self.example))
    }

    /// The value of an argument. `null` is how some clients leave one out.
    fn take(&mut self, name: &'static str) -> Option<&'a Value> {
        self.taken.push(name);
        self.given.get(name).filter(|value| !value.is_null())
    }

    fn number(&mut self, name: &'static str, allowed: &str, least: f64, most: f64) -> Result<Option<f64>, CallError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let number = value.as_f64().filter(|number| (least..=most).contains(number));
        number.map(Some).ok_or_else(|| self.refuse(name, allowed, value))
    }

    /// A whole number; `10.0` is 10.
    fn integer(&mut self, name: &'static str, allowed: &str, most: u64) -> Result<Option<u64>, CallError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        // A whole number is compared as one: 2^53 + 1 is 2^53 to a fraction.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and at most 2^53")]
        let whole = value.as_u64().or_else(|| {
            let fraction = value.as_f64().filter(|number| number.fract() == 0.0 && (1.0..=MOST_EXACT).contains(number));
            fraction.map(|number| number as u64)
        });
        whole.filter(|whole| (1..=most).contains(whole)).map(Some).ok_or_else(|| self.refuse(name, allowed, value))
    }

    /// A text of 1 to `most` characters, without the space around it.
    pub(crate) fn text(&mut self, name: &'static str, most: usize) -> Result<Option<&'a str>, CallError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let text = value.as_str().map(str::trim).filter(|text| (1..=most).contains(&text.chars().count()));
        text.map(Some).ok_or_else(|| self.refuse(name, &format!("a text of 1 to {most} characters"), value))
    }

    pub(crate) fn limit(&mut self) -> Result<usize, CallError> {
        let limit = self.integer("limit", "a whole number from 1 to 50", 50)?;
        Ok(limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(10))
    }

    /// A distance in miles, 1 to 100.
    pub(crate) fn miles(&mut self, name: &'static str, default: f64) -> Result<f64, CallError> {
        Ok(self.number(name, "a number of miles from 1 to 100", 1.0, 100.0)?.unwrap_or(default))
    }

    pub(crate) fn atm_id(&mut self) -> Result<AtmId, CallError> {
        let allowed = "a whole number from 1 to 9007199254740992";
        match self.integer("atmId", allowed, AtmId::MAX.get())?.map(AtmId::new) {
            Some(Some(id)) => Ok(id),
            Some(None) => Err(self.bad(&format!("atmId must be {allowed}"))),
            None => Err(self.bad("atmId is required")),
        }
    }

    /// The point of `lat` and `lon`; one of them alone is a mistake even beside a location.
    pub(crate) fn point(&mut self) -> Result<Option<Point>, CallError> {
        let lat = self.number("lat", "a number of degrees from -90 to 90", -90.0, 90.0)?;
        let lon = self.number("lon", "a number of degrees from -180 to 180", -180.0, 180.0)?;
        match (lat, lon) {
            (Some(lat), Some(lon)) => Ok(Point::new(lat, lon)),
            (None, None) => Ok(None),
            (Some(_), None) => Err(self.bad("lat needs lon beside it")),
            (None, Some(_)) => Err(self.bad("lon needs lat beside it")),
        }
    }

    pub(crate) fn boolean(&mut self, name: &'static str) -> Result<bool, CallError> {
        let Some(value) = self.take(name) else { return Ok(false) };
        value.as_bool().ok_or_else(|| self.refuse(name, "true or false", value))
    }

    pub(crate) fn units(&mut self) -> Result<Units, CallError> {
        match self.take("units").map(|value| (value, value.as_str())) {
            None | Some((_, Some("miles"))) => Ok(Units::Miles),
            Some((_, Some("km"))) => Ok(Units::Kilometres),
            Some((value, _)) => Err(self.refuse("units", "\"miles\" or \"km\"", value)),
        }
    }

    pub(crate) fn service(&mut self) -> Result<Option<Service>, CallError> {
        match self.take("service").map(|value| (value, value.as_str())) {
            None => Ok(None),
            Some((_, Some("buy"))) => Ok(Some(Service::Buy)),
            Some((_, Some("sell"))) => Ok(Some(Service::Sell)),
            Some((value, _)) => Err(self.refuse("service", "\"buy\" or \"sell\"", value)),
        }
    }

    pub(crate) fn coin(&mut self) -> Result<Option<Coin>, CallError> {
        let Some(value) = self.take("coin") else { return Ok(None) };
        let coin = value.as_str().and_then(Coin::parse);
        coin.map(Some).ok_or_else(|| self.refuse("coin", "the code of a coin, such as \"BTC\"", value))
    }

    /// Ends the taking: what is left is no argument of this tool.
    pub(crate) fn done(self) -> Result<(), CallError> {
        let Some(unknown) = self.given.keys().find(|name| !self.taken.contains(&name.as_str())) else { return Ok(()) };
        let unknown: String = unknown.chars().take(SHOWN).collect();
        Err(self.bad(&format!("there is no argument '{unknown}'; allowed are {}", self.taken.join(", "))))
    }
}

impl Units {
    /// A distance as people read it: `1.2 miles`.
    pub(crate) fn text(self, distance: Distance) -> String {
        let (length, name) = match self {
            Self::Miles => (distance.in_miles(), "miles"),
            Self::Kilometres => (distance.in_kilometres(), "km"),
        };
        // Whole numbers are much cheaper to write than fractions.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most half the way around")]
        let tenths = (length * 10.0).round() as u64;
        format!("{}.{} {name}", tenths / 10, tenths % 10)
    }
}
