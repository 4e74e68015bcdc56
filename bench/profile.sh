#!/bin/sh
# Counts instructions per request, by path, as Markdown: `sh bench/profile.sh [PATH…]`. Uses callgrind, so that two commits
# can be compared on a busy machine. Builds with line tables into target/perf, which is not deleted. Requires valgrind and,
# for the system calls, strace (apt-get install valgrind strace). Ends within five minutes after the build.
set -eu
cd "$(dirname "$0")/.."
command -v valgrind >/dev/null || { echo "not measured: valgrind is not installed (apt-get install valgrind)"; exit 1; }
export CARGO_PROFILE_DIST_DEBUG=line-tables-only CARGO_PROFILE_DIST_STRIP=none CARGO_PROFILE_DIST_CODEGEN_UNITS=16
export CARGO_TARGET_DIR="$PWD/target/perf"
cargo build --quiet --profile dist -p signpost-bench --bin profile
exec timeout 600 "$CARGO_TARGET_DIR/dist/profile" "$@"
