//! API keys in the database.

use anyhow::{Context, Result};
use jiff::Timestamp;

use super::{KeyHash, KeyId, ListedKey, NewKey, Opened};
use crate::account::{Account, Environment, Scope};
use crate::store::{Row, Store, must, params};

const INSERT: &str = "
    INSERT INTO api_keys (id, account, environment, name, hash, created_at, scope)
    VALUES ($1, $2, $3, $4, $5, $6, $7)";

const LIST: &str =
    "SELECT id, account, environment, name, created_at, revoked_at, scope FROM api_keys ORDER BY created_at, id";

const OPENED: &str = "
    SELECT account, scope FROM api_keys WHERE hash = $1 AND environment = $2 AND revoked_at IS NULL";

const REVOKE: &str = "UPDATE api_keys SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL";

impl Store {
    /// Keeps a new key's hash.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn insert_key(&self, account: &Account, name: &str, key: &NewKey, now: Timestamp) -> Result<()> {
        let Account { name: account, environment } = account;
        let params = params![&key.id, account, *environment, name, &key.hash(), now, key.scope];
        self.write([must(INSERT, params)]).await?;
        Ok(())
    }

    /// Every key, oldest first, the revoked ones too.
    ///
    /// # Errors
    /// As [`Store::read`].
    pub async fn keys(&self) -> Result<Vec<ListedKey>> {
        self.read(LIST, params![]).await?.iter().map(listed).collect()
    }

    /// What a key opens, unless it was revoked.
    ///
    /// # Errors
    /// As [`Store::read`].
    pub async fn opened(&self, environment: Environment, hash: &KeyHash) -> Result<Option<Opened>> {
        let row = self.read_one(OPENED, params![hash, environment]).await?;
        let opened = |row: Row| {
            let account = Account { name: row.text(0)?.to_owned(), environment };
            Ok(Opened { account, scope: Scope::parse(row.text(1)?).context("api_keys.scope")? })
        };
        row.map(opened).transpose()
    }

    /// Ends a key. False where no key that still opens has this id.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn revoke_key(&self, id: &KeyId, now: Timestamp) -> Result<bool> {
        Ok(self.write([must(REVOKE, params![now, id])]).await?.is_committed())
    }
}

fn listed(row: &Row) -> Result<ListedKey> {
    Ok(ListedKey {
        id: KeyId::parse(row.text(0)?).context("api_keys.id")?,
        account: row.text(1)?.to_owned(),
        environment: Environment::parse(row.text(2)?).context("api_keys.environment")?,
        name: row.text(3)?.to_owned(),
        created_at: row.time(4)?,
        revoked_at: row.opt_time(5)?,
        scope: Scope::parse(row.text(6)?).context("api_keys.scope")?,
    })
}
