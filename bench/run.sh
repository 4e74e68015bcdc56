#!/bin/sh
# Every measurement, one after another. Nothing else should run beside it; it ends by itself within two minutes.
set -eu
cd "$(dirname "$0")/.."
cargo build --quiet --release -p signpost-bench
cargo bench --quiet -p signpost-locator --bench nearest
for measurement in verify sessions tool_call; do
  cargo run --quiet --release -p signpost-bench --bin "$measurement"
done
