#!/bin/sh
# Three servers on a PostgreSQL with a standby, by the commands of docs/operate.md: the primary is killed under load and the
# standby promoted, and no acknowledged write may be lost. Commits are synced to disk.
set -eu
cd "$(dirname "$0")/.."
. tests/servers.sh
start_postgres
start_standby
start_redis
export SIGNPOST_TEST_POSTGRES="$postgres_pair" SIGNPOST_TEST_REDIS="$redis" SIGNPOST_TEST_LOSE_PRIMARY="$lose_primary"
cargo test --workspace --test contract --quiet -- --ignored --nocapture --test-threads 1 failover::
