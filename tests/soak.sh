#!/bin/sh
# Three servers on a PostgreSQL and a Redis of the test, all of which are killed and restarted under load, for the given
# number of seconds (default 30): no acknowledged write may be lost.
set -eu
cd "$(dirname "$0")/.."
. tests/servers.sh
start_postgres fsync=off
start_redis
export SIGNPOST_TEST_POSTGRES="$postgres" SIGNPOST_TEST_REDIS="$redis" SIGNPOST_SOAK_SECONDS="${1:-30}"
export SIGNPOST_TEST_RESTART_POSTGRES="$restart_postgres" SIGNPOST_TEST_RESTART_REDIS="$restart_redis"
cargo test --workspace --test contract --quiet -- --ignored --nocapture --test-threads 1 soak:: \
  rolling_restart_drops_no_request
