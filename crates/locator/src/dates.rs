//! The range of dates of a set of records.

use jiff::Timestamp;

use crate::status::IN_SERVICE_VALIDITY;

/// The newest and the oldest date in a set of records, and the number of undated records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataDates {
    /// The newest date, in whole seconds.
    pub newest: Option<Timestamp>,
    /// The oldest date, in whole seconds.
    pub oldest: Option<Timestamp>,
    /// The number of records without a date.
    pub undated: usize,
}

impl DataDates {
    /// Adds the date of a record.
    pub fn add(&mut self, date: Option<Timestamp>) {
        let Some(date) = date else {
            self.undated += 1;
            return;
        };
        let date = Timestamp::from_second(date.as_second()).unwrap_or(date);
        self.newest = self.newest.max(Some(date));
        self.oldest = Some(self.oldest.map_or(date, |oldest| oldest.min(date)));
    }

    /// Returns the oldest date if it is more than 365 days before the newest.
    ///
    /// ```
    /// use signpost_locator::DataDates;
    ///
    /// let dates = |texts: [&str; 2]| texts.map(|text| text.parse().ok()).into_iter().collect::<DataDates>();
    /// let years_apart = dates(["2021-05-01T00:00:00Z", "2026-11-20T12:00:00Z"]);
    /// assert_eq!(years_apart.oldest_if_distant(), "2021-05-01T00:00:00Z".parse().ok());
    /// assert_eq!(dates(["2026-05-01T00:00:00Z", "2026-11-20T12:00:00Z"]).oldest_if_distant(), None);
    /// ```
    #[must_use]
    pub fn oldest_if_distant(&self) -> Option<Timestamp> {
        let newest = self.newest?;
        self.oldest.filter(|oldest| newest.duration_since(*oldest) > IN_SERVICE_VALIDITY)
    }
}

impl FromIterator<Option<Timestamp>> for DataDates {
    fn from_iter<I: IntoIterator<Item = Option<Timestamp>>>(dates: I) -> Self {
        let mut all = Self::default();
        for date in dates {
            all.add(date);
        }
        all
    }
}
