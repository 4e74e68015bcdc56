//! Databases of tests.

use signpost::server::schema::SCHEMA;
use signpost_store::{Store, random};
use std::path::Path;

/// The modules whose tests never call [`database()`]. The run on PostgreSQL skips them.
const EMBEDDED_ONLY: &str = include_str!("../../../../tests/embedded-only.txt");

/// Returns the URL of a database for a test: in memory, or a schema of the server in `SIGNPOST_TEST_POSTGRES`.
pub(crate) async fn database() -> String {
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    let module = name.split("::").next().unwrap_or_default();
    assert!(!EMBEDDED_ONLY.lines().any(|only| only == module), "remove {module} from tests/embedded-only.txt");
    #[expect(clippy::disallowed_methods, reason = "the variable selects the database of the tests")]
    let Ok(server) = std::env::var("SIGNPOST_TEST_POSTGRES") else { return "sqlite::memory:".to_owned() };
    let schema = format!("test_{}", data_encoding::HEXLOWER.encode(&random::<8>()));
    let (client, connection) = tokio_postgres::connect(&server, tokio_postgres::NoTls).await.expect("a server");
    tokio::spawn(async { drop(connection.await) });
    client.batch_execute(&format!("CREATE SCHEMA {schema}")).await.expect("a schema");
    format!(
        "{server}{}application_name={schema}&options=-csearch_path%3D{schema}",
        if server.contains('?') { '&' } else { '?' }
    )
}

/// Creates the embedded database in a folder, as a server leaves it. Commands open a database, but never create it.
pub(crate) fn embedded_database(data_dir: &Path) {
    std::fs::create_dir_all(data_dir).expect("a folder");
    drop(Store::open(&address_in(data_dir), &SCHEMA).expect("a database"));
}

/// Opens the database of a folder like another process, with a handle separate from the server's.
pub(crate) fn open_separately(data_dir: &Path) -> Store {
    Store::open_existing(&address_in(data_dir), &SCHEMA).expect("the server's database")
}

fn address_in(data_dir: &Path) -> String {
    format!("sqlite:{}", data_dir.join("signpost.sqlite").display())
}
