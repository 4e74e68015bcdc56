#!/bin/sh
# Real reverse proxies with the files of deploy/forward-auth, in front of an application that says what it was sent: nginx, a
# pinned Caddy, and Debian's older one; and a live realm over https, with certificates of an authority made for the test.
set -eu
cd "$(dirname "$0")/forward"
target="${CARGO_TARGET_DIR:-$PWD/../../../target}"

# The person with a browser is the one of the other tests.
if ! [ ../node_modules -nt ../package-lock.json ]; then
  (cd .. && npm ci --silent --no-progress)
  touch ../node_modules
fi
if ! [ venv -nt requirements.txt ]; then
  python3 -m venv --clear venv
  venv/bin/pip install --quiet --disable-pip-version-check --no-deps -r requirements.txt
  # Unpacked and not installed: the packages would start a server each.
  mkdir -p venv/debian
  (cd venv/debian && apt-get -qq -o APT::Sandbox::User="$(id -un)" download nginx caddy) ||
    { echo "Debian's packages nginx and caddy are not to be had: apt-get update" >&2; rm -rf venv; exit 1; }
  for package in venv/debian/*.deb; do dpkg-deb --extract "$package" venv/debian; done
  touch venv
fi
export SIGNPOST="${SIGNPOST:-$target/debug/signpost}"
exec node --test --test-concurrency=3 --test-reporter=spec ./*.test.mjs
