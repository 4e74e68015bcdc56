#!/bin/sh
# Starts a PostgreSQL server of its own from Debian's package, on loopback, runs the contract's tests on it, and ends it.
set -eu
cd "$(dirname "$0")/.."
bin="$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)"
[ -n "$bin" ] || bin="$(dirname "$(command -v initdb)")"
folder="$(mktemp -d)"
# The server refuses to run as root.
as=""
if [ "$(id -u)" = 0 ]; then as="runuser -u postgres --"; chown postgres "$folder"; chmod 755 "$folder"; fi
end() { $as "$bin/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$folder"; }
trap end EXIT INT TERM

$as "$bin/initdb" -D "$folder/data" -A trust -U signpost >/dev/null
# Below the ports that the system gives away. What the tests write may be lost with the machine.
port=$((29000 + $$ % 1000))
settings="-c listen_addresses=127.0.0.1 -p $port -c unix_socket_directories=$folder -c fsync=off -c max_connections=600"
$as "$bin/pg_ctl" -D "$folder/data" -w -l "$folder/log" -o "$settings" start >/dev/null
export SIGNPOST_TEST_POSTGRES="postgres://signpost@127.0.0.1:$port/postgres"
cargo test --workspace --test contract --quiet
cargo test --workspace --test contract --quiet -- --ignored replicas::
