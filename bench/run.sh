#!/bin/sh
# Every measurement, one after another. Nothing else should run beside it; it ends by itself within three minutes.
set -eu
cd "$(dirname "$0")/.."
cargo build --quiet --release -p signpost-bench
CARGO_TARGET_DIR=target/baselines cargo build --quiet --release --manifest-path bench/baselines/rmcp/Cargo.toml ||
  echo "without rmcp: it could not be built" >&2
cargo bench --quiet -p signpost-locator --bench nearest
cargo bench --quiet -p signpost-locator --bench places
sh bench/databases.sh
for measurement in catalogue verify sessions tool_call; do
  cargo run --quiet --release -p signpost-bench --bin "$measurement"
done
