//! Concurrent fetches of a feed by two servers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use signpost::server::schema::SCHEMA;
use signpost_atm::catalogue::{
    Coverage, FileContents, ImportCounts, ImportRules, ImportSteps, RequiredStatementRefused, apply_with,
};
use signpost_atm::feeds::{self, Feed, FeedFetcher, SyncOutcome};
use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::import::{FormatChoice, Options};
use signpost_platform::clock::Clock;
use signpost_store::{Statement, Store};

use crate::feeds::{Source, fetcher, places};

/// Stores a feed in a new database. Returns the database and a fetcher with a manual clock.
async fn stored_feed(url: String) -> (Store, FeedFetcher) {
    let store = Store::open("sqlite::memory:", &SCHEMA).unwrap();
    let every = Some(Duration::from_hours(6));
    feeds::sql::save(&store, &Feed::new("map".to_owned(), url, FormatChoice::Auto, "map".to_owned(), every))
        .await
        .unwrap();
    let fetcher = fetcher(&store, Clock::manual(Timestamp::UNIX_EPOCH + SignedDuration::from_hours(1000)));
    (store, fetcher)
}

async fn stored(store: &Store) -> Feed {
    feeds::sql::find(store, "map").await.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn feed_fetched_by_another_server_is_no_failure() {
    let (source, url) = Source::start().await;
    source.respond_with(200, &places(10));
    let (store, fetcher) = stored_feed(format!("{url}?updated_since={{updated_since}}")).await;
    let gazetteer = Arc::new(Gazetteer::embedded());
    fetcher.run(&gazetteer, stored(&store).await).await.unwrap();
    fetcher.clock.advance(SignedDuration::from_hours(6));

    let read_by_both = stored(&store).await;
    let first = fetcher.run(&gazetteer, read_by_both.clone()).await.unwrap();
    assert!(matches!(first, SyncOutcome::Imported { .. }), "{first:?}");
    let row = stored(&store).await;
    assert_eq!((row.failures, row.synced_to), (0, Some(fetcher.clock.now())));
    fetcher.clock.advance(SignedDuration::from_secs(1));
    let second = fetcher.run(&gazetteer, read_by_both).await.unwrap();
    assert!(matches!(second, SyncOutcome::Superseded), "{second:?}");
    assert_eq!(format!("{:?}", stored(&store).await), format!("{row:?}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn failure_does_not_replace_another_servers_success() {
    let (source, url) = Source::start().await;
    let (store, fetcher) = stored_feed(url).await;
    let gazetteer = Arc::new(Gazetteer::embedded());

    // The success of another server replaces a failure.
    let read_by_all = stored(&store).await;
    source.respond_with(503, &"");
    fetcher.run(&gazetteer, read_by_all.clone()).await.unwrap_err();
    assert_eq!(stored(&store).await.failures, 1);
    source.respond_with(200, &places(10));
    fetcher.clock.advance(SignedDuration::from_secs(1));
    fetcher.run(&gazetteer, read_by_all.clone()).await.unwrap();
    let row = stored(&store).await;
    assert_eq!((row.failures, &row.last_error, row.fetched_at), (0, &None, Some(fetcher.clock.now())));

    for (status, body) in [(503, String::new()), (200, places(10).to_string())] {
        source.respond_with(status, &body);
        fetcher.clock.advance(SignedDuration::from_secs(1));
        assert_eq!(fetcher.run(&gazetteer, read_by_all.clone()).await.is_ok(), status == 200);
        let Feed { failures, last_error, fetched_at, next_at, .. } = stored(&store).await;
        let expected = (row.failures, row.last_error.clone(), row.fetched_at, row.next_at);
        assert_eq!((failures, last_error, fetched_at, next_at), expected, "{status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rejected_import_is_not_retried() {
    let store = Store::open("sqlite::memory:", &SCHEMA).unwrap();
    let gazetteer = Gazetteer::embedded();
    let contents = FileContents::from_bytes(places(3).to_string().as_bytes(), &Options::default(), &gazetteer).unwrap();
    let (name, attribution) = ("map".to_owned(), "map".to_owned());
    let source = signpost_atm::catalogue::Source { name, attribution, imported_at: Timestamp::UNIX_EPOCH };
    let rules = ImportRules { extent: Coverage::Full, force: false, dry_run: false, max_atms: usize::MAX };
    let attempts = Mutex::new(0);
    let refused = |_: ImportCounts| {
        *attempts.lock().unwrap() += 1;
        let others = vec![Statement::expect_row("UPDATE atm_feeds SET failures = 0 WHERE name = 'none'", Vec::new())];
        ImportSteps { feed: None, others }
    };
    let error = apply_with(&store, &source, &contents, rules, refused).await.unwrap_err();
    assert!(error.is::<RequiredStatementRefused>(), "{error:#}");
    assert_eq!(*attempts.lock().unwrap(), 1);
}
