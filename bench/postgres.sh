#!/bin/sh
# Starts a PostgreSQL server of its own on loopback, with its defaults: a commit waits for the disk. Measures on it, and
# ends it. Ends within two minutes.
set -eu
cd "$(dirname "$0")/.."
. tests/servers.sh
start_postgres
SIGNPOST_BENCH_POSTGRES="$postgres" cargo run --quiet --release -p signpost-bench --bin postgres
