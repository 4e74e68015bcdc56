//! Handler of `/account`: names the account that an API key belongs to.

use axum::Json;
use serde::Serialize;
use signpost_platform::accounts::{Account, Environment, KeyId};
use signpost_platform::web::ApiKey;

/// The account of an API key, in replies.
#[derive(Serialize)]
pub(crate) struct AccountView {
    account: String,
    environment: Environment,
    key_id: KeyId,
}

/// `GET /account`: returns the account, the environment and the ID of the API key.
pub(crate) async fn show(account: Account, key: ApiKey) -> Json<AccountView> {
    Json(AccountView { account: account.name, environment: account.environment, key_id: key.id })
}
