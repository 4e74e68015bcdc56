#!/bin/bash
# README.md and then docs/integrate.md, their commands as they stand, one after the other in one shell: both end in a
# login. The ports are this test's own, the program is the debug build, and a browser and a person are played by curl.
set -euo pipefail
cd "$(dirname "$0")/.."
built="${CARGO_TARGET_DIR:-$PWD/target}/debug"
folder="$(mktemp -d)"
step=""; failed="a command failed"
end() {
  local jobs; jobs="$(jobs -p)"
  [ -z "$failed" ] || { cat "$step" "$folder/log" || true; echo "README.md and docs/integrate.md: $failed"; } >&2
  # shellcheck disable=SC2086
  [ -z "$jobs" ] || kill $jobs 2>/dev/null || true
  wait
  rm -rf "$folder"
}
trap end EXIT
trap 'exit 1' INT TERM
fail() { failed="$*"; exit 1; }

# Below the ports that the system gives away.
port=$((27000 + $$ % 300 * 3))
ports=$port,$((port + 1)),$((port + 2))
export SIGNPOST_LISTEN=127.0.0.1:$port built folder
own_ports() { sed "s/\b8080\b/$port/g; s/\b9000\b/$((port + 1))/g; s/\b9001\b/$((port + 2))/g"; }

mkdir "$folder/bin" "$folder/here" "$folder/steps"
# What a newcomer builds is built already.
cat >"$folder/bin/cargo" <<'CARGO'
#!/bin/sh
case "$*" in
  'run --release -- serve') exec "$built/signpost" serve ;;
  'run --example receiver -- '*) shift 4; exec "$built/examples/receiver" "$@" ;;
  *) echo "cargo $*: tests/integrate.sh does not know what that is" >&2; exit 1 ;;
esac
CARGO
# The person copies code and number from the page that is open, and says yes.
cat >"$folder/bin/signpost" <<'SIGNPOST'
#!/bin/bash
if [ "${*:1:2}" = "wallet scan" ]; then
  for ((at = 3; at <= $#; at++)); do
    case "${!at}" in
      svc://*) set -- "${@:1:at-1}" "$(cat "$folder/code")" "${@:at+1}" ;;
      42) set -- "${@:1:at-1}" "$(cat "$folder/number")" "${@:at+1}" ;;
    esac
  done
  set -- "$@" --yes
fi
exec "$built/signpost" "$@"
SIGNPOST
chmod +x "$folder"/bin/*
PATH="$folder/bin:$PATH"

# A page's blocks of commands, the addresses that it says to open and the file that it says to save: a file for each, in
# order, its name ending in what is to be done with it. Only what stands below one of the headings.
steps() {
  own_ports <"$1" | awk -v folder="$folder/steps/$2" -v headings="$3" '
    function step(kind) { close(file); file = sprintf("%s%02d.%s", folder, ++count, kind) }
    /^```$/ && inside { inside = ""; next }
    inside { print >file; next }
    /^## / { wanted = index(headings "|", substr($0, 4) "|") }
    !wanted { next }
    /^```sh$/ { inside = "sh"; step("sh"); next }
    /^```js$/ { inside = "js"; step("js"); next }
    /^Open `http/ { split($0, part, "`"); step("open"); print part[2] >file }'
}
steps README.md 1 'Start|Wallet login, with three programs on one machine'
steps docs/integrate.md 2 'The short way: hosted handlers'

# Whoever waits for a server looks at what it prints; it is there once it answers.
servers_answer() {
  local running answering
  for _ in $(seq 600); do
    running="$(jobs -pr | wc -l)"; answering=0
    for one in ${ports//,/ }; do ! curl -s -o "$folder/null" "http://localhost:$one/" || answering=$((answering + 1)); done
    [ "$running" = "$started" ] || fail "a server ended"
    [ "$answering" != "$running" ] || return 0
    sleep 0.1
  done
  fail "a server does not answer"
}

opens() {
  rm -f "$folder/jar"; site="${1%"${1#*//*/}"}"
  curl -sf -c "$folder/jar" "$1" >"$folder/page" || fail "no page at $1"
  sed -n 's/.*id="link" href="\([^"]*\)".*/\1/p' "$folder/page" | sed 's/&amp;/\&/g' >"$folder/code"
  sed -n 's/.*id="number">\([0-9]*\)<.*/\1/p' "$folder/page" >"$folder/number"
  poll="${site}poll$(sed -n 's/.*data-sid="\([^"]*\)".*/?sid=\1/p' "$folder/page")"
  [ -s "$folder/code" ] || fail "no code at $1"
  curl -sf -b "$folder/jar" "$poll" | grep -q '"pending"' || fail "$poll is not pending"
}

# What the page's own script does once the code was answered. Whoever has not this browser's cookie learns nothing.
is_logged_in() {
  ! curl -sf "$poll" | grep -q '"authenticated"' || fail "$poll tells everybody"
  curl -sf -b "$folder/jar" -c "$folder/jar" "$poll" | grep -q '"authenticated"' || fail "$poll is not authenticated"
  curl -sf -b "$folder/jar" "${site}account" | grep -q "$(signpost wallet show)" || fail "nobody is logged in at $site"
  logins=$((logins + 1))
}

readme="$PWD/README.md"
cd "$folder/here"
logins=0; started=0
for step in "$folder"/steps/*; do
  case "$step" in
    *.js) cp "$step" site.mjs ;;
    *.open) opens "$(cat "$step")" ;;
    *.sh)
      ! grep -q '^make test$' "$step" || continue
      # In this very shell, so that what one block sets is there in the next.
      . "$step" >>"$folder/log" 2>&1
      started=$((started + $(grep -c '&$' "$step" || true)))
      servers_answer
      if grep -q 'wallet scan' "$step"; then
        is_logged_in
        # What the pages say that works too: the same at the site's root logs in again.
        opens "$site"
        eval "$(grep 'wallet scan' "$step")" >>"$folder/log" 2>&1
        is_logged_in
      fi ;;
  esac
done
grep -q 'Miami' "$folder/log" || fail "the first question was not answered"
[ "$logins" = 4 ] || fail "$logins logins, not 4"
lines="$(wc -l <site.mjs)"
[ "$lines" -lt 50 ] || fail "the site of docs/integrate.md has grown to $lines lines"
grep -q "has one in $lines lines" "$readme" || fail "README.md tells of another length than $lines lines"
failed=""
echo "README.md and docs/integrate.md: as they stand they end in a login, the site has $lines lines"
