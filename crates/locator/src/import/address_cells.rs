//! The address of a row, from its columns and from an address on one line.

use arcstr::ArcStr;

use super::cells::RowReader;
use super::field::Field;
use super::street::{join_street, zip_of_number};
use crate::address::{Address, parse_postcode};
use crate::country::Country;
use crate::fold::fold;
use crate::region::Region;

impl RowReader<'_> {
    /// Returns the address from its columns, completed from the address on one line.
    pub(super) fn address(&mut self, default: Option<Country>) -> Address {
        let formatted = self.text(Field::Address);
        let own_country = self.as_one_of(Field::Country, Country::parse, "not a country");
        let line = formatted.as_deref().and_then(|line| self.parse_address(line, own_country)).unwrap_or_default();
        let mut country = own_country.or(line.country).or(default);
        let mut region = self.text(Field::Region).or(line.region);
        // A territory of the United States also has a country code, used by some sources.
        if let Some(territory) = country.and_then(Region::of_territory) {
            country = Some(Country::UNITED_STATES);
            region = Some(territory.code().into());
        }
        let here = country.is_none_or(|country| [Country::UNITED_STATES, Country::CANADA].contains(&country));
        if let Some(text) = region.as_deref()
            && here
        {
            let known = Region::parse(text).filter(|region| country.is_none_or(|country| country == region.country()));
            match known {
                Some(known) => {
                    country = Some(known.country());
                    region = Some(known.code().into());
                }
                None if country.is_some() => {
                    self.report(Field::Region, "not a state, province or territory of the country");
                    region = None;
                }
                None => {}
            }
        }
        let is_line_complete = line.city.is_some() || line.postcode.is_some();
        let postcode = self.postcode(country, region.as_deref()).or(line.postcode);
        let own_city = self.text(Field::City);
        let mut formatted = formatted;
        let mut street = self.text(Field::Street);
        // In many tables, the column `address` has only the street.
        if street.is_none()
            && !is_line_complete
            && let (Some(line), Some(city)) = (&formatted, &own_city)
            && !fold(line).contains(&fold(city))
        {
            street = formatted.take();
        }
        let street = street.or(line.street);
        let city = own_city.or(line.city);
        let number = self.text(Field::HouseNumber);
        let second = self.text(Field::Street2);
        let joined = |street: &ArcStr| join_street(street, number.as_deref(), second.as_deref(), country);
        if street.is_none() {
            formatted = formatted.as_ref().map(joined);
        }
        Address { street: street.as_ref().map(joined), city, region, postcode, country, formatted }
    }

    fn parse_address(&self, line: &str, country: Option<Country>) -> Option<Address> {
        match self.gazetteer {
            Some(gazetteer) => gazetteer.parse_address(line, self.point, country),
            None => Address::parse(line),
        }
    }

    fn postcode(&mut self, country: Option<Country>, region: Option<&str>) -> Option<ArcStr> {
        let text = self.text(Field::Postcode)?;
        let is_american = country == Some(Country::UNITED_STATES);
        let restored = if is_american { zip_of_number(&text, region) } else { None };
        let text = restored.unwrap_or(text);
        match (parse_postcode(&text), country) {
            (Some((postcode, its)), Some(country)) if its == country => Some(postcode.into()),
            (_, Some(Country::UNITED_STATES)) => {
                self.report(Field::Postcode, "not a ZIP code of 5 or 9 digits");
                None
            }
            (_, Some(Country::CANADA)) => {
                self.report(Field::Postcode, "not a Canadian postal code, such as M5V 2T6");
                None
            }
            _ => Some(text),
        }
    }
}
