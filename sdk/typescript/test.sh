#!/bin/sh
# Installs the pinned tools once, builds the package and tests it against the built program in $SIGNPOST.
# The arguments are files of test/, all of them by default; with --install no test runs.
set -eu
SIGNPOST="${SIGNPOST:+$(realpath -m "$SIGNPOST")}"
cd "$(dirname "$0")"
node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)' ||
  { echo "The tests of the TypeScript SDK need Node.js 20 or newer; $(command -v node) is older." >&2; exit 1; }

for folder in . tools; do
  if ! [ "$folder/node_modules" -nt "$folder/package-lock.json" ]; then
    npm ci --silent --no-progress --no-audit --no-fund --ignore-scripts="$([ $folder = . ] && echo true || echo false)" --prefix "$folder" ||
      { echo "npm could not install the tools of sdk/typescript/$folder." >&2; exit 1; }
    touch "$folder/node_modules"
  fi
done
# Tests, examples and recipes use the tools.
for folder in test examples recipes; do ln -sfn ../tools/node_modules "$folder/node_modules"; done

npm run --silent build
[ "${1:-}" != --install ] || exit 0

SIGNPOST="${SIGNPOST:-$PWD/../../target/debug/signpost}"
[ -x "$SIGNPOST" ] || { echo "There is no program $SIGNPOST: run cargo build, or set SIGNPOST." >&2; exit 1; }
export SIGNPOST
if [ $# = 0 ]; then set -- test/*.test.mjs; fi
exec node --test --test-reporter=spec "$@"
