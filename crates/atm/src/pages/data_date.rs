//! The date of the data that a page shows.

use signpost_locator::DataDates;

use super::context::PageContext;
use super::words::utc_date;

/// Returns the sentence with the newest date, and with the oldest if it is more than a year older. If no record has a
/// date, the sentence has the day of the last import. `None` if nothing was imported.
pub(super) fn data_date(context: &PageContext, dates: DataDates) -> Option<String> {
    let words = context.words();
    let Some(newest) = dates.newest else {
        let imported_at = context.snapshot.imported_at()?;
        return Some((words.undated_data)(&(words.long_date)(utc_date(imported_at))));
    };
    let newest = (words.long_date)(utc_date(newest));
    Some(match dates.oldest_if_distant() {
        Some(oldest) => (words.data_between)(&(words.long_date)(utc_date(oldest)), &newest),
        None => (words.data_of)(&newest),
    })
}
