//! What a page is made of: one state of the catalogue and of the place names.

use std::sync::Arc;

use signpost_locator::gazetteer::Gazetteer;

use crate::catalogue::{Catalogue, Snapshot, Towns};

/// What a page is made of. Hold it for one request, so that all of the page fits together.
#[derive(Debug)]
pub(super) struct Ground {
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) places: Arc<Gazetteer>,
}

impl Ground {
    /// The state of now. The first page of a state sorts its machines by towns, on a thread where that holds up nobody.
    pub(super) async fn of(catalogue: &Catalogue) -> Self {
        let (snapshot, places) = (catalogue.snapshot(), catalogue.places.now());
        if snapshot.made_towns().is_none() {
            let (sorted, names) = (Arc::clone(&snapshot), Arc::clone(&places));
            // Where that thread could not be had, the page sorts them itself.
            let sort = move || {
                let _made = sorted.towns(&names);
            };
            tokio::task::spawn_blocking(sort).await.ok();
        }
        Self { snapshot, places }
    }

    pub(super) fn towns(&self) -> &Towns {
        self.snapshot.towns(&self.places)
    }
}
