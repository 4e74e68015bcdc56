//! The primary of a PostgreSQL database is lost under load, and its standby is promoted (`tests/failover.sh`).

use std::sync::Arc;

use crate::harness::{Endpoint, until};
use crate::soak::{AcknowledgedState, Caller, Ledger, assert_nothing_lost, restart, start_users};

/// Number of acknowledged logins before the loss of the primary, and again after it.
const LOGINS: usize = 100;

async fn wait_for_logins(ledger: &Ledger, number: usize) {
    until("they log in", async || (ledger.count(AcknowledgedState::Authenticated) >= number).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs a primary that may be killed: tests/failover.sh, which make test runs"]
async fn acknowledged_writes_survive_a_failover() {
    let mut endpoint = Endpoint::start().await;
    let caller = Caller::start(&endpoint.url("/hook")).await;
    let ledger = Arc::new(Ledger::default());
    let people = start_users(&caller, &ledger);
    wait_for_logins(&ledger, LOGINS).await;
    let lose = || restart("SIGNPOST_TEST_LOSE_PRIMARY", "the primary was killed, the standby promoted");
    println!("{}", tokio::task::spawn_blocking(lose).await.expect("no panic"));
    // The servers reconnect to the new primary by themselves, and it accepts writes.
    let before = ledger.count(AcknowledgedState::Authenticated);
    wait_for_logins(&ledger, before + LOGINS).await;
    assert_nothing_lost(&caller, &ledger, people, &mut endpoint).await;
}
