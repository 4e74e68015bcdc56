//! Parser of the Census Bureau's table of county subdivisions (such as `2025_Gaz_cousubs_national.txt`). Since 2025,
//! cells are separated by `|`; older tables use tabs and padded cells. The order of the columns depends on the year.
//! Format:
//! `https://www.census.gov/programs-surveys/geography/technical-documentation/records-layout/gaz-record-layouts.html`

use super::postal_county::county_code;
use super::subdivision::{Subdivision, names};
use crate::point::Point;
use crate::region::Region;

/// Names of the columns that are read.
const COLUMNS: [&str; 6] = ["USPS", "GEOID", "NAME", "FUNCSTAT", "INTPTLAT", "INTPTLONG"];
/// Codes of subdivisions with an active government. Subdivisions with other codes exist only for statistics.
const ACTIVE: [&str; 3] = ["A", "B", "C"];
/// Number of digits in the GEOID of a county subdivision: 2 for the state, 3 for the county, 5 for the subdivision.
const GEOID_DIGITS: usize = 10;

/// The layout of a table of county subdivisions, as determined by its header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CensusTable {
    separator: char,
    /// The number of columns.
    count: usize,
    at: [usize; COLUMNS.len()],
}

/// The error of an invalid line in a table of county subdivisions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CensusLineError {
    /// The header belongs to another table.
    #[error(
        "the header has no column {0}; of the Gazetteer files of the Census, those of county subdivisions are read \
         (2025_Gaz_cousubs_national.zip)"
    )]
    Column(&'static str),
    /// The row has fewer or more cells than the header.
    #[error("there are {found} columns, but {expected} in the header")]
    Count {
        /// The number of cells in the row.
        found: usize,
        /// The number of cells in the header.
        expected: usize,
    },
    /// A cell is invalid: the column, the cell and the expected content.
    #[error("{0} is {1:?}, which is not {2}")]
    Cell(&'static str, String, &'static str),
}

impl CensusLineError {
    fn cell(column: &'static str, cell: &str, expected: &'static str) -> Self {
        Self::Cell(column, cell.to_owned(), expected)
    }
}

impl CensusTable {
    /// Parses the first line of a table. Returns `None` if it is not the header of a Census table.
    ///
    /// # Errors
    /// [`CensusLineError::Column`], if it is the header of another table of the Census.
    pub fn read_header(line: &str) -> Option<Result<Self, CensusLineError>> {
        let line = line.trim_start_matches('\u{feff}');
        let separator = if line.contains('|') { '|' } else { '\t' };
        let cells: Vec<&str> = line.split(separator).map(str::trim).collect();
        if !cells.contains(&"GEOID") {
            return None;
        }
        let mut at = [0; COLUMNS.len()];
        for (at, column) in at.iter_mut().zip(COLUMNS) {
            match cells.iter().position(|cell| *cell == column) {
                Some(found) => *at = found,
                None => return Some(Err(CensusLineError::Column(column))),
            }
        }
        Some(Ok(Self { separator, count: cells.len(), at }))
    }

    /// Parses a row. Returns `None` for a subdivision without an active government, as is common in the south and west.
    ///
    /// # Errors
    /// [`CensusLineError`], if cells are missing or invalid.
    pub fn read_row(&self, line: &str) -> Result<Option<Subdivision>, CensusLineError> {
        let cells: Vec<&str> = line.split(self.separator).map(str::trim).collect();
        if cells.len() != self.count {
            return Err(CensusLineError::Count { found: cells.len(), expected: self.count });
        }
        let [state, number, written, status, lat, lon] = self.at.map(|at| cells[at]);
        if number.len() != GEOID_DIGITS || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(CensusLineError::cell("GEOID", number, "the ten digits of a county subdivision"));
        }
        let Some(region) = Region::parse(state) else {
            return Err(CensusLineError::cell("USPS", state, "a state's code of two letters"));
        };
        let Some(point) = Point::parse(lat, lon) else {
            return Err(CensusLineError::cell("INTPTLAT", lat, "a latitude with a longitude beside it"));
        };
        if written.is_empty() {
            return Err(CensusLineError::cell("NAME", written, "a name"));
        }
        let is_census_division = written.ends_with(" CCD") || written.ends_with("not defined");
        if is_census_division || !ACTIVE.contains(&status) {
            return Ok(None);
        }
        let (name, alternates) = names(written);
        Ok(Some(Subdivision { name, alternates, region, county: county_code(&number[2..5]), point, population: 0 }))
    }
}
