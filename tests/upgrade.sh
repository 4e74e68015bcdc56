#!/bin/sh
# Three servers of an older version under load are replaced by this one, and no request may fail: tests/upgrade.sh COMMIT.
# The older program is built from that commit into target/older, or into the folder that OLDER_TARGET names: minutes the
# first time, which is why CI does not run this. OLDER_PROGRAM names one that is built already.
set -eu
cd "$(dirname "$0")/.."
[ -n "${1:-}${OLDER_PROGRAM:-}" ] || { echo "tests/upgrade.sh COMMIT: which version is the older one?" >&2; exit 2; }
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
cargo test --workspace --test contract --quiet -- --ignored --nocapture --test-threads 1 an_upgrade_server_by_server
