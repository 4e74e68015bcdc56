# Functions of the tests that run the commands of pages: tests/integrate.sh and tests/sdk/pages.sh. The caller sets `built` (the
# folder of the built program) and `pages` (the names of the pages).
folder="$(mktemp -d)"
step=""; failed="a command failed"
end() {
  local jobs; jobs="$(jobs -p)"
  [ -z "$failed" ] || { cat "$step" "$folder/log" || true; echo "$pages: $failed"; } >&2
  # shellcheck disable=SC2086
  [ -z "$jobs" ] || kill $jobs 2>/dev/null || true
  wait
  rm -rf "$folder"
}
trap end EXIT
trap 'exit 1' INT TERM
fail() { failed="$*"; exit 1; }

mkdir "$folder/bin" "$folder/here" "$folder/steps"
export built folder
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

