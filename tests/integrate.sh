#!/bin/bash
# Runs the commands of README.md and then docs/integrate.md unchanged, in sequence in one shell: both end in logins. The
# ports differ, the program is the debug build, and curl replaces the browser and the user.
set -euo pipefail
cd "$(dirname "$0")/.."
built="${CARGO_TARGET_DIR:-$PWD/target}/debug"
pages="README.md and docs/integrate.md"
. tests/guide.sh

# Below the ephemeral ports of the system.
port=$((27000 + $$ % 200 * 5))
ports=$port,$((port + 1)),$((port + 2)),$((port + 3))
export SIGNPOST_LISTEN=127.0.0.1:$port
own_ports() {
  sed "s/\b8080\b/$port/g; s/\b9000\b/$((port + 1))/g; s/\b9001\b/$((port + 2))/g; s/\b9002\b/$((port + 3))/g"
}

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
chmod +x "$folder"/bin/*

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
