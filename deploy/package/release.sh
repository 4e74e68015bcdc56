#!/bin/sh
# Builds the program and packs it into dist/. Paths and times of this machine are removed, so that a commit has
# reproducible output in any folder, with equal compilers.
set -eu
cd "$(dirname "$0")/../.."
[ -z "$(git status --porcelain)" ] || { echo "Commit your changes first: a release is a commit." >&2; exit 1; }
cargo="${CARGO_HOME:-$HOME/.cargo}"
rust="$(rustc --print sysroot)"
SOURCE_DATE_EPOCH="$(git log -1 --format=%ct)"
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
export RUSTFLAGS="--remap-path-prefix=$PWD=/signpost --remap-path-prefix=$cargo=/cargo --remap-path-prefix=$rust=/rust"
export CFLAGS="-ffile-prefix-map=$PWD=/signpost -ffile-prefix-map=$cargo=/cargo"
export CARGO_TARGET_DIR="$PWD/target/package"
cargo build --quiet --profile dist --locked --package signpost --bin signpost
# A statically linked program, if its compilers are installed.
target="$(uname -m)-unknown-linux-musl"
static=""
if command -v musl-gcc >/dev/null && [ -d "$rust/lib/rustlib/$target" ]; then
  env "CC_$(echo "$target" | tr - _)=musl-gcc" \
    cargo build --quiet --profile dist --locked --package signpost --bin signpost --target "$target"
  static="$CARGO_TARGET_DIR/$target/dist/signpost"
else
  echo "No static program is made: rustup target add $target; apt-get install musl-tools" >&2
fi
rm -rf dist
sh deploy/package/build.sh "$CARGO_TARGET_DIR/dist/signpost" dist ${static:+"$static"}
cat dist/SHA256SUMS
