#!/bin/sh
# Tests the packages of deploy/package: two builds in different folders are equal; the Debian package is installed into an
# empty root for an operator's first steps: settings, their check, the start with its link, the doctor, an import, a
# backup. An upgrade preserves changed settings, and a purge preserves data.
set -eu
cd "$(dirname "$0")/../.."
work="$(mktemp -d)"
server=""
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
export DEB_COMPRESSION=gzip
export SOURCE_DATE_EPOCH=1700000000
mkdir "$work/elsewhere"
# Stripped as in a release: compressing symbols would take half a minute.
program="$work/program"
strip -o "$program" "${CARGO_TARGET_DIR:-target}/debug/signpost"
cp "$program" "$work/elsewhere/program"
sh deploy/package/build.sh "$program" "$work/first" "$program"
(umask 077 && cd / && sh "$OLDPWD/deploy/package/build.sh" "$work/elsewhere/program" "$work/second" "$work/elsewhere/program")
cmp "$work/first/SHA256SUMS" "$work/second/SHA256SUMS"
(cd "$work/first" && sha256sum --check --quiet SHA256SUMS)
version="$("$program" --version | cut -d ' ' -f 2)"
package="$(echo "$work"/first/*.deb)"
tar -tzf "$(echo "$work"/first/*-musl.tar.gz)" | grep -q -- '-musl/bin/signpost$'
[ "$(dpkg-deb --field "$package" Version)" = "$version" ]

# The root has no dependencies of the program, so dpkg ignores them.
root="$work/root"
mkdir -p "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/info" "$root/var/log"
: >"$root/var/lib/dpkg/status"
dpkg_within() { dpkg --root="$root" --log=/dev/null --force-not-root --force-depends --force-script-chrootless --force-confold "$@" 2>&1; }
fail() { echo "$1" >&2; exit 1; }
dpkg_within --install "$package" >"$work/output"
for text in 'public_url' 'console = "on"' 'systemctl enable --now signpost'; do
  grep -q "$text" "$work/output" || { cat "$work/output" >&2; fail "the output of the package lacks: $text"; }
done
settings="$root/etc/signpost/signpost.toml"
unit="$root/lib/systemd/system/signpost.service"
for file in /usr/bin/signpost /usr/share/man/man1/signpost-serve.1.gz /usr/share/bash-completion/completions/signpost \
  /usr/share/doc/signpost/copyright /usr/lib/sysusers.d/signpost.conf /etc/cron.d/signpost; do
  [ -s "$root$file" ] || fail "the package has no $file"
done
grep -q '^ExecStart=/usr/bin/signpost serve --config /etc/signpost/signpost.toml' "$unit"
grep -q '^User=signpost$' "$unit"
ldd "$root/usr/bin/signpost" | grep -q 'not found' && { ldd "$root/usr/bin/signpost" >&2; exit 1; }
# The unit's user is created by the package and has few permissions.
if command -v systemd-sysusers >/dev/null; then
  systemd-sysusers --root="$root" --dry-run signpost.conf 2>&1 | grep -q "[Uu]ser 'signpost'" || fail "sysusers.d creates no user"
fi
if command -v systemd-analyze >/dev/null; then
  systemd-analyze security --offline=true --threshold=15 --no-pager "$unit" >"$work/security" 2>&1 || { cat "$work/security" >&2; exit 1; }
fi
# The backup is disabled by default.
grep -v '^#' "$root/etc/cron.d/signpost" | grep -q . && fail "the backup is enabled by default"
grep -q '^#.* signpost backup ' "$root/etc/cron.d/signpost"

# The default settings, and an operator's changes.
signpost() { env -i PATH="$PATH" ${listen:+SIGNPOST_LISTEN="$listen"} "$root/usr/bin/signpost" "$@" --config "$settings"; }
signpost config check >"$work/check"
grep -q "^data_dir  */var/lib/signpost  *$settings, line " "$work/check"
grep -q '^listen  *127.0.0.1:8080  *default$' "$work/check"
grep -q '^warn' "$work/check" && { cat "$work/check" >&2; fail "the settings of the package cause a warning"; }
sed -i 's|^#public_url = .*|public_url = "https://id.example.invalid"|; s|^#console = .*|console = "on"|' "$settings"
signpost config check >"$work/check"
grep -q "^public_url  *https://id.example.invalid  *$settings, line [0-9]*$" "$work/check"
grep -q 'trusted_proxies = \["127.0.0.1"\]' "$work/check"
sed -i 's|^#trusted_proxies = .*|trusted_proxies = ["127.0.0.1"]|' "$settings"
signpost config check >"$work/check"
grep -q 'share one rate limit' "$work/check" && fail "a trusted proxy causes a warning"
echo 'trusted_proxy = "127.0.0.1"' >>"$settings"
signpost config check >"$work/check" 2>&1 && fail "an unknown setting is accepted"
grep -q "did you mean 'trusted_proxies'" "$work/check"
sed -i '$d' "$settings"

# Started like the unit, except for the address and the folder.
data="$root/var/lib/signpost"
: >"$work/ready"
"$root/usr/bin/signpost" serve --config "$settings" --data-dir "$data" --listen 127.0.0.1:0 >"$work/ready" 2>"$work/log" &
server=$!
until grep -q 'stop with' "$work/ready"; do kill -0 "$server" || { cat "$work/log" >&2; exit 1; }; sleep 0.1; done
listen="$(sed -n 's/.*listen=\([0-9.:]*\).*/\1/p' "$work/log" | head -n 1)"
until curl -sf -o /dev/null "http://$listen/health/ready"; do kill -0 "$server" || { cat "$work/log" >&2; exit 1; }; sleep 0.1; done
grep -q '^Console https://id.example.invalid/console/setup#.*once' "$work/ready" || { cat "$work/ready" >&2; fail "no link to the console"; }

# The doctor: the server responds, its public URL is unreachable, which is a warning.
signpost doctor --data-dir "$data" >"$work/doctor" || { cat "$work/doctor" >&2; exit 1; }
for line in 'pass  database' 'pass  server' '[a-z]*  latency' '[a-z]*  disk' 'warn  public URL' 'warn  ATMs'; do
  grep -q "^$line " "$work/doctor" || { cat "$work/doctor" >&2; fail "the doctor has no line: $line"; }
done

# ATMs: first a dry run, then the import, which the server serves.
printf 'id,name,latitude,longitude,city,state,country\nkiosk-1,Corner Kiosk,25.7743,-80.1937,Miami,FL,US\n' >"$work/machines.csv"
signpost atms import "$work/machines.csv" --source kiosks --dry-run --data-dir "$data" --json >"$work/dry"
signpost atms near 'Miami, FL' --data-dir "$data" --json >"$work/near"
grep -q 'Corner Kiosk' "$work/near" && fail "a dry run imports ATMs"
signpost atms import "$work/machines.csv" --source kiosks --data-dir "$data" --json >"$work/import"
signpost atms near 'Miami, FL' --data-dir "$data" --json >"$work/near"
grep -q 'Corner Kiosk' "$work/near"

# A backup of the running server is a separate database with the imported data.
mkdir -m 700 "$work/restored"
signpost backup "$work/restored/signpost.sqlite" --data-dir "$data" --json | grep -q '"bytes"'
signpost atms near 'Miami, FL' --data-dir "$work/restored" --json | grep -q 'Corner Kiosk'
kill "$server"
wait "$server"
server=""

echo '# a change of the operator' >>"$settings"
dpkg_within --install "$(echo "$work"/second/*.deb)" >/dev/null
grep -q 'a change of the operator' "$settings"
dpkg_within --purge signpost >/dev/null
[ ! -e "$root/usr/bin/signpost" ] && [ ! -e "$settings" ] && [ -s "$root/var/lib/signpost/signpost.sqlite" ]

python3 - "$work"/first/*.cdx.json <<'CHECK'
import json, sys
document = json.load(open(sys.argv[1]))
components = {component['bom-ref']: component for component in document['components']}
own = {ref for ref in components if ref.startswith('pkg:cargo/signpost-')}
assert document['specVersion'] == '1.5' and document['metadata']['component']['name'] == 'signpost'
assert own and {'pkg:cargo/tokio', 'pkg:cargo/ring', 'pkg:npm/qr'} <= {ref.rsplit('@', 1)[0] for ref in components}
assert not any('proptest' in ref for ref in components), 'dependencies of tests are listed'
for ref, component in components.items():
    assert component['licenses'][0]['expression'], ref
    assert ref in own or ref.startswith('pkg:npm/') or len(component['hashes'][0]['content']) == 64, ref
known = {*components, document['metadata']['component']['bom-ref']}
assert {edge['ref'] for edge in document['dependencies']} <= known
assert all(set(edge['dependsOn']) <= known for edge in document['dependencies'])
CHECK
echo "deploy/package: the build is reproducible; the Debian package can be installed, set up, upgraded and purged"
