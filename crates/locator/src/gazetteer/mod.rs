//! Place names: which point people mean when they write where they are.

mod blob;
mod location;
mod search;

use levenshtein_automata::LevenshteinAutomatonBuilder;
use serde::Serialize;

use crate::country::Country;
use crate::fold::fold;
use crate::point::Point;
use crate::region::Region;
use blob::Data;

pub use blob::{Broken, Entry, encode};
pub use location::{Resolved, Source, Unresolved};

/// The places that ship with the crate; `data/NOTICE.md` says where they come from and how they are rebuilt.
const EMBEDDED: &[u8] = include_bytes!("../../data/gazetteer.bin");

/// Place names and postcodes, ready to be asked; never changed once read. About 20 MB in memory.
pub struct Gazetteer {
    data: Data,
    /// Costs a millisecond to make, and nothing to use again.
    one_typo: LevenshteinAutomatonBuilder,
    two_typos: LevenshteinAutomatonBuilder,
}

/// A populated place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Place {
    /// Its main name.
    pub name: String,
    /// The state, province or territory, in the United States and Canada.
    pub region: Option<Region>,
    /// The country.
    pub country: Country,
    /// Its centre.
    pub point: Point,
    /// How many people live there.
    pub population: u32,
    /// Its time zone, by IANA's name.
    pub time_zone: String,
}

impl Gazetteer {
    /// The places that ship with the crate. Reading them takes some 50 ms: keep the result.
    ///
    /// # Panics
    /// Never: the tests read the same bytes.
    #[must_use]
    pub fn embedded() -> Self {
        Self::from_bytes(EMBEDDED).expect("the embedded places are whole")
    }

    /// Reads what [`encode`] wrote.
    ///
    /// # Errors
    /// [`Broken`], where the bytes are cut off, altered, or of another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Broken> {
        let data = Data::decode(bytes)?;
        let builder = |typos| LevenshteinAutomatonBuilder::new(typos, true);
        Ok(Self { data, one_typo: builder(1), two_typos: builder(2) })
    }

    /// How many places it knows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Whether it knows none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The largest place of a region that has this name, however it is spelled.
    ///
    /// ```
    /// # use signpost_locator::{Gazetteer, Region};
    /// let gazetteer = Gazetteer::embedded();
    /// let missouri = Region::parse("MO").unwrap();
    /// assert_eq!(gazetteer.city(missouri, "saint louis").unwrap().name, "St. Louis");
    /// assert_eq!(gazetteer.city(missouri, "Miami Beach"), None);
    /// ```
    #[must_use]
    pub fn city(&self, region: Region, name: &str) -> Option<Place> {
        let found = self.exact(&fold(name));
        found.into_iter().find(|hit| self.data.region(hit.place) == Some(region)).map(|hit| self.data.place(hit.place))
    }
}

impl Place {
    /// The region's name.
    #[must_use]
    pub fn region_name(&self) -> Option<&'static str> {
        self.region.map(Region::name)
    }
}

impl std::fmt::Debug for Gazetteer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gazetteer").field("places", &self.len()).finish_non_exhaustive()
    }
}
