//! A cache of rendered pages for the current snapshot of the catalogue.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use jiff::Timestamp;
use signpost_platform::pages::compressed::Compressed;

use super::catalogue::Snapshot;

/// Maximum size of the cache, and maximum length of a page's key, in bytes.
const MAX_BYTES: usize = 4 * 1024 * 1024;
const MAX_KEY: usize = 200;

/// A cache of the rendered pages of a snapshot. It is cleared when the first page of another snapshot is stored.
#[derive(Debug, Default)]
pub struct PageCache(Mutex<CacheRows>);

#[derive(Debug, Default)]
struct CacheRows {
    /// The snapshot that the pages were rendered from. The weak reference prevents another snapshot from reusing its
    /// address.
    state: Weak<Snapshot>,
    pages: HashMap<String, CachedPage>,
    bytes: usize,
}

/// A rendered page.
#[derive(Clone, Debug)]
pub(crate) struct CachedPage {
    pub(crate) document: Compressed,
    /// The entity tag.
    pub(crate) tag: String,
    /// Whether search engines may list it.
    pub(crate) is_listed: bool,
    /// The time of rendering, and the expiry.
    pub(crate) rendered_at: Timestamp,
    pub(crate) until: Timestamp,
}

impl CachedPage {
    /// Returns the size of the page in memory, including its compressed form.
    fn size(&self) -> usize {
        self.document.size() + size_of::<Self>()
    }
}

impl CacheRows {
    fn belongs_to(&self, state: &Arc<Snapshot>) -> bool {
        std::ptr::eq(self.state.as_ptr(), Arc::as_ptr(state))
    }
}

impl PageCache {
    /// Returns the cached page with this key, if it belongs to the snapshot and has not expired.
    pub(crate) fn get(&self, state: &Arc<Snapshot>, key: &str, now: Timestamp) -> Option<CachedPage> {
        let rows = self.rows();
        if !rows.belongs_to(state) {
            return None;
        }
        let page = rows.pages.get(key)?;
        (page.rendered_at <= now && now < page.until).then(|| page.clone())
    }

    /// Stores a page of a snapshot. If the cache is full, all other pages are evicted first.
    pub(crate) fn put(&self, state: &Arc<Snapshot>, key: String, page: CachedPage) {
        let key_size = key.len();
        let size = key_size + page.size();
        if key_size > MAX_KEY || size > MAX_BYTES {
            return;
        }
        let mut rows = self.rows();
        if !rows.belongs_to(state) || rows.bytes + size > MAX_BYTES {
            *rows = CacheRows { state: Arc::downgrade(state), ..CacheRows::default() };
        }
        rows.bytes += size;
        if let Some(before) = rows.pages.insert(key, page) {
            rows.bytes -= key_size + before.size();
        }
    }

    fn rows(&self) -> MutexGuard<'_, CacheRows> {
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

    fn page(bytes: usize) -> CachedPage {
        let document = Compressed::new(vec![b'x'; bytes]);
        CachedPage { document, tag: String::new(), is_listed: true, rendered_at: at(60), until: at(120) }
    }

    fn state() -> Arc<Snapshot> {
        Arc::new(Snapshot::build(StoredCatalogue::default()))
    }

    #[test]
    fn page_is_cached_for_its_state_and_ttl() {
        let (page_cache, first, second) = (PageCache::default(), state(), state());
        page_cache.put(&first, "a".to_owned(), page(5));
        for (now, is_kept) in [(59, false), (60, true), (119, true), (120, false)] {
            assert_eq!(page_cache.get(&first, "a", at(now)).is_some(), is_kept, "{now}");
        }
        assert!(page_cache.get(&second, "a", at(60)).is_none() && page_cache.get(&first, "b", at(60)).is_none());
        page_cache.put(&second, "b".to_owned(), page(5));
        assert!(page_cache.get(&first, "a", at(60)).is_none() && page_cache.get(&second, "b", at(60)).is_some());
    }

    #[test]
    fn cache_size_is_bounded() {
        let (page_cache, state) = (PageCache::default(), state());
        for number in 0..1000 {
            page_cache.put(&state, number.to_string(), page(100_000));
            let rows = page_cache.rows();
            let kept: usize = rows.pages.values().map(|page| page.document.size()).sum();
            assert!(kept <= rows.bytes && rows.bytes <= MAX_BYTES);
        }
        assert!(page_cache.get(&state, "999", at(60)).is_some());
        // A page that is rendered again replaces its previous version.
        let before = page_cache.rows().bytes;
        page_cache.put(&state, "999".to_owned(), page(100_000));
        assert_eq!(page_cache.rows().bytes, before);
        page_cache.put(&state, "long".to_owned(), page(MAX_BYTES + 1));
        page_cache.put(&state, "n".repeat(MAX_KEY + 1), page(1));
        assert!(page_cache.get(&state, "long", at(60)).is_none());
    }
}
