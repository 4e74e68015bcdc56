//! Links for people: the page of an ATM, its report form, and directions.

use signpost_locator::AtmId;

use crate::locator::Locator;

/// How to report an ATM of a list, whose rows have the URL of their pages.
const REPORT_FROM_LIST: &str = "If one is gone or wrong, report it at its url followed by /report.";

/// The links to pages. Without an address of the pages there are none.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageLinks<'a>(Option<&'a str>);

impl<'a> PageLinks<'a> {
    pub(super) fn of(locator: &'a Locator) -> Self {
        Self(locator.pages.as_deref())
    }

    /// Returns the URL of an ATM's page.
    pub(super) fn atm(self, id: AtmId) -> Option<String> {
        let address = self.0?;
        Some(format!("{address}/atm/{id}"))
    }

    /// Returns the maximum length of the URL of an ATM's page, in bytes.
    pub(super) fn max_atm_url(self) -> usize {
        const PATH_AND_ID: usize = "/atm/9007199254740992".len();
        self.0.map_or(0, |address| address.len() + PATH_AND_ID)
    }

    /// Returns how to report an ATM.
    pub(super) fn how_to_report(self, id: AtmId) -> Option<String> {
        let url = self.atm(id)?;
        Some(format!("If it is gone or wrong, report it at {url}/report."))
    }

    /// Returns how to report an ATM of a list.
    pub(super) fn how_to_report_one(self) -> Option<&'static str> {
        self.0.map(|_| REPORT_FROM_LIST)
    }
}

/// Returns the URL of a map service with directions to a latitude and longitude, which have at most six decimals. The
/// start is empty, so the service uses the position of the person. It is shorter than the URL with named parameters.
pub(super) fn directions([lat, lon]: [f64; 2]) -> String {
    format!("https://www.google.com/maps/dir//{lat},{lon}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_have_plain_decimals() {
        for (point, expected) in [
            ([30.267_15, -97.743_06], "30.26715,-97.74306"),
            ([0.0, 0.000_001], "0,0.000001"),
            ([-90.0, 180.0], "-90,180"),
        ] {
            let url = directions(point);
            assert_eq!(url, format!("https://www.google.com/maps/dir//{expected}"));
        }
    }

    #[test]
    fn page_links_need_an_address() {
        let id = AtmId::new(17).expect("an ID");
        let links = PageLinks(Some("https://atm.example"));
        assert_eq!(links.atm(id).as_deref(), Some("https://atm.example/atm/17"));
        let report = "If it is gone or wrong, report it at https://atm.example/atm/17/report.";
        assert_eq!(links.how_to_report(id).as_deref(), Some(report));
        assert_eq!(links.max_atm_url(), 40);
        let none = PageLinks(None);
        assert_eq!((none.atm(id), none.how_to_report(id), none.how_to_report_one()), (None, None, None));
    }
}
