//! Listens for change notifications, and detects loss of the PostgreSQL connection.

use std::time::Duration;

use anyhow::{Result, bail};
use futures_util::future::poll_fn;
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_postgres::{AsyncMessage, Client};

use super::address::{PostgresAddress, Wire};
use crate::changes::StoreChange;

/// Interval between health checks of the connection.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Timeout of a health check.
const CHECK_TIMEOUT: Duration = Duration::from_secs(4);
/// Time after the loss of the listening connection until pending requests fail. Other connections
/// may still work.
const GRACE_PERIOD: Duration = Duration::from_secs(1);
/// Delay before the next connection attempt.
const RETRY_DELAY: Duration = Duration::from_millis(250);

/// `None` while the listening connection works, and the time of its failure otherwise.
pub(super) type ConnectionHealth = watch::Receiver<Option<Instant>>;

/// Completes once the database has been unreachable for [`GRACE_PERIOD`].
pub(super) async fn wait_until_lost(health: &mut ConnectionHealth) {
    loop {
        let since = health.wait_for(Option::is_some).await.map(|since| *since);
        let Ok(Some(since)) = since else { break };
        match timeout_at(since + GRACE_PERIOD, health.wait_for(Option::is_none)).await.map(|back| back.is_ok()) {
            Err(_) => return,
            Ok(true) => {}
            Ok(false) => break,
        }
    }
    // The store is closing. Running requests may complete.
    std::future::pending::<()>().await;
}

/// Listens forever, and reconnects after failures. Each loss and each recovery of the connection is
/// logged once.
pub(super) async fn run(
    address: PostgresAddress,
    changes: broadcast::Sender<StoreChange>,
    state: watch::Sender<Option<Instant>>,
) {
    let mut is_lost = false;
    loop {
        let failed = listen(&address, &changes, &state, &mut is_lost).await;
        state.send_if_modified(|since| {
            let is_new = since.is_none();
            since.get_or_insert_with(Instant::now);
            is_new
        });
        drop(changes.send(StoreChange::Disconnected));
        if let Err(error) = failed
            && !is_lost
        {
            is_lost = true;
            tracing::warn!(error = format!("{error:#}"), "cannot follow the database's change feed");
        }
        sleep(RETRY_DELAY).await;
    }
}

/// Listens until the connection fails.
async fn listen(
    address: &PostgresAddress,
    changes: &broadcast::Sender<StoreChange>,
    state: &watch::Sender<Option<Instant>>,
    is_lost: &mut bool,
) -> Result<()> {
    let (client, wire) = address.open().await?;
    let checks = async {
        timeout(CHECK_TIMEOUT, client.batch_execute(&format!("LISTEN {}", channel(&client).await?))).await??;
        state.send_replace(None);
        drop(changes.send(StoreChange::Connected));
        if std::mem::take(is_lost) {
            tracing::info!("the database's change feed is back");
        }
        loop {
            sleep(CHECK_INTERVAL).await;
            timeout(CHECK_TIMEOUT, client.batch_execute("SELECT 1")).await??;
        }
    };
    tokio::select! {
        failed = checks => failed,
        ended = forward(wire, changes) => ended,
    }
}

/// Returns the name of the notification channel that the triggers of the current schema use.
async fn channel(client: &Client) -> Result<String> {
    let row = client.query_one("SELECT quote_ident('signpost_' || current_schema())", &[]).await?;
    Ok(row.try_get(0)?)
}

/// Drives a connection and forwards its notifications to the change feed.
async fn forward(mut wire: Wire, changes: &broadcast::Sender<StoreChange>) -> Result<()> {
    while let Some(message) = poll_fn(|context| wire.poll_message(context)).await {
        if let AsyncMessage::Notification(notification) = message? {
            // Sending fails if there are no receivers.
            drop(changes.send(StoreChange::read(notification.payload())));
        }
    }
    bail!("the connection ended")
}
