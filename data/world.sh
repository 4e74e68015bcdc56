#!/bin/sh
# Rebuilds the outlines of the countries, byte for byte: sh data/world.sh; with --check it only compares. data/NOTICE.md names
# the sources. Requires Node.js and npm.
set -eu
cd "$(dirname "$0")/.."
made="$(mktemp -d)"
trap 'rm -rf "$made"' EXIT
map=crates/atm/assets/map

cp data/world.mjs "$made"
(cd "$made" && npm init --yes >/dev/null &&
  npm install --silent --no-fund --no-audit world-atlas@2.0.2 topojson-client@3.1.0 topojson-simplify@3.0.3)
sha256sum --check --quiet <<SUMS
2516c915867c7baf18ddec727aec46c315541a07cfb3d79a6559b05d5e94eee8  $made/node_modules/world-atlas/countries-110m.json
04342cdc1e3016bcd7db1630de95684d67b79fe3c8c460321e87aef469502394  $made/node_modules/world-atlas/countries-50m.json
SUMS
node "$made/world.mjs" "$map/states.txt" "$made"
for lines in world.txt outlines.txt; do
  [ "${1:-}" = --check ] || cp "$made/$lines" "$map/$lines"
  cmp "$made/$lines" "$map/$lines"
done
