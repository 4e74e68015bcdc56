#!/bin/sh
# Installs the pinned cargo tools once, and runs the given tool: `tests/tools/run.sh cargo-shear [ARGUMENT…]`.
set -eu
tools="$(cd "$(dirname "$0")" && pwd)"
if ! [ "$tools/venv" -nt "$tools/requirements.txt" ]; then
  python3 -m venv --clear "$tools/venv"
  "$tools/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --require-hashes -r "$tools/requirements.txt"
  touch "$tools/venv"
fi
tool="$1"; shift
exec "$tools/venv/bin/$tool" "$@"
