//! The database schema: the tables of all services, and their migrations.

use signpost_atm::catalogue::{Source, StoredAtm, UnmergedAtm};
use signpost_atm::feeds::Feed;
use signpost_atm::reports::salt::ReportSalt;
use signpost_atm::reports::{BannedReporter, MachineReport};
use signpost_login::browser_sessions::BrowserSession;
use signpost_login::domains::sql::{DeletedDomain, DomainRow};
use signpost_login::events::DeliveryRow;
use signpost_login::events::endpoints::EndpointRow;
use signpost_login::sessions::Session;
use signpost_login::sessions::idempotency::RememberedReply;
use signpost_login::users::{CredentialRow, HostedUser, IssuedUsername, UserIdentifier};
use signpost_openid::authorizations::PendingAuthorization;
use signpost_openid::clients::Client;
use signpost_openid::grants::{Consent, Grant, StoredToken};
use signpost_openid::signing_keys::StoredSigningKey;
use signpost_platform::accounts::audit::AuditEntry;
use signpost_platform::accounts::keys::StoredKey;
use signpost_store::{Migration, Schema, Stored, StoredTable};

use crate::console::operators::{ConsoleLink, Operator};

/// The schema of the database.
pub static SCHEMA: Schema = Schema {
    migrations: MIGRATIONS,
    tables: TABLES,
    single_rows: &[
        ("catalogue", "version"),
        ("deployment", "public_address"),
        ("atm_report_state", "version"),
        ("encryption_key", "fingerprint"),
        ("encryption_key", "old_fingerprint"),
        ("username_key", "key"),
    ],
    watched: &[DomainRow::TABLE.name],
};

/// The migrations, in order. A released migration is never edited.
const MIGRATIONS: &[Migration] = &[
    Migration {
        postgres: concat!(
            include_str!("../../migrations/0001_initial.sql"),
            include_str!("../../migrations/0001_initial.postgres.sql")
        ),
        sqlite: Some(include_str!("../../migrations/0001_initial.sql")),
        contracts: false,
    },
    Migration {
        postgres: concat!(
            include_str!("../../migrations/0002_users.sql"),
            include_str!("../../migrations/0002_users.postgres.sql")
        ),
        sqlite: Some(include_str!("../../migrations/0002_users.sql")),
        contracts: false,
    },
];

/// All tables except the single-row tables. An interrupted move continues at a position in this list.
const TABLES: &[StoredTable] = &[
    StoredKey::TABLE,
    DomainRow::TABLE,
    Session::TABLE,
    DeliveryRow::TABLE,
    Source::TABLE,
    StoredAtm::TABLE,
    UnmergedAtm::TABLE,
    Feed::TABLE,
    DeletedDomain::TABLE,
    RememberedReply::TABLE,
    CredentialRow::TABLE,
    EndpointRow::TABLE,
    AuditEntry::TABLE,
    HostedUser::TABLE,
    IssuedUsername::TABLE,
    BrowserSession::TABLE,
    Client::TABLE,
    StoredSigningKey::TABLE,
    PendingAuthorization::TABLE,
    Grant::TABLE,
    StoredToken::TABLE,
    Consent::TABLE,
    MachineReport::TABLE,
    BannedReporter::TABLE,
    ReportSalt::TABLE,
    Operator::TABLE,
    ConsoleLink::TABLE,
    UserIdentifier::TABLE,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use jiff::Timestamp;
    use signpost_store::{ColumnKind, Row, Store, params};

    use super::*;
    use crate::deployment::public_address;

    #[tokio::test]
    async fn move_includes_the_public_address() {
        let open = || Store::open("sqlite::memory:", &SCHEMA).unwrap();
        let (old, new) = (open(), open());
        for address in ["https://before.test", "https://a.test"] {
            public_address::record(&old, address).await.unwrap();
        }
        new.copy_from(&old, "old", Timestamp::UNIX_EPOCH, |_, _| ()).await.unwrap();
        assert_eq!(public_address::find(&new).await.unwrap().as_deref(), Some("https://a.test"));
    }

    #[tokio::test]
    async fn move_covers_every_table_and_column() {
        let store = Store::open("sqlite::memory:", &SCHEMA).unwrap();
        let not_of_rows = [
            "applied_migrations",
            "required_migrations",
            "catalogue",
            "deployment",
            "moves",
            "probe",
            "atm_report_state",
            "encryption_key",
            "username_key",
            // The servers of the old database do not run on the new database.
            "servers",
        ];
        let tables = store.read("SELECT name FROM sqlite_master WHERE type = 'table'", params![]).await.unwrap();
        let tables: BTreeSet<String> = tables.iter().map(|row| row.text(0).unwrap().to_owned()).collect();
        let known: BTreeSet<String> =
            TABLES.iter().map(|table| table.name).chain(not_of_rows).map(str::to_owned).collect();
        assert_eq!(tables, known);
        for table in TABLES {
            let columns = "SELECT name, type FROM pragma_table_info($1)";
            let columns = store.read(columns, params![table.name]).await.unwrap();
            let text = |row: &Row, at| row.text(at).unwrap().to_owned();
            let columns: BTreeSet<_> = columns.iter().map(|row| (text(row, 0), text(row, 1))).collect();
            let sql = |kind| if kind == ColumnKind::Text { "TEXT" } else { "BIGINT" };
            let known = table.columns.iter().map(|column| (column.name.to_owned(), sql(column.kind).to_owned()));
            assert_eq!(columns, known.collect(), "{}", table.name);
        }
    }

    /// The login page states that it asks for no e-mail address and no password. Only a site gives the e-mail address of
    /// its user.
    #[test]
    fn no_column_is_for_a_password() {
        for (table, column) in
            TABLES.iter().flat_map(|table| table.columns.iter().map(|column| (table.name, column.name)))
        {
            let is_promised = ["password", "phone"].iter().all(|word| !column.contains(word));
            let is_mail = column.contains("mail") && (table, column) != ("users", "email");
            assert!(is_promised && !is_mail, "{table}.{column}");
        }
    }
}
