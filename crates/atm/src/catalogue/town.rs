//! The types of a town with ATMs and of its area.

use signpost_locator::{Country, Point, Region, slug};

/// The country and region of a town. Only the United States and Canada have regions here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TownArea {
    /// The country.
    pub country: Country,
    /// The state, territory or province.
    pub region: Option<Region>,
}

/// A town with ATMs.
#[derive(Clone, Debug)]
pub struct Town {
    /// The country and region of the town.
    pub area: TownArea,
    /// The name in the gazetteer, or in the address of the first ATM if the gazetteer does not contain the town.
    pub name: Box<str>,
    /// The centre in the gazetteer, or the centroid of the ATMs if the gazetteer does not contain the town.
    pub center: Point,
    /// The positions of the ATMs that are not gone, sorted by distance to the centre.
    pub(super) machines: Box<[u32]>,
}

impl Town {
    /// Returns the name in the form used in URLs.
    #[must_use]
    pub fn slug(&self) -> String {
        slug(&self.name)
    }

    /// Returns the number of ATMs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.machines.len()
    }

    /// Returns `true` if the town has no ATMs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.machines.is_empty()
    }

    /// Returns the positions of the ATMs that are not gone, sorted by distance to the centre.
    #[must_use]
    pub fn machines(&self) -> &[u32] {
        &self.machines
    }
}
