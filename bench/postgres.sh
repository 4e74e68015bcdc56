#!/bin/sh
# Starts a PostgreSQL server on loopback, with its defaults (a commit waits for the disk), and a Redis if installed.
# Measures on them, and stops them. Ends within two minutes.
set -eu
cd "$(dirname "$0")/.."
if ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then
  printf 'MISSING\tPostgreSQL: apt-get install postgresql\n'
  exit 0
fi
. tests/servers.sh
start_postgres
if command -v redis-server >/dev/null 2>&1; then
  start_redis
  export SIGNPOST_BENCH_REDIS="$redis"
fi
cargo build --quiet --profile dist -p signpost-bench --bin postgres
SIGNPOST_BENCH_POSTGRES="$postgres" target/dist/postgres
