//! The sentence on a page that states the date of its data.

use signpost_locator::DataDates;

use super::context::PageContext;
use super::words::utc_date;

/// Formats a sentence with the newest date of the data, and with the oldest date if it is more than a year earlier. If
/// no record has a date, the sentence has the day of the last import. Returns `None` if nothing was imported.
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
