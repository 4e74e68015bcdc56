#!/bin/sh
# Installs the pinned Go once, into this folder, and runs all tests of the Go SDK against the built program.
#
#   SIGNPOST=target/debug/signpost OPENAPI_JSON=<openapi.yaml as JSON> sdk/go/test.sh
#
# `test.sh --install` builds its example sites, for other tests: .cache/site and .cache/handlers
set -eu
cd "$(dirname "$0")"

if ! [ venv -nt requirements.txt ]; then
  python3 -m venv --clear venv
  venv/bin/pip install --quiet --disable-pip-version-check --no-deps -r requirements.txt
  touch venv
fi
# Modules are never downloaded: there are no dependencies. Tests build the examples with this Go too.
# All builds use the race detector: another build mode would compile the standard library again.
command -v gcc >/dev/null || { echo "The race detector of Go needs gcc." >&2; exit 1; }
export GOFLAGS="-mod=mod -race" GOPROXY=off GOTOOLCHAIN=local GOCACHE="$PWD/.cache/build" GOPATH="$PWD/.cache/path" CGO_ENABLED=1
export PATH="$PWD/venv/bin:$PATH"
go build -o .cache/ ./examples/...
[ "${1:-}" != --install ] || exit 0

: "${OPENAPI_JSON:?the path of openapi.yaml as JSON}"
SIGNPOST="$(realpath "${SIGNPOST:-../../target/debug/signpost}")"
[ -x "$SIGNPOST" ] || { echo "The tests need the built program: cargo build, or SIGNPOST=…" >&2; exit 1; }
export SIGNPOST OPENAPI_JSON

wrong="$("$(go env GOROOT)/bin/gofmt" -l ./*.go signposttest examples)"
[ -z "$wrong" ] || { echo "These files are not formatted; run gofmt -w: $wrong" >&2; exit 1; }
go vet ./...
go test -count=1 -timeout 5m "$@" ./...
