#!/bin/bash
# Runs a command and appends its name, its exit status, and its wall-clock and processor seconds to a table, which
# `tests/part.sh --table` prints and `tests/part.sh --reset` empties: `tests/part.sh NAME COMMAND…`. The processor time
# includes the child processes that the command waited for.
set -eu
table="${CARGO_TARGET_DIR:-$(dirname "$0")/../target}/parts.tsv"
case "$1" in
  --reset) mkdir -p "$(dirname "$table")"; : >"$table"; date +%s >"$table.start"; exit ;;
  --table)
    awk -F '\t' -v start="$(cat "$table.start")" -v now="$(date +%s)" '
      BEGIN { printf "%-28s %8s %10s\n", "part", "seconds", "processor" }
      { printf "%-28s %8.0f %10.0f%s\n", $1, $3, $4, $2 ? "  failed" : ""; processor += $4 }
      END { printf "%-28s %8.0f %10.0f\n", "all, from start to end", now - start, processor }' "$table"
    exit ;;
esac
name="$1"; shift; mkdir -p "$(dirname "$table")"
TIMEFORMAT='%R %U %S'
status=0
{ times="$( { time "$@" >&3 2>&4 3>&- 4>&- || exit; } 2>&1 )" || status=$?; } 3>&1 4>&2
echo "$times" | tail -n 1 | awk -v name="$name" -v status="$status" '{ printf "%s\t%d\t%.1f\t%.1f\n", name, status, $1, $2 + $3 }' >>"$table"
exit "$status"
