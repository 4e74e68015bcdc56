#!/bin/sh
# Runs all measurements in sequence and prints a table of all results. The machine must be idle; it ends about ten minutes
# after the builds. It installs wrk if permitted, and names the other missing tools.
set -eu
cd "$(dirname "$0")/.."
results="$(mktemp)"
trap 'rm -f "$results"' EXIT

if ! command -v wrk >/dev/null 2>&1; then
  if [ "$(id -u)" = 0 ]; then as_root=""; else as_root="sudo -n"; fi
  { $as_root apt-get update -qq && $as_root apt-get install -y -qq --no-install-recommends wrk; } >/dev/null 2>&1 || true
fi
command -v wrk >/dev/null 2>&1 || no_wrk="wrk; only our own generator was used (apt-get install wrk)"

# Prints the output of a measurement, stores it for the table, and continues after a failure.
run() {
  name="$1"
  shift
  { timeout 240 "$@" 2>&1 || printf 'FAILED\t%s\n' "$name"; } | tee -a "$results" | grep -v '^RESULT' || true
}
missing() { printf 'MISSING\t%s\n' "$1" | tee -a "$results"; }

[ -z "${no_wrk:-}" ] || missing "$no_wrk"
cargo build --quiet --profile dist -p signpost-bench
cargo build --quiet --profile dist --bin signpost
cargo bench --quiet --profile dist --no-run -p signpost-locator
CARGO_TARGET_DIR=target/baselines cargo build --quiet --release --manifest-path bench/baselines/rmcp/Cargo.toml ||
  missing "rmcp: it could not be built"
for baseline in node typescript; do
  [ -d "bench/baselines/$baseline/node_modules" ] || npm ci --silent --no-progress --prefix "bench/baselines/$baseline" ||
    missing "the packages of bench/baselines/$baseline: npm ci failed (apt-get install nodejs npm)"
done

run machine sh bench/machine.sh
for measurement in tool_call polls sessions logins scale pages city passkeys openid verify locks reports console; do
  run "$measurement" "target/dist/$measurement"
done
run map sh bench/map.sh
run PostgreSQL sh bench/postgres.sh
run catalogue target/dist/catalogue
run nearest cargo bench --quiet --profile dist -p signpost-locator --bench nearest
run places cargo bench --quiet --profile dist -p signpost-locator --bench places
run databases sh bench/databases.sh
run footprint target/dist/footprint
echo
target/dist/table "$results"
