#!/bin/sh
# Installs the pinned clients and runs them against the program that was just built.
set -eu
cd "$(dirname "$0")"
[ -d node_modules ] && [ node_modules -nt package-lock.json ] || { npm ci --silent --no-progress && touch node_modules; }
SIGNPOST="${CARGO_TARGET_DIR:-$PWD/../../target}/debug/signpost" exec npm test --silent
