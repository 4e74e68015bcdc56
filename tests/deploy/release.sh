#!/bin/sh
# Tests that `make release` passes the correct flags to the compilers, and removes paths and times of this machine from the
# output. The program itself is not built: a fake cargo replaces this step and returns the program of the other tests.
set -eu
cd "$(dirname "$0")/../.."
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
# Stripped as in a release: compressing symbols would take half a minute.
program="$work/program"
strip -o "$program" "${CARGO_TARGET_DIR:-target}/debug/signpost"
fail() { echo "$1" >&2; exit 1; }

# The commit of the folder.
git clone --quiet --shared . "$work/clone"
rm -r "$work/clone/deploy"
cp -R deploy "$work/clone/"
cd "$work/clone"
git add -A
GIT_AUTHOR_DATE='2001-02-03T04:05:06Z' GIT_COMMITTER_DATE='2001-02-03T04:05:06Z' \
  git -c user.name=test -c user.email=test@localhost commit --quiet --allow-empty --message release

mkdir "$work/bin"
cat >"$work/bin/cargo" <<STAND_IN
#!/bin/sh
set -eu
[ "\$1" = build ] || exec "$(command -v cargo)" "\$@"
echo "\$*" >"$work/arguments"
echo "\$RUSTFLAGS" >"$work/rustflags"
echo "\$CFLAGS" >"$work/cflags"
echo "\$SOURCE_DATE_EPOCH" >"$work/epoch"
# The last argument is the target, if given.
case "\$*" in *--target*) folder="\$CARGO_TARGET_DIR/\${*##* }/dist" ;; *) folder="\$CARGO_TARGET_DIR/dist" ;; esac
mkdir -p "\$folder"
cp "$program" "\$folder/signpost"
STAND_IN
chmod +x "$work/bin/cargo"
DEB_COMPRESSION=gzip PATH="$work/bin:$PATH" sh deploy/package/release.sh >/dev/null
grep -q -e '--profile dist --locked --package signpost' "$work/arguments"
[ "$(cat "$work/epoch")" = 981173106 ] || fail "the time of a release differs from its commit's"
grep -q '"timestamp": "2001-02-03T04:05:06Z"' dist/*.cdx.json
(cd dist && sha256sum --check --quiet SHA256SUMS)
[ -z "$(git status --porcelain)" ] || fail "a release leaves files in the work tree"

# Both compilers remap the folder: a panic and an assertion would print a path below /signpost.
mkdir probe
echo 'fn main() { std::env::args().next_back().expect("a name"); panic!("probe") }' >probe/probe.rs
# shellcheck disable=SC2046
rustc $(cat "$work/rustflags") "$PWD/probe/probe.rs" -o "$work/probe"
grep -q '/signpost/probe/probe.rs' "$work/probe" || fail "rustc has no flag to remap paths"
grep -q "$work/clone" "$work/probe" && fail "rustc writes the path of the folder"
echo 'const char *probe(void) { return __FILE__; }' >probe/probe.c
# shellcheck disable=SC2046
cc $(cat "$work/cflags") -c "$PWD/probe/probe.c" -o "$work/probe.o"
grep -q '/signpost/probe/probe.c' "$work/probe.o" || fail "the C compiler has no flag to remap paths"
grep -q "$work/clone" "$work/probe.o" && fail "the C compiler writes the path of the folder"

# A release requires a clean work tree.
sh deploy/package/release.sh 2>"$work/refused" && fail "uncommitted changes were released"
grep -q 'Commit your changes first' "$work/refused"
echo "deploy/package: a release has the time of its commit, and no local paths"
