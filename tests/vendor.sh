#!/bin/sh
# Compares the third-party files of the browser wallet with npm; with --write, downloads them again. The package, version
# and published SHA-256 of each file are in crates/login/assets/vendor/manifest.tsv. Lines with only a comment are removed:
# they are half of the transferred bytes. NOTICE has the licences.
set -eu
cd "$(dirname "$0")/../crates/login/assets/vendor"
fetched="$(mktemp -d)"
trap 'rm -rf "$fetched"' EXIT

fetch() {
  package="$fetched/$1@$2"
  [ -d "$package" ] && return
  mkdir -p "$package"
  (cd "$package" && npm pack --silent "$1@$2" >/dev/null && tar -xzf ./*.tgz)
}

strip_comments() {
  awk '
    inside { if (/\*\//) inside = 0; next }
    /^[ \t]*\/\*/ { if (!/\*\//) inside = 1; else if (!/\*\/[ \t]*$/) print; next }
    /^[ \t]*\/\// { next }
    { print }
  ' "$1"
}

failed=0
while IFS='	' read -r file name version _ inside hash; do
  case "$file" in '#'*) continue ;; esac
  fetch "$name" "$version"
  published="$fetched/$name@$version/package/$inside"
  echo "$hash  $published" | sha256sum --check --quiet || failed=1
  strip_comments "$published" > "$fetched/stripped"
  [ "${1:-}" = --write ] && mkdir -p "$(dirname "$file")" && cp "$fetched/stripped" "$file"
  cmp "$fetched/stripped" "$file" || failed=1
done < manifest.tsv
[ "$failed" = 0 ] || { echo "vendor/ does not match manifest.tsv: tests/vendor.sh --write fetches the files again" >&2; exit 1; }

# The folder has no other files.
listed="$( { grep -v '^#' manifest.tsv | cut -f1; echo NOTICE; echo manifest.tsv; } | sort)"
found="$(find . -type f | sed 's|^\./||' | sort)"
[ "$listed" = "$found" ] || { echo "vendor/ has files that are not in manifest.tsv" >&2; exit 1; }
