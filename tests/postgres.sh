#!/bin/sh
# The tests with servers once more on a PostgreSQL server of their own, and those of several servers on it, with a Redis;
# `tests/postgres.sh FILTER` runs those alone whose name holds FILTER.
set -eu
cd "$(dirname "$0")/.."
. tests/servers.sh
# What the tests write may be lost with the machine.
start_postgres fsync=off
start_redis
export SIGNPOST_TEST_POSTGRES="$postgres" SIGNPOST_TEST_REDIS="$redis" SIGNPOST_TEST_POSTGRES_CA="$postgres_ca"
# Those that use no database, or only embedded ones, have run already: here they would be the same.
skip="$(sed 's/.*/--skip &::/' tests/embedded-only.txt)"
# shellcheck disable=SC2086
cargo test --workspace --test contract --test it --quiet -- $skip "$@"
# What no other run has the servers for; the rest of the ignored ones have commands of their own (see the Makefile).
cargo test --workspace --test contract --quiet -- --ignored --skip soak:: --skip rolling:: --skip failover:: \
  --skip documented:: --skip fuzz:: --skip write_the_page "$@"
