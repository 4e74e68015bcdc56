#!/bin/bash
# Runs the commands of README.md and then docs/integrate.md unchanged, in sequence in one shell: both end in logins. The
# ports differ, the program is the debug build, and curl replaces the browser and the user.
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

# Below the ephemeral ports of the system.
port=$((27000 + $$ % 200 * 5))
ports=$port,$((port + 1)),$((port + 2)),$((port + 3))
export SIGNPOST_LISTEN=127.0.0.1:$port built folder
own_ports() {
  sed "s/\b8080\b/$port/g; s/\b9000\b/$((port + 1))/g; s/\b9001\b/$((port + 2))/g; s/\b9002\b/$((port + 3))/g"
}

mkdir "$folder/bin" "$folder/here" "$folder/steps"
# The program of the guides is already built.
cat >"$folder/bin/cargo" <<'CARGO'
#!/bin/sh
case "$*" in
  'run --release -- serve') exec "$built/signpost" serve ;;
  'run --release -- demo') exec "$built/signpost" demo --json --listen 127.0.0.1:0 ;;
  'run --example receiver -- '*) shift 4; exec "$built/examples/receiver" "$@" ;;
  *) echo "cargo $*: unknown command in tests/integrate.sh" >&2; exit 1 ;;
esac
CARGO
# Copies the code and the number from the open page, and confirms; twice if the page requires it.
cat >"$folder/bin/signpost" <<'SIGNPOST'
#!/bin/bash
[ "${*:1:2}" = "wallet scan" ] || exec "$built/signpost" "$@"
scan() {
  for ((at = 3; at <= $#; at++)); do
    case "${!at}" in
      svc://*) set -- "${@:1:at-1}" "$(cat "$folder/code")" "${@:at+1}" ;;
      42) set -- "${@:1:at-1}" "$(cat "$folder/number")" "${@:at+1}" ;;
    esac
  done
  "$built/signpost" "$@" --yes
}
if scan "$@" >"$folder/scanned" 2>&1; then exit 0; fi
grep -q 'no account has this key' "$folder/scanned" || { cat "$folder/scanned"; exit 1; }
"$folder/bin/look"
scan "$@"
SIGNPOST
# The code and the number of the open page.
cat >"$folder/bin/look" <<'LOOK'
#!/bin/bash
curl -sfL -b "$folder/jar" -c "$folder/jar" -w '%{url_effective}' -o "$folder/page" "$(cat "$folder/at")" >"$folder/there"
mv "$folder/there" "$folder/at"
grep -oE '<a [^>]*(id="link"|rel="signpost-code")[^>]*>' "$folder/page" | sed -n '1{s/.*href="\([^"]*\)".*/\1/;s/&amp;/\&/g;p}' >"$folder/code"
grep -oE 'id="number"[^>]*>[0-9]+<' "$folder/page" | sed 's/.*>\([0-9]*\)<.*/\1/' >"$folder/number"
LOOK
chmod +x "$folder"/bin/*
PATH="$folder/bin:$PATH"

# Extracts the command blocks of a page, the addresses to open and the file to save: a file for each, in order, with the
# action as the end of its name. Only sections below the given headings.
steps() {
  own_ports <"$1" | awk -v folder="$folder/steps/$2" -v headings="$3" '
    function step(kind) { close(file); file = sprintf("%s%02d.%s", folder, ++count, kind) }
    /^```$/ && inside { inside = ""; next }
    inside { print >file; next }
    /^## / { wanted = index(headings "|", substr($0, 4) "|") }
    !wanted { next }
    /^```sh$/ { inside = "sh"; step("sh"); next }
    /^```js$/ { inside = "js"; step("js"); next }
    /^```py$/ { inside = "py"; step("py"); next }
    /^Open `http/ { split($0, part, "`"); step("open"); print part[2] >file }'
}
steps README.md 1 'Run it|Wallet login, with three programs on one machine'
steps docs/integrate.md 2 'The page'

# Waits for the output of a server, which is complete when the server responds.
servers_answer() {
  local running answering
  for _ in $(seq 600); do
    running="$(jobs -pr | wc -l)"; answering=0
    for each in ${ports//,/ }; do ! curl -s -o "$folder/null" "http://localhost:$each/" || answering=$((answering + 1)); done
    [ "$running" = "$started" ] || fail "a server ended"
    [ "$answering" != "$running" ] || return 0
    sleep 0.1
  done
  fail "a server does not respond"
}

opens() {
  rm -f "$folder/jar"; echo "$1" >"$folder/at"; site="${1%"${1#*//*/}"}"
  look || fail "no page at $1"
  [ -s "$folder/code" ] || fail "no code at $1"
  # The polled address of a site's own page; empty for the login page of the service.
  poll=""
  ! grep -q 'data-sid=' "$folder/page" || poll="${site}poll$(sed -n 's/.*data-sid="\([^"]*\)".*/?sid=\1/p' "$folder/page")"
  [ -z "$poll" ] || curl -sf -b "$folder/jar" "$poll" | grep -q '"pending"' || fail "$poll is not pending"
}

# The actions of the page's script after the answer. Without this browser's cookie the response is empty.
is_logged_in() {
  if [ -n "$poll" ]; then
    ! curl -sf "$poll" | grep -q '"authenticated"' || fail "$poll responds without the cookie"
    curl -sf -b "$folder/jar" -c "$folder/jar" "$poll" | grep -q '"authenticated"' || fail "$poll is not authenticated"
    curl -sf -b "$folder/jar" "${site}account" | grep -q "$(signpost wallet show)" || fail "the user is not logged in at $site"
  else
    ! curl -sf -o "$folder/null" "$(cat "$folder/at")" || fail "$(cat "$folder/at") is shown without the cookie"
    look
    next="$(grep -oE '<a [^>]*id="continue"[^>]*>' "$folder/page" | sed 's/.*href="\([^"]*\)".*/\1/; s/&amp;/\&/g')"
    [ -n "$next" ] || fail "the page does not return to $site"
    curl -sfL -b "$folder/jar" -c "$folder/jar" "$next" | grep -oE 'id="user">usr_[0-9A-Za-z]+' >>"$folder/users" ||
      fail "the user is not logged in at $site"
  fi
  logins=$((logins + 1))
}

readme="$PWD/README.md"
cd "$folder/here"
logins=0; started=0

# The first screen: a demo, in which a user registers and logs in.
grep -qx 'cargo run --release -- demo' "$readme" || fail "README.md does not begin with the demo"
cargo run --release -- demo >"$folder/demo" 2>>"$folder/log" &
demo=$!
until [ -s "$folder/demo" ]; do kill -0 "$demo" || fail "the demo ended"; sleep 0.1; done
shop="$(sed 's/.*"shop":"\([^"]*\)".*/\1/' "$folder/demo")"
"$built/signpost" wallet new --data-dir "$folder/demo-wallet" >>"$folder/log"
for _ in 1 2; do
  opens "$shop/login"
  signpost wallet scan 'svc://auth?…' --confirm-code 42 --data-dir "$folder/demo-wallet" >>"$folder/log" 2>&1 || fail "the demo rejects the answer"
  is_logged_in
done
kill -INT "$demo"; wait "$demo" || fail "the demo exited with an error"
[ -z "$(ls "$folder/here")" ] || fail "the demo left files: $(ls "$folder/here")"

for step in "$folder"/steps/*; do
  case "$step" in
    *.js) cp "$step" site.mjs ;;
    *.py) cp "$step" site.py ;;
    *.open) opens "$(cat "$step")" ;;
    *.sh)
      # Tests do not send requests to public servers.
      ! grep -qE '^(make test|signpost atms feeds add btcmap)$' "$step" || continue
      # In this shell, so that variables of a block are set in the next block.
      . "$step" >>"$folder/log" 2>&1
      started=$((started + $(grep -c '&$' "$step" || true)))
      servers_answer
      if grep -q 'wallet scan' "$step"; then
        is_logged_in
        # The pages promise that a second run logs in again.
        if [ -n "$poll" ]; then opens "$site"; else opens "${site}login"; fi
        eval "$(grep 'wallet scan' "$step")" >>"$folder/log" 2>&1
        is_logged_in
      fi ;;
  esac
done
grep -q 'Miami' "$folder/log" || fail "the first question was not answered"
[ "$logins" = 8 ] || fail "$logins logins, not 8"
# The demo has one user, and both sites share one user: a user belongs to the domain.
[ "$(sort -u "$folder/users" | wc -l)" = 2 ] || fail "the sites have different users: $(cat "$folder/users")"
lines="$(wc -l <site.mjs)"
[ "$lines" -le 45 ] && [ "$(wc -l <site.py)" -le 45 ] || fail "a site of docs/integrate.md is too long: $(wc -l site.*)"
grep -q "has one in $lines lines" "$readme" || fail "README.md does not have the length of $lines lines"
failed=""
echo "README.md and docs/integrate.md: all commands work unchanged; the sites have $lines lines"
