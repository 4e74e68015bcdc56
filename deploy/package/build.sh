#!/bin/sh
# Packs a built program: build.sh PROGRAM FOLDER [STATIC] creates an archive, a Debian package, an SBOM (CycloneDX), and
# their SHA-256; with STATIC, a statically linked program, also an archive with that program. The output is reproducible:
# it depends only on the programs and the commit.
# DEB_COMPRESSION selects a compression of the package other than xz.
set -eu
umask 022
program="$(realpath "$1")"; mkdir -p "$2"; out="$(realpath "$2")"
static="${3:+$(realpath "$3")}"
cd "$(dirname "$0")/../.."
# Modification time of all files: the time of the last commit.
SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}"
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
for tool in dpkg-deb strip objdump python3; do
  command -v "$tool" >/dev/null || { echo "Please install $tool first: apt-get install dpkg binutils python3" >&2; exit 1; }
done

version="$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)"
machine="$(dpkg --print-architecture)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
root="$work/deb"

# The contents of both packages: the program, its man pages, shell completions, and licences.
install -D -m 755 "$program" "$root/usr/bin/signpost"
strip --strip-unneeded "$root/usr/bin/signpost"
"$program" man "$root/usr/share/man/man1" >/dev/null
find "$root/usr/share/man" -name '*.1' -exec gzip -9n {} +
mkdir -p "$root/usr/share/bash-completion/completions" "$root/usr/share/zsh/vendor-completions" \
  "$root/usr/share/fish/vendor_completions.d" "$root/usr/share/doc/signpost"
"$program" completions bash >"$root/usr/share/bash-completion/completions/signpost"
"$program" completions zsh >"$root/usr/share/zsh/vendor-completions/_signpost"
"$program" completions fish >"$root/usr/share/fish/vendor_completions.d/signpost.fish"
cp LICENSE-MIT LICENSE-APACHE NOTICE README.md "$root/usr/share/doc/signpost/"
cat NOTICE LICENSE-MIT LICENSE-APACHE >"$root/usr/share/doc/signpost/copyright"
gzip -9nc CHANGELOG.md >"$root/usr/share/doc/signpost/changelog.gz"

archive="signpost-$version-linux-$(uname -m)"
cp -R "$root/usr" "$work/$archive"
install -m 644 deploy/signpost.service deploy/signpost.sysusers "$work/$archive/"
pack() {
  tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$work" -cf - "$1" |
    gzip -9n >"$out/$1.tar.gz"
}
pack "$archive"
if [ -n "$static" ]; then
  cp -R "$work/$archive" "$work/$archive-musl"
  install -m 755 "$static" "$work/$archive-musl/bin/signpost"
  strip --strip-unneeded "$work/$archive-musl/bin/signpost"
  pack "$archive-musl"
fi

# Only in the Debian package: the unit and its user, a disabled backup, and the settings, which an upgrade does not change.
# All settings except the data folder are commented out, so that an upgrade may change the defaults.
mkdir -p "$root/lib/systemd/system" "$root/usr/lib/sysusers.d" "$root/etc/signpost" "$root/etc/cron.d" "$root/DEBIAN"
sed 's#/usr/local/bin/#/usr/bin/#; /^# Copy the program/,/^#   systemd/d' deploy/signpost.service \
  >"$root/lib/systemd/system/signpost.service"
install -m 644 deploy/signpost.sysusers "$root/usr/lib/sysusers.d/signpost.conf"
install -m 644 deploy/package/signpost.cron "$root/etc/cron.d/signpost"
"$program" config | sed 's#^data_dir = .*#data_dir = "/var/lib/signpost"#; /^data_dir = /!s/^\([a-z_]* = \)/#\1/' \
  >"$root/etc/signpost/signpost.toml"
printf '/etc/cron.d/signpost\n/etc/signpost/signpost.toml\n' >"$root/DEBIAN/conffiles"
glibc="$(objdump -T "$root/usr/bin/signpost" | sed -n 's/.*(\?GLIBC_\([0-9.]*\).*/\1/p' | sort -uV | tail -n 1)"
cat >"$root/DEBIAN/control" <<CONTROL
Package: signpost
Version: $version
Architecture: $machine
Maintainer: The Signpost authors <signpost@localhost>
Section: net
Priority: optional
Installed-Size: $(du -k -s --apparent-size "$root/usr" | cut -f 1)
Depends: libc6 (>= $glibc), libgcc-s1, systemd | systemd-standalone-sysusers | adduser
Recommends: ca-certificates
Description: Bitcoin ATM locator for AI assistants, and login with a wallet
 One program with two services: it finds Bitcoin ATMs by place name or
 coordinates over the Model Context Protocol, HTTP and pages, and logs people
 in with a wallet or a passkey, by QR code, without passwords.
CONTROL
install -m 755 deploy/package/postinst deploy/package/prerm deploy/package/postrm "$root/DEBIAN/"
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group "-Z${DEB_COMPRESSION:-xz}" --build "$root" "$out/signpost_${version}_$machine.deb" >/dev/null

python3 deploy/package/sbom.py >"$out/signpost-$version.cdx.json"
(cd "$out" && sha256sum "$archive"*.tar.gz "signpost_${version}_$machine.deb" "signpost-$version.cdx.json" >SHA256SUMS)
