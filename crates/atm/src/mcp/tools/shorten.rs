//! Shortens a list of few ATMs to its token limit.

use super::item::Item;

/// Number of rows that are shortened last: people choose between the nearest ATMs.
const NEAREST: usize = 3;

/// The notice about rows without members that the details have.
pub(super) const NOTICE: &str = "Some members of later rows are left out here; get_atm_details has them.";

/// Removes a member of a row, and returns the number of bytes saved.
type Omit<'a> = fn(&mut Item<'a>) -> usize;

/// Removes members until the rows are `excess` bytes shorter or nothing is left to remove: first members that others
/// imply, then of the later rows the next opening, the directions and the members that only help to choose, then of the
/// nearest rows. Returns `true` if the reply needs the [`NOTICE`], for which there is space.
pub(super) fn shorten<'a>(rows: &mut [Item<'a>], excess: usize) -> bool {
    let implied: [Omit<'a>; 2] = [Item::omit_repeated_date, Item::omit_usual_reason];
    let derivable: [Omit<'a>; 2] = [Item::omit_change, Item::omit_directions];
    let mut left = excess;
    for omit in implied {
        left = omit_from_last(rows, left, omit);
    }
    let (nearest, later) = rows.split_at_mut(NEAREST.min(rows.len()));
    let mut needs_notice = false;
    for part in std::iter::once(later).chain(nearest.chunks_mut(1).rev()) {
        for omit in derivable {
            left = omit_from_last(part, left, omit);
        }
        if left > 0 && !needs_notice {
            needs_notice = true;
            left += NOTICE.len() + r#","notice":"""#.len();
        }
        left = omit_from_last(part, left, Item::omit_details);
    }
    needs_notice
}

/// Removes a member of the last rows until the reply is `left` bytes shorter. Returns the number of bytes that are left.
fn omit_from_last<'a>(rows: &mut [Item<'a>], left: usize, omit: Omit<'a>) -> usize {
    let mut left = left;
    for row in rows.iter_mut().rev() {
        if left == 0 {
            break;
        }
        left = left.saturating_sub(omit(row));
    }
    left
}
