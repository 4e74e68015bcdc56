//! One connection that listens: it brings what changed, and tells whether the database can be reached.

use std::time::Duration;

use anyhow::{Result, bail};
use futures_util::future::poll_fn;
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_postgres::{AsyncMessage, Client};

use super::address::{PostgresAddress, Wire};
use crate::changes::StoreChange;

/// How often the server is asked for a sign of life, and how long it may take to give one.
const PULSE_INTERVAL: Duration = Duration::from_secs(1);
const PULSE_TIMEOUT: Duration = Duration::from_secs(4);
/// How long it may be gone before what waits for it is told so: a listener alone may have been cut.
const GRACE_PERIOD: Duration = Duration::from_secs(1);
/// How long until it is looked for again.
const RETRY_DELAY: Duration = Duration::from_millis(250);

/// Whether changes are heard; if not, since when.
pub(super) type Pulse = watch::Receiver<Option<Instant>>;

/// Ends once the database has been away for a while.
pub(super) async fn gone(pulse: &mut Pulse) {
    loop {
        let since = pulse.wait_for(Option::is_some).await.map(|since| *since);
        let Ok(Some(since)) = since else { break };
        match timeout_at(since + GRACE_PERIOD, pulse.wait_for(Option::is_none)).await.map(|back| back.is_ok()) {
            Err(_) => return,
            Ok(true) => {}
            Ok(false) => break,
        }
    }
    // The store is closing; what runs may end.
    std::future::pending::<()>().await;
}

/// Listens for ever. A loss of the change feed is logged once, and so is its return.
pub(super) async fn run(
    address: PostgresAddress,
    changes: broadcast::Sender<StoreChange>,
    state: watch::Sender<Option<Instant>>,
) {
    let mut is_lost = false;
    loop {
        let failed = listen(&address, &changes, &state, &mut is_lost).await;
        state.send_if_modified(|since| since.is_none().then(|| *since = Some(Instant::now())).is_some());
        drop(changes.send(StoreChange::Lost));
        if let Err(error) = failed
            && !is_lost
        {
            is_lost = true;
            tracing::warn!(error = format!("{error:#}"), "cannot follow the database's change feed");
        }
        sleep(RETRY_DELAY).await;
    }
}

/// Listens until that fails.
async fn listen(
    address: &PostgresAddress,
    changes: &broadcast::Sender<StoreChange>,
    state: &watch::Sender<Option<Instant>>,
    is_lost: &mut bool,
) -> Result<()> {
    let (client, wire) = address.open().await?;
    let hearing = async {
        timeout(PULSE_TIMEOUT, client.batch_execute(&format!("LISTEN {}", channel(&client).await?))).await??;
        state.send_replace(None);
        drop(changes.send(StoreChange::Heard));
        if std::mem::take(is_lost) {
            tracing::info!("the database's change feed is back");
        }
        loop {
            sleep(PULSE_INTERVAL).await;
            timeout(PULSE_TIMEOUT, client.batch_execute("SELECT 1")).await??;
        }
    };
    tokio::select! {
        beats = hearing => beats,
        ended = hear(wire, changes) => ended,
    }
}

/// The triggers of the same tables speak on it: each schema has its own.
async fn channel(client: &Client) -> Result<String> {
    let row = client.query_one("SELECT quote_ident('signpost_' || current_schema())", &[]).await?;
    Ok(row.try_get(0)?)
}

async fn hear(mut wire: Wire, changes: &broadcast::Sender<StoreChange>) -> Result<()> {
    while let Some(message) = poll_fn(|context| wire.poll_message(context)).await {
        if let AsyncMessage::Notification(told) = message? {
            // Nobody may listen yet, who then reads what is there.
            drop(changes.send(StoreChange::read(told.payload())));
        }
    }
    bail!("the connection ended")
}
