# Starts servers from Debian's packages, on loopback, in a folder that is deleted with the calling script.
# `start_postgres [setting…]` sets $postgres to its address and $postgres_ca to its authority, `start_redis` sets $redis;
# $restart_postgres and $restart_redis are scripts that kill and restart them. `start_standby` adds a standby to this
# PostgreSQL, and sets $postgres_pair to the address of both, $lose_primary to a script that kills the primary and promotes
# the standby. Servers that already run are not used.
folder="$(mktemp -d)"
as=""
# A folder per port, because these scripts run concurrently.
ports="${TMPDIR:-/tmp}/signpost-port"; reserved=""
pg_bin="$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)"
[ -n "$pg_bin" ] || pg_bin="$(dirname "$(command -v initdb || echo /usr/bin/initdb)")"
# PostgreSQL refuses to run as root.
if [ "$(id -u)" = 0 ]; then as="runuser -u postgres --"; chmod 755 "$folder"; fi

end_servers() {
  for data in "$folder"/postgres/*/; do
    if [ -f "$data/postmaster.pid" ]; then $as "$pg_bin/pg_ctl" -D "$data" -m immediate stop >/dev/null 2>&1 || true; fi
  done
  if [ -f "$folder/redis.pid" ]; then kill "$(cat "$folder/redis.pid")" 2>/dev/null || true; fi
  for port in $reserved; do rmdir "$ports-$port" || true; done
  rm -rf "$folder"
}
trap end_servers EXIT
trap 'exit 1' INT TERM

# Reserves one of a thousand ports, below the ephemeral ports of the system, and sets $port.
reserve_port() {
  for offset in $(seq 0 999); do
    port=$(($1 + ($$ + offset) % 1000))
    if mkdir "$ports-$port" 2>/dev/null; then reserved="$reserved $port"; return; fi
  done
  echo "no free port: remove $ports-*" >&2; exit 1
}

start_postgres() {
  mkdir "$folder/postgres"
  [ -z "$as" ] || chown postgres "$folder/postgres"
  $as "$pg_bin/initdb" -D "$folder/postgres/data" -A trust -U signpost >/dev/null
  # A certificate authority for this server, with a certificate for 127.0.0.1 only.
  (
    cd "$folder/postgres"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=authority \
      -addext basicConstraints=critical,CA:TRUE -keyout authority.key -out authority.pem
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=server -keyout server.key -out server.csr
    printf 'basicConstraints=CA:FALSE\nsubjectAltName=IP:127.0.0.1\n' >server.ext
    openssl x509 -req -in server.csr -CA authority.pem -CAkey authority.key -days 2 -extfile server.ext -out server.pem
    chmod 600 server.key
    [ -z "$as" ] || chown postgres server.key server.pem
  ) >/dev/null 2>&1
  postgres_ca="$folder/postgres/authority.pem"
  reserve_port 29000
  settings="-c listen_addresses=127.0.0.1 -p $port -c unix_socket_directories=$folder/postgres -c max_connections=600"
  settings="$settings -c ssl=on -c ssl_cert_file=$folder/postgres/server.pem -c ssl_key_file=$folder/postgres/server.key"
  for setting in "$@"; do settings="$settings -c $setting"; done
  start="$as $pg_bin/pg_ctl -D $folder/postgres/data -w -l $folder/postgres/log -o '$settings' start"
  eval "$start" >/dev/null
  restart_postgres="$folder/restart_postgres"
  echo "$as $pg_bin/pg_ctl -D $folder/postgres/data -m immediate stop >/dev/null; $start >/dev/null" >"$restart_postgres"
  postgres="postgres://signpost@127.0.0.1:$port/postgres"
}

# Uses the commands of docs/operate.md, "A standby for PostgreSQL", unchanged: each is selected by its first words.
start_standby() {
  primary=$port; reserve_port 30000
  pg_basebackup="$(documented pg_basebackup | sed "s#--pgdata=[^ ]*#--pgdata=$folder/postgres/standby#")"
  eval "$as $pg_bin/$pg_basebackup" >/dev/null
  $as "$pg_bin/pg_ctl" -D "$folder/postgres/standby" -w -l "$folder/postgres/standby.log" \
    -o "$(echo "$settings" | sed "s# -p $primary # -p $port #")" start >/dev/null
  eval "$(documented 'psql.*synchronous_standby_names')" >/dev/null
  sync="SELECT count(*) FROM pg_stat_replication WHERE application_name = 'db2' AND sync_state = 'quorum'"
  for _ in $(seq 600); do
    [ "$(psql -Atqc "$sync" "$postgres")" != 1 ] || break
    sleep 0.1
  done
  [ "$(psql -Atqc "$sync" "$postgres")" = 1 ] || { echo "the standby does not replicate" >&2; exit 1; }
  postgres_pair="postgres://signpost@127.0.0.1:$primary,127.0.0.1:$port/postgres"
  lose_primary="$folder/lose_primary"
  # Kills all its processes at once, like a power failure.
  {
    echo "primary=\$(head -n 1 '$folder/postgres/data/postmaster.pid')"
    echo "kill -9 \$primary \$(pgrep -P \$primary)"
    echo "$(documented 'psql.*pg_promote') >/dev/null"
  } >"$lose_primary"
}

documented() {
  command="$(grep "^$1" docs/operate.md)" || { echo "docs/operate.md has no command $1" >&2; exit 1; }
  echo "$command" | sed "s/host=db1.example.com/& port=$primary/; s/host=db2.example.com/& port=$port/
    s/db[12].example.com/127.0.0.1/; s/user=[a-z]*/user=signpost/; s/dbname=[a-z][a-z]*/dbname=postgres/"
}

start_redis() {
  reserve_port 28000
  start="redis-server --bind 127.0.0.1 --port $port --dir $folder --save '' --appendonly no --daemonize yes \
    --pidfile $folder/redis.pid --logfile $folder/redis.log"
  eval "$start" >/dev/null
  restart_redis="$folder/restart_redis"
  echo "kill -9 \$(cat $folder/redis.pid); sleep 0.5; $start >/dev/null" >"$restart_redis"
  until redis-cli -p "$port" ping >/dev/null 2>&1; do sleep 0.05; done
  redis="redis://127.0.0.1:$port/"
}
