#!/bin/sh
# Repeats the tests with servers on a PostgreSQL server, and runs the tests of several servers on it, with a Redis;
# `tests/postgres.sh FILTER` runs only tests with FILTER in their names.
set -eu
cd "$(dirname "$0")/.."
. tests/servers.sh
# The data of the tests need not survive a crash of the machine.
start_postgres fsync=off
start_redis
export SIGNPOST_TEST_POSTGRES="$postgres" SIGNPOST_TEST_REDIS="$redis" SIGNPOST_TEST_POSTGRES_CA="$postgres_ca"
# Tests without a database, or with only embedded databases, are skipped: they have run already.
skip="$(sed 's/.*/--skip &::/' tests/embedded-only.txt)"
# shellcheck disable=SC2086
cargo test --workspace --test contract --test it --quiet -- $skip "$@"
# Ignored tests that need these servers; the other ignored tests have their own commands (see the Makefile).
cargo test --workspace --test contract --quiet -- --ignored --skip soak:: --skip rolling:: --skip failover:: \
  --skip documented:: --skip fuzz:: --skip write_the_page "$@"
