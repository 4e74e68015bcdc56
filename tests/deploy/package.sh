#!/bin/sh
# The packages of deploy/package: packed twice, from two places, they are the same bytes; the Debian package is installed into
# an empty root, and the program that lies there runs with the settings that lie there. An upgrade keeps changed settings, and
# a purge keeps data.
set -eu
cd "$(dirname "$0")/../.."
program="${CARGO_TARGET_DIR:-target}/debug/signpost"
work="$(mktemp -d)"
server=""
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
export DEB_COMPRESSION=gzip
export SOURCE_DATE_EPOCH=1700000000
mkdir "$work/elsewhere"
cp "$program" "$work/elsewhere/program"
sh deploy/package/build.sh "$program" "$work/one"
(umask 077 && cd / && sh "$OLDPWD/deploy/package/build.sh" "$work/elsewhere/program" "$work/two")
cmp "$work/one/SHA256SUMS" "$work/two/SHA256SUMS"
(cd "$work/one" && sha256sum --check --quiet SHA256SUMS)
version="$("$program" --version | cut -d ' ' -f 2)"
package="$(echo "$work"/one/*.deb)"
[ "$(dpkg-deb --field "$package" Version)" = "$version" ]

# Nothing that the program needs is there, so that dpkg is told not to ask for it.
root="$work/root"
mkdir -p "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/info" "$root/var/log"
: >"$root/var/lib/dpkg/status"
dpkg_within() { dpkg --root="$root" --log=/dev/null --force-not-root --force-depends --force-script-chrootless --force-confold "$@" 2>&1; }
dpkg_within --install "$package" | grep -q 'systemctl enable --now signpost'
settings="$root/etc/signpost/signpost.toml"
unit="$root/lib/systemd/system/signpost.service"
for file in /usr/bin/signpost /usr/share/man/man1/signpost-serve.1.gz /usr/share/bash-completion/completions/signpost \
  /usr/share/doc/signpost/copyright; do
  [ -s "$root$file" ] || { echo "the package has no $file" >&2; exit 1; }
done
grep -q '^ExecStart=/usr/bin/signpost serve --config /etc/signpost/signpost.toml' "$unit"
ldd "$root/usr/bin/signpost" | grep -q 'not found' && { ldd "$root/usr/bin/signpost" >&2; exit 1; }

# As the unit starts it, but for the address and the folders.
"$root/usr/bin/signpost" serve --config "$settings" --data-dir "$root/var/lib/signpost" --listen 127.0.0.1:0 --json \
  >"$work/ready" 2>"$work/log" &
server=$!
until [ -s "$work/ready" ]; do kill -0 "$server" || { cat "$work/log" >&2; exit 1; }; sleep 0.1; done
health="$(sed 's/.*"health":"\([^"]*\)".*/\1/' "$work/ready")"
curl -sSf -o /dev/null "$health/ready"
kill "$server"
wait "$server"
server=""

echo '# a change of the operator' >>"$settings"
dpkg_within --install "$(echo "$work"/two/*.deb)" >/dev/null
grep -q 'a change of the operator' "$settings"
dpkg_within --purge signpost >/dev/null
[ ! -e "$root/usr/bin/signpost" ] && [ ! -e "$settings" ] && [ -s "$root/var/lib/signpost/signpost.sqlite" ]

python3 - "$work"/one/*.cdx.json <<'CHECK'
import json, sys
document = json.load(open(sys.argv[1]))
components = {one['bom-ref']: one for one in document['components']}
own = {ref for ref in components if ref.startswith('pkg:cargo/signpost-')}
assert document['specVersion'] == '1.5' and document['metadata']['component']['name'] == 'signpost'
assert own and {'pkg:cargo/tokio', 'pkg:cargo/ring', 'pkg:npm/qr'} <= {ref.rsplit('@', 1)[0] for ref in components}
assert not any('proptest' in ref for ref in components), 'what only tests use is listed'
for ref, one in components.items():
    assert one['licenses'][0]['expression'], ref
    assert ref in own or ref.startswith('pkg:npm/') or len(one['hashes'][0]['content']) == 64, ref
known = {*components, document['metadata']['component']['bom-ref']}
assert {edge['ref'] for edge in document['dependencies']} <= known
assert all(set(edge['dependsOn']) <= known for edge in document['dependencies'])
CHECK
echo "deploy/package: the packages are the same bytes twice, and the Debian package installs, runs, upgrades and goes"
