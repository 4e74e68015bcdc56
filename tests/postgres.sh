#!/bin/sh
# The contract's tests once more on a PostgreSQL server of their own, and those of several servers on it, with a Redis.
set -eu
cd "$(dirname "$0")/.."
. tests/servers.sh
# What the tests write may be lost with the machine.
start_postgres fsync=off
export SIGNPOST_TEST_POSTGRES="$postgres"
cargo test --workspace --test contract --quiet
cargo test --workspace --test contract --quiet -- --ignored replicas::
