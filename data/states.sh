#!/bin/sh
# Rebuilds the lines of the map, byte for byte: sh data/states.sh; with --check it only compares. data/NOTICE.md names the
# sources. Requires Node.js and npm.
set -eu
cd "$(dirname "$0")/.."
made="$(mktemp -d)"
trap 'rm -rf "$made"' EXIT
lines=crates/atm/assets/map/states.txt

cp data/states.mjs "$made"
(cd "$made" && npm init --yes >/dev/null &&
  npm install --silent --no-fund --no-audit us-atlas@3.0.1 topojson-client@3.1.0 topojson-simplify@3.0.3)
echo "d76b391ccfa8bff601d51e3e3da5d43a89fa46cd5caca72ce731b383be5596d0  $made/node_modules/us-atlas/states-10m.json" |
  sha256sum --check --quiet
node "$made/states.mjs" > "$made/states.txt"
[ "${1:-}" = --check ] || cp "$made/states.txt" "$lines"
cmp "$made/states.txt" "$lines"
