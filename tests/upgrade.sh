#!/bin/sh
# Replaces three servers of an older version under load by this version; no request may fail: tests/upgrade.sh COMMIT.
# The older program is built from that commit into target/older, or into the folder $OLDER_TARGET: minutes the first time,
# so CI does not run this test. $OLDER_PROGRAM names a program that is already built.
set -eu
cd "$(dirname "$0")/.."
[ -n "${1:-}${OLDER_PROGRAM:-}" ] || { echo "usage: tests/upgrade.sh COMMIT (of the older version)" >&2; exit 2; }
. tests/servers.sh
older="${OLDER_PROGRAM:-}"
if [ -z "$older" ]; then
  target="${OLDER_TARGET:-$PWD/target/older}"
  mkdir -p "$folder/source"
  git archive "$1" | tar -x -C "$folder/source"
  (cd "$folder/source" && CARGO_TARGET_DIR="$target" cargo build --workspace --bin signpost --quiet)
  older="$target/debug/signpost"
fi
start_postgres fsync=off
start_redis
export SIGNPOST_TEST_POSTGRES="$postgres" SIGNPOST_TEST_REDIS="$redis" SIGNPOST_TEST_OLDER_PROGRAM="$older"
cargo test --workspace --test contract --quiet -- --ignored --nocapture --test-threads 1 rolling_upgrade_drops_no_request
