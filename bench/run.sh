#!/bin/sh
# Every measurement, one after another. Nothing else should run beside it; it ends by itself within five minutes.
set -eu
cd "$(dirname "$0")/.."
cargo build --quiet --release -p signpost-bench
CARGO_TARGET_DIR=target/baselines cargo build --quiet --release --manifest-path bench/baselines/rmcp/Cargo.toml ||
  echo "without rmcp: it could not be built" >&2
cargo bench --quiet -p signpost-locator --bench nearest
cargo bench --quiet -p signpost-locator --bench places
sh bench/databases.sh
if [ ! -d bench/baselines/node/node_modules ]; then
  npm ci --silent --no-progress --prefix bench/baselines/node || echo "without lnurl and siwe: they could not be installed" >&2
fi
for measurement in catalogue verify sessions polls logins passkeys pages tool_call; do
  cargo run --quiet --release -p signpost-bench --bin "$measurement"
done
if ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then sh bench/postgres.sh; else echo "without PostgreSQL: it is not installed"; fi
