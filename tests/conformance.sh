#!/bin/sh
# Runs the conformance kit against our receiver, as an integrator would.
set -eu
built="${CARGO_TARGET_DIR:-$(dirname "$0")/../target}/debug"
# Below the ephemeral ports of the system; concurrent tests use ports from 25000.
site=$((23000 + $$ % 1000)); api=$((24000 + $$ % 1000))
secret=whsec_Y29uZm9ybWFuY2Uga2l0LCBub3QgYSBzZWNyZXQhIQ==
"$built/examples/receiver" --listen "127.0.0.1:$site" --api "http://127.0.0.1:$api/v1" --key svc_test_of-a-site \
  --domain localhost --webhook-secret "$secret" >/dev/null &
receiver=$!
trap 'kill $receiver 2>/dev/null || true' EXIT INT TERM
until curl -s -o /dev/null "http://localhost:$site/account"; do kill -0 $receiver; sleep 0.1; done
"$built/signpost" conformance --start "http://localhost:$site/" --poll "http://localhost:$site/poll" \
  --events "http://localhost:$site/webhooks/events" --api-listen "127.0.0.1:$api"
