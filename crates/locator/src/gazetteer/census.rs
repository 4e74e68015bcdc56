//! The table of county subdivisions that the Census publishes (`2025_Gaz_cousubs_national.txt`, and those of other
//! years): separated by `|` since 2025 and by tabs before, where cells are filled up with blanks.
//! `https://www.census.gov/programs-surveys/geography/technical-documentation/records-layout/gaz-record-layouts.html`
//! describes it. Its columns are found by their names, which the years have in another order.

use super::postal_county::county_code;
use super::subdivision::{Subdivision, names};
use crate::point::Point;
use crate::region::Region;

/// The columns that are read.
const COLUMNS: [&str; 6] = ["USPS", "GEOID", "NAME", "FUNCSTAT", "INTPTLAT", "INTPTLONG"];
/// Governments that are active, alone or together with another one. The others exist in statistics only.
const ACTIVE: [&str; 3] = ["A", "B", "C"];
/// Digits of the number of a county subdivision: 2 of the state, 3 of the county, 5 of its own.
const GEOID_DIGITS: usize = 10;

/// Where the columns of a table of county subdivisions are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CensusTable {
    separator: char,
    /// How many there are.
    count: usize,
    at: [usize; COLUMNS.len()],
}

/// A line is not what the table of county subdivisions holds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotACensusLine {
    /// The header is that of another table.
    #[error(
        "the header has no column {0}; of the Gazetteer files of the Census, those of county subdivisions are read \
         (2025_Gaz_cousubs_national.zip)"
    )]
    Column(&'static str),
    /// A row has fewer or more cells than the header.
    #[error("there are {found} columns, but {expected} in the header")]
    Count {
        /// In the row.
        found: usize,
        /// In the header.
        expected: usize,
    },
    /// A cell is not what its column holds.
    #[error("{0} is {1:?}, which is not {2}")]
    Cell(&'static str, String, &'static str),
}

impl CensusTable {
    /// Reads the first line of a table; `None` if it is no header of the Census.
    ///
    /// # Errors
    /// [`NotACensusLine::Column`], if it is that of another of its tables.
    pub fn read_header(line: &str) -> Option<Result<Self, NotACensusLine>> {
        let line = line.trim_start_matches('\u{feff}');
        let separator = if line.contains('|') { '|' } else { '\t' };
        let cells: Vec<&str> = line.split(separator).map(str::trim).collect();
        let position = |column: &str| cells.iter().position(|cell| *cell == column);
        position("GEOID")?;
        let mut at = [0; COLUMNS.len()];
        for (at, column) in at.iter_mut().zip(COLUMNS) {
            match position(column) {
                Some(found) => *at = found,
                None => return Some(Err(NotACensusLine::Column(column))),
            }
        }
        Some(Ok(Self { separator, count: cells.len(), at }))
    }

    /// Reads a row; `None` of a subdivision without a government of its own, as most in the south and west are.
    ///
    /// # Errors
    /// [`NotACensusLine`], if cells are missing or hold something else.
    pub fn read_row(&self, line: &str) -> Result<Option<Subdivision>, NotACensusLine> {
        let cells: Vec<&str> = line.split(self.separator).map(str::trim).collect();
        if cells.len() != self.count {
            return Err(NotACensusLine::Count { found: cells.len(), expected: self.count });
        }
        let [state, number, written, status, lat, lon] = self.at.map(|at| cells[at]);
        let wrong = |column, cell: &str, what| NotACensusLine::Cell(column, cell.to_owned(), what);
        let is_a_number = number.len() == GEOID_DIGITS && number.bytes().all(|byte| byte.is_ascii_digit());
        if !is_a_number {
            return Err(wrong("GEOID", number, "the ten digits of a county subdivision"));
        }
        let region = Region::parse(state).ok_or_else(|| wrong("USPS", state, "a state's code of two letters"))?;
        let degrees = |text: &str| text.parse::<f64>().ok();
        let point = degrees(lat).zip(degrees(lon)).and_then(|(lat, lon)| Point::new(lat, lon));
        let point = point.ok_or_else(|| wrong("INTPTLAT", lat, "a latitude with a longitude beside it"))?;
        if written.is_empty() {
            return Err(wrong("NAME", written, "a name"));
        }
        let is_census_division = written.ends_with(" CCD") || written.ends_with("not defined");
        if is_census_division || !ACTIVE.contains(&status) {
            return Ok(None);
        }
        let (name, alternates) = names(written);
        Ok(Some(Subdivision { name, alternates, region, county: county_code(&number[2..5]), point, population: 0 }))
    }
}
