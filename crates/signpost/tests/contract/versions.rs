//! Programs of two versions with a shared database (docs/operate.md, Upgrade).

use std::path::Path;

use data_encoding::HEXLOWER;
use signpost::server::schema::SCHEMA;
use signpost_store::{DatabaseTooNew, DatabaseUnreleased, Migrated, Migration, Schema, Store, is_postgres, random};
use url::Url;

use crate::harness::{Service, until};

/// Number of migrations of this version.
const OLDER: usize = SCHEMA.migrations.len();

/// The migrations of a newer version, including a migration that removes a part when no older server is left.
const NEXT: [Migration; 2] = [
    Migration::expands("ALTER TABLE users ADD COLUMN nickname TEXT"),
    Migration { contracts: true, ..Migration::expands("DROP INDEX audit_action") },
];

/// Returns the schema of a version with these migrations.
fn schema(migrations: Vec<Migration>) -> &'static Schema {
    Box::leak(Box::new(Schema { migrations: migrations.leak(), tables: &[], single_rows: &[], watched: &[] }))
}

/// Returns the URL of an empty database that no other test uses and that outlives its connections.
async fn url(folder: &Path) -> String {
    #[expect(clippy::disallowed_methods, reason = "the variable selects the database of the tests")]
    let Ok(server) = std::env::var("SIGNPOST_TEST_POSTGRES") else {
        return format!("sqlite:{}", folder.join("store.sqlite").display());
    };
    let name = format!("versions_{}", HEXLOWER.encode(&random::<8>()));
    let (client, connection) = tokio_postgres::connect(&server, tokio_postgres::NoTls).await.expect("a server");
    tokio::spawn(async { drop(connection.await) });
    client.batch_execute(&format!("CREATE DATABASE {name}")).await.expect("a database");
    let mut url = Url::parse(&server).expect("a URL");
    url.set_path(&name);
    url.into()
}

/// Logs in at a server of this version.
async fn log_in(service: &Service) {
    let integrator = service.integrator().await;
    let session = integrator.create_session("shop.test").await;
    integrator.authenticate(&session, &service.phone().answer(&session)).await.with(200);
    assert_eq!(integrator.get_session(&session).await.with(200)["status"], "authenticated");
}

#[tokio::test]
async fn older_server_works_until_contract() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = url(folder.path()).await;
    let newer = schema([SCHEMA.migrations, &NEXT].concat());
    let [from, expanded, contracted] = [OLDER, OLDER + 1, OLDER + 2].map(|version| i64::try_from(version).unwrap());
    let service = Service::open(&[("database_url", &url)], Service::clock()).await;
    service.shop().await;
    // An embedded database has one server, so the tables are contracted immediately.
    if is_postgres(&url) {
        let migrated = Store::migrate(&url, newer, false).await.expect("a migration");
        assert_eq!(migrated, Migrated { from, to: expanded, pending: vec![contracted] });
        log_in(&service).await;
        let refused = Store::migrate(&url, newer, true).await.expect_err("an older server is connected");
        assert!(refused.to_string().contains("update or stop it first"), "{refused:#}");
        log_in(&service).await;
    }
    service.stop().await;
    // PostgreSQL lists the closed connections of the older server until their processes have ended.
    let migrated = until("no older server is listed", async || Store::migrate(&url, newer, true).await.ok()).await;
    assert_eq!((migrated.to, migrated.pending), (contracted, Vec::new()));
    let refused = Store::open(&url, &SCHEMA).expect_err("an older version");
    let refused = refused.downcast_ref::<DatabaseTooNew>().expect("a newer version");
    assert_eq!((refused.needed, refused.known), (contracted, from));
    Store::open(&url, newer).expect("a database").close().await;
}

#[tokio::test]
async fn unreleased_database_is_rejected_and_unchanged() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = url(folder.path()).await;
    if is_postgres(&url) {
        let unreleased = schema(vec![Migration::expands("CREATE TABLE schema_needed (version BIGINT NOT NULL)")]);
        Store::open(&url, unreleased).expect("a database").close().await;
    } else {
        let database = rusqlite::Connection::open(folder.path().join("store.sqlite")).expect("a database");
        database.execute_batch("CREATE TABLE schema_version (version BIGINT NOT NULL)").expect("a table");
        database.close().expect("closed");
    }
    for _ in 0..2 {
        let refused = Store::open(&url, &SCHEMA).expect_err("an unreleased version");
        assert!(refused.downcast_ref::<DatabaseUnreleased>().is_some(), "{refused:#}");
        assert!(refused.to_string().contains("unreleased version of signpost"), "{refused:#}");
    }
}
