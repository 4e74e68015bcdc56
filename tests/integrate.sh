#!/bin/sh
# Follows docs/integrate.md: its site, as it stands there, and the command-line wallet register and log in.
set -eu
cd "$(dirname "$0")/.."
signpost="${CARGO_TARGET_DIR:-$PWD/target}/debug/signpost"
folder="$(mktemp -d)"; server=""; site=""
end() { for one in $server $site; do kill "$one" 2>/dev/null || true; done; rm -rf "$folder"; }
trap end EXIT INT TERM

sed -n '/^```js$/,/^```$/p' docs/integrate.md | sed '1d;$d' >"$folder/site.mjs"
lines="$(wc -l <"$folder/site.mjs")"
[ "$lines" -ge 30 ] || { echo "the site of docs/integrate.md was not found" >&2; exit 1; }
[ "$lines" -lt 50 ] || { echo "the site of docs/integrate.md has grown to $lines lines" >&2; exit 1; }

"$signpost" serve --json --listen 127.0.0.1:0 --data-dir "$folder/data" --services auth >"$folder/addresses" 2>"$folder/log" &
server=$!
until [ -s "$folder/addresses" ]; do kill -0 "$server"; sleep 0.1; done
API="$(sed -n 's/.*"sandbox":"\([^"]*\)".*/\1/p' "$folder/addresses")"
KEY="$("$signpost" keys create --data-dir "$folder/data" --environment sandbox --name my-site --json | sed -n 's/.*"key": "\(.*\)".*/\1/p')"
PORT=$((32000 + $$ % 500))
export API KEY PORT
DOMAIN="$(curl -s "$API/domains" -H "Authorization: Bearer $KEY" -H 'content-type: application/json' \
  -d "{\"domain\": \"localhost\", \"webhook_url\": \"http://localhost:$PORT/events\"}" | sed -n 's/.*"id":"\(dom_[^"]*\)".*/\1/p')"
curl -sf -X PATCH "$API/domains/$DOMAIN" -H "Authorization: Bearer $KEY" -H 'content-type: application/json' \
  -d '{"handler": "hosted"}' >/dev/null
unset DOMAIN
node "$folder/site.mjs" & site=$!
until curl -s -o /dev/null "http://localhost:$PORT/account"; do kill -0 "$site"; sleep 0.1; done

"$signpost" wallet new --data-dir "$folder/wallet" >/dev/null
key="$("$signpost" wallet show --data-dir "$folder/wallet")"
for page in register ''; do
  rm -f "$folder/jar"
  curl -sf -c "$folder/jar" "http://localhost:$PORT/$page" >"$folder/page"
  code="$(sed -n 's/.*id="link" href="\([^"]*\)".*/\1/p' "$folder/page" | sed 's/&amp;/\&/g')"
  number="$(sed -n 's/.*id="number">\([0-9]*\)<.*/\1/p' "$folder/page")"
  curl -sf -b "$folder/jar" "http://localhost:$PORT/poll" | grep -q '"pending"'
  "$signpost" wallet scan "$code" --yes --confirm-code "$number" --data-dir "$folder/wallet" >/dev/null 2>&1
  # Whoever has not the browser's cookie learns nothing.
  curl -sf "http://localhost:$PORT/poll" | grep -q '"over"'
  curl -sf -b "$folder/jar" -c "$folder/jar" "http://localhost:$PORT/poll" | grep -q '"authenticated"'
  curl -sf -b "$folder/jar" "http://localhost:$PORT/account" | grep -q "$key"
done
echo "docs/integrate.md: registered and logged in with its site of $lines lines"
