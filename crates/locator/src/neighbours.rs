//! A spatial search for rows of other sources near a row, used for merging.
//!
//! A source may have thousands of rows at one point, such as the centre of a city. Rows are therefore grouped into
//! cells of a centimetre, and within a cell all rows of the searching row's own source are skipped in one step. The
//! cost of a search does not depend on the number of rows at a point.

use std::collections::{BTreeSet, HashMap};

use crate::atm::{Atm, AtmId};
use crate::index::Index;
use crate::point::{Distance, Point};

/// Number of cells per degree. Differences beyond the digits that sources write fall into the same cell.
const CELLS_IN_A_DEGREE: f64 = 1e7;
/// Maximum distance between rows in a cell.
const CELL_SIZE: Distance = Distance::metres(0.1);
/// Maximum number of cells that are searched for a row. Only a source with more rows around a single building reaches
/// it.
const MAX_TRIED: usize = 1024;

/// A spatial index of the rows of all sources.
pub(crate) struct Neighbours<'a> {
    atms: &'a [Atm],
    cells: Vec<Cell>,
    index: Index,
}

/// A cell: rows with coordinates that are equal to a centimetre.
#[derive(Default)]
struct Cell {
    /// The positions of the rows, in ascending order.
    rows: Vec<usize>,
    /// The index in `rows` of the next row of another source, for each row; the length of `rows` if there is none.
    next_source: Vec<usize>,
}

impl<'a> Neighbours<'a> {
    /// Groups rows into cells. Rows in `apart` are excluded.
    pub(crate) fn new(atms: &'a [Atm], apart: &BTreeSet<AtmId>) -> Self {
        let mut numbers: HashMap<[i64; 2], usize> = HashMap::new();
        let mut cells: Vec<Cell> = Vec::new();
        let mut points = Vec::new();
        for (at, atm) in atms.iter().enumerate().filter(|(_, atm)| !apart.contains(&atm.id)) {
            let point = atm.record.point;
            let number = *numbers.entry(cell_key(point)).or_insert_with(|| {
                cells.push(Cell::default());
                points.push(point);
                cells.len() - 1
            });
            cells[number].rows.push(at);
        }
        for cell in &mut cells {
            cell.find_next_sources(atms);
        }
        Self { atms, cells, index: Index::build(&points) }
    }

    /// Returns the `max` nearest rows of other sources that follow the row at `position` and are at most `radius`
    /// away from it, with their distances, nearest first.
    pub(crate) fn after(&self, position: usize, radius: Distance, max: usize) -> Vec<(Distance, usize)> {
        let point = self.atms[position].record.point;
        let reach = Distance::metres(radius.in_metres() + CELL_SIZE.in_metres());
        let cells = self.index.nearest_of_first(point, reach, max, MAX_TRIED, |cell| {
            // Skips cells without a row of another source.
            !self.rows_after(cell, position, 1).is_empty()
        });
        let mut found = Vec::new();
        for near in cells {
            for other in self.rows_after(near.at, position, max) {
                found.push((point.distance(self.atms[other].record.point), other));
            }
        }
        found.retain(|(distance, _)| *distance <= radius);
        found.sort_by(|a, b| a.0.in_metres().total_cmp(&b.0.in_metres()).then(a.1.cmp(&b.1)));
        found.truncate(max);
        found
    }

    /// Returns the first `max` rows of a cell that follow `position` and have another source than the row at that
    /// position.
    fn rows_after(&self, cell: u32, position: usize, max: usize) -> Vec<usize> {
        let Cell { rows, next_source } = &self.cells[cell as usize];
        let own = &self.atms[position].source;
        let mut found = Vec::new();
        let mut place = rows.partition_point(|row| *row <= position);
        while found.len() < max
            && let Some(row) = rows.get(place)
        {
            if self.atms[*row].source == *own {
                place = next_source[place];
            } else {
                found.push(*row);
                place += 1;
            }
        }
        found
    }
}

impl Cell {
    fn find_next_sources(&mut self, atms: &[Atm]) {
        self.next_source = vec![self.rows.len(); self.rows.len()];
        for place in (1..self.rows.len()).rev() {
            let is_same = atms[self.rows[place - 1]].source == atms[self.rows[place]].source;
            self.next_source[place - 1] = if is_same { self.next_source[place] } else { place };
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "360 degrees have 3.6 thousand million cells")]
fn cell_key(point: Point) -> [i64; 2] {
    [point.lat(), point.lon()].map(|degrees| (degrees * CELLS_IN_A_DEGREE).round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atm::Record;

    #[test]
    fn neighbours_equal_linear_search() {
        let mut state = 7_u32;
        let mut random = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % below
        };
        let mut atms = Vec::new();
        for id in 1..=400 {
            let (north, east) = (f64::from(random(8)) * 2e-4, f64::from(random(8)) * 2e-4);
            let record = Record::at(Point::new(30.0 + north, -97.0 + east).unwrap()).into();
            let source = ["a", "b", "c"][random(3) as usize].into();
            atms.push(Atm { id: AtmId::new(id).unwrap(), source, record });
        }
        let apart = BTreeSet::from([atms[50].id, atms[60].id]);
        let neighbours = Neighbours::new(&atms, &apart);
        let radius = Distance::metres(40.0);
        for (at, atm) in atms.iter().enumerate() {
            let mut expected = Vec::new();
            for (other, row) in atms.iter().enumerate().skip(at + 1) {
                let distance = atm.record.point.distance(row.record.point);
                if row.source != atm.source && !apart.contains(&row.id) && distance <= radius {
                    expected.push((distance, other));
                }
            }
            expected.sort_by(|a, b| a.0.in_metres().total_cmp(&b.0.in_metres()).then(a.1.cmp(&b.1)));
            expected.truncate(16);
            assert_eq!(neighbours.after(at, radius, 16), expected, "{at}");
        }
    }
}
