#!/bin/sh
# Tests real reverse proxies with the files of deploy/forward-auth, in front of an application that echoes its request:
# nginx, a pinned Caddy, and Debian's older Caddy; and a live issuer over https, with certificates of a test authority.
set -eu
cd "$(dirname "$0")/forward"
target="${CARGO_TARGET_DIR:-$PWD/../../../target}"

# The user with a browser is shared with the other tests.
if ! [ ../node_modules -nt ../package-lock.json ]; then
  (cd .. && npm ci --silent --no-progress)
  touch ../node_modules
fi
if ! [ venv -nt requirements.txt ]; then
  python3 -m venv --clear venv
  venv/bin/pip install --quiet --disable-pip-version-check --no-deps -r requirements.txt
  # Unpacked and not installed: each package would start a server.
  mkdir -p venv/debian
  (cd venv/debian && apt-get -qq -o APT::Sandbox::User="$(id -un)" download nginx caddy) ||
    { echo "Debian's packages nginx and caddy are not to be had: apt-get update" >&2; rm -rf venv; exit 1; }
  for package in venv/debian/*.deb; do dpkg-deb --extract "$package" venv/debian; done
  touch venv
fi
export SIGNPOST="${SIGNPOST:-$target/debug/signpost}"
exec node --test --test-concurrency=3 --test-reporter=spec ./*.test.mjs
