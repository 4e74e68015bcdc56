#!/bin/sh
# Measures the 10 nearest of 40,000 points within 25 miles in PostGIS and in Redis, inside the server: the alternatives to
# our own index. Requires postgresql with postgis, redis-server and python3, and names the missing packages; as root it
# uses the user postgres. All files are in a folder that is deleted, and the servers listen only on sockets in it. Ends
# within two minutes.
set -eu
pg=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
has_postgis() { [ -n "$pg" ] && ls /usr/share/postgresql/*/extension/postgis.control >/dev/null 2>&1; }
has_redis() { command -v redis-server >/dev/null 2>&1; }
has_redis || printf 'MISSING\tnearest 10 inside Redis: apt-get install redis-server\n'
has_postgis || printf 'MISSING\tnearest 10 inside PostGIS: apt-get install postgresql postgresql-postgis\n'
command -v python3 >/dev/null || { printf 'MISSING\tnearest 10 inside Redis and PostGIS: apt-get install python3\n'; exit 0; }
has_redis || has_postgis || exit 0
work=$(mktemp -d)
as=""
has_postgis && [ "$(id -u)" = 0 ] && { chown postgres "$work"; as="setpriv --reuid=postgres --regid=postgres --clear-groups"; }
stop() {
  $as "$pg/pg_ctl" -D "$work/pg" -m immediate stop >/dev/null 2>&1 || true
  redis-cli -s "$work/redis.sock" shutdown nosave >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap stop EXIT

python3 - "$work" <<'SCRIPT'
import random, sys
random.seed(42)
cities = [(25 + 24 * random.random(), -124 + 57 * random.random()) for _ in range(2000)]
def near():
    lat, lon = cities[int(random.random() ** 4 * len(cities))]
    away = 0.3 * random.random() ** 2
    return lat + away * random.uniform(-1, 1), lon + away * random.uniform(-1, 1)
points, asked = [near() for _ in range(40000)], [near() for _ in range(2000)]
with open(sys.argv[1] + "/load.redis", "w") as redis, open(sys.argv[1] + "/load.csv", "w") as table:
    for number, (lat, lon) in enumerate(points):
        print(f"GEOADD atms {lon} {lat} {number}", file=redis)
        print(f"{lon},{lat}", file=table)
with open(sys.argv[1] + "/ask.redis", "w") as redis, open(sys.argv[1] + "/ask.csv", "w") as table:
    for lat, lon in asked:
        print(f"GEOSEARCH atms FROMLONLAT {lon} {lat} BYRADIUS 25 mi ASC COUNT 10 WITHDIST", file=redis)
        print(f"{lon},{lat}", file=table)
SCRIPT
chmod -R a+rX "$work"

in_redis() {
  redis-server --port 0 --unixsocket "$work/redis.sock" --save "" --daemonize yes --dir "$work" >/dev/null
  until redis-cli -s "$work/redis.sock" ping >/dev/null 2>&1; do sleep 0.05; done
  redis-cli -s "$work/redis.sock" <"$work/load.redis" >/dev/null
  redis-cli -s "$work/redis.sock" config resetstat >/dev/null
  redis-cli -s "$work/redis.sock" <"$work/ask.redis" >/dev/null
  took="$(redis-cli -s "$work/redis.sock" info commandstats | tr -d '\r' |
    sed -n 's/^cmdstat_geosearch.*usec_per_call=\([0-9.]*\).*/\1/p')"
  echo "Redis GEOSEARCH: $took µs per query"
  printf 'RESULT\tnearest_redis\t%s\n' "$took"
}

in_postgis() {
  $as "$pg/initdb" -D "$work/pg" -A trust >/dev/null
  $as "$pg/pg_ctl" -D "$work/pg" -w -o "-c listen_addresses='' -k $work" -l "$work/pg.log" start >/dev/null
  took="$($as psql -q -h "$work" -d postgres -v ON_ERROR_STOP=1 2>&1 <<SQL
SET client_min_messages = warning;
CREATE EXTENSION postgis;
CREATE TABLE rows (lon float8, lat float8);
CREATE TABLE asked (lon float8, lat float8);
\copy rows FROM '$work/load.csv' CSV
\copy asked FROM '$work/ask.csv' CSV
CREATE TABLE atms AS SELECT ST_SetSRID(ST_MakePoint(lon, lat), 4326)::geography AS at FROM rows;
CREATE INDEX ON atms USING gist (at);
VACUUM ANALYZE atms;
DO \$\$
DECLARE question asked; begun timestamptz := clock_timestamp(); found int; place geography;
BEGIN
  FOR question IN SELECT * FROM asked LOOP
    place := ST_SetSRID(ST_MakePoint(question.lon, question.lat), 4326)::geography;
    SELECT count(*) INTO found FROM (
      SELECT at <-> place FROM atms WHERE ST_DWithin(at, place, 40233.6) ORDER BY at <-> place LIMIT 10) AS nearest;
  END LOOP;
  SET client_min_messages = notice;
  RAISE NOTICE 'took %', round(extract(epoch FROM clock_timestamp() - begun) * 1e6 / 2000);
END \$\$;
SQL
)"
  took="$(echo "$took" | sed -n 's/.*took \([0-9]*\).*/\1/p')"
  echo "PostGIS: $took µs per query"
  printf 'RESULT\tnearest_postgis\t%s\n' "$took"
}

if has_redis; then in_redis; fi
if has_postgis; then in_postgis; fi
