//! Pages that were made a moment ago, for the next who asks for them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use jiff::Timestamp;
use signpost_platform::pages::DeviceUse;
use signpost_platform::pages::compressed::Compressed;

use super::catalogue::Snapshot;

/// How much is kept in all, and the longest name.
const MAX_BYTES: usize = 4 * 1024 * 1024;
const MAX_NAME: usize = 200;

/// Pages of one state of the catalogue. With another state all of them go.
#[derive(Debug, Default)]
pub struct PageShelf(Mutex<ShelfRows>);

#[derive(Debug, Default)]
struct ShelfRows {
    /// Kept alive is its place in memory alone, so that no other state is taken for it.
    state: Weak<Snapshot>,
    pages: HashMap<String, KeptPage>,
    bytes: usize,
}

/// A page that was made.
#[derive(Clone, Debug)]
pub(crate) struct KeptPage {
    pub(crate) document: Compressed,
    /// What is another text wherever the document is.
    pub(crate) tag: String,
    /// Whether search engines may list it.
    pub(crate) is_listed: bool,
    /// What it asks the person's device for.
    pub(crate) device_use: Option<DeviceUse>,
    /// When it was made, and until when it would be made the same.
    pub(crate) made: Timestamp,
    pub(crate) until: Timestamp,
}

impl KeptPage {
    /// How much memory it takes, compressed form and all.
    fn size(&self) -> usize {
        self.document.size() + size_of::<Self>()
    }
}

impl PageShelf {
    /// The page of a name, where it is of this state and still right.
    pub(crate) fn get(&self, state: &Arc<Snapshot>, name: &str, now: Timestamp) -> Option<KeptPage> {
        let rows = self.rows();
        let is_same = std::ptr::eq(rows.state.as_ptr(), Arc::as_ptr(state));
        let page = rows.pages.get(name).filter(|_| is_same)?;
        (page.made <= now && now < page.until).then(|| page.clone())
    }

    /// Keeps a page. Where there is no room all others go first: those that are asked for come back.
    pub(crate) fn put(&self, state: &Arc<Snapshot>, name: String, page: KeptPage) {
        let size = name.len() + page.size();
        if name.len() > MAX_NAME || size > MAX_BYTES {
            return;
        }
        let mut rows = self.rows();
        if !std::ptr::eq(rows.state.as_ptr(), Arc::as_ptr(state)) || rows.bytes + size > MAX_BYTES {
            *rows = ShelfRows { state: Arc::downgrade(state), ..ShelfRows::default() };
        }
        rows.bytes += size;
        let of_name = name.len();
        if let Some(before) = rows.pages.insert(name, page) {
            rows.bytes -= of_name + before.size();
        }
    }

    fn rows(&self) -> MutexGuard<'_, ShelfRows> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::StoredCatalogue;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn page(bytes: usize) -> KeptPage {
        let document = Compressed::new(vec![b'x'; bytes]);
        KeptPage { document, tag: String::new(), is_listed: true, device_use: None, made: at(60), until: at(120) }
    }

    fn state() -> Arc<Snapshot> {
        Arc::new(Snapshot::build(StoredCatalogue::default()))
    }

    #[test]
    fn a_page_is_kept_for_its_state_and_its_time() {
        let (shelf, first, second) = (PageShelf::default(), state(), state());
        shelf.put(&first, "a".to_owned(), page(5));
        for (now, is_kept) in [(59, false), (60, true), (119, true), (120, false)] {
            assert_eq!(shelf.get(&first, "a", at(now)).is_some(), is_kept, "{now}");
        }
        assert!(shelf.get(&second, "a", at(60)).is_none() && shelf.get(&first, "b", at(60)).is_none());
        shelf.put(&second, "b".to_owned(), page(5));
        assert!(shelf.get(&first, "a", at(60)).is_none() && shelf.get(&second, "b", at(60)).is_some());
    }

    #[test]
    fn what_is_kept_has_a_bound() {
        let (shelf, state) = (PageShelf::default(), state());
        for number in 0..1000 {
            shelf.put(&state, number.to_string(), page(100_000));
            let rows = shelf.rows();
            let kept: usize = rows.pages.values().map(|page| page.document.size()).sum();
            assert!(kept <= rows.bytes && rows.bytes <= MAX_BYTES);
        }
        assert!(shelf.get(&state, "999", at(60)).is_some());
        // One that is made anew takes the room of the one before.
        let before = shelf.rows().bytes;
        shelf.put(&state, "999".to_owned(), page(100_000));
        assert_eq!(shelf.rows().bytes, before);
        shelf.put(&state, "long".to_owned(), page(MAX_BYTES + 1));
        shelf.put(&state, "n".repeat(MAX_NAME + 1), page(1));
        assert!(shelf.get(&state, "long", at(60)).is_none());
    }
}
