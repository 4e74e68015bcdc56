#!/bin/sh
# Installs the system packages for building and testing, if permitted; otherwise names the missing packages.
set -eu

missing=""
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }
need cc gcc
need make make
need node nodejs
need npm npm
need curl curl
need python3 python3
need openssl openssl
need groff groff-base
need redis-server redis-server
need redis-cli redis-tools
need faketime faketime
need chromium-headless-shell chromium-headless-shell
need firefox-esr firefox-esr
need WebKitWebDriver webkit2gtk-driver
need Xvfb xvfb
need php php-cli
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || need initdb postgresql
[ -e /usr/lib/apache2/modules/mod_auth_openidc.so ] || missing="$missing libapache2-mod-auth-openidc"
# Rails, without its metapackage, which conflicts with newer Node.js.
for package in ruby-railties ruby-activerecord ruby-sqlite3 puma ruby-omniauth-openid-connect ruby-omniauth-rails-csrf-protection; do
  dpkg-query --status "$package" >/dev/null 2>&1 || missing="$missing $package"
done
python3 -c 'import ensurepip' >/dev/null 2>&1 || missing="$missing python3-venv"
# tests/openid/run.sh downloads Debian sources, which requires the package lists.
if [ -z "$missing" ] && apt-cache show golang-github-coreos-go-oidc-dev >/dev/null 2>&1; then exit 0; fi

if [ "$(id -u)" = 0 ]; then as_root=""; elif sudo -n true 2>/dev/null; then as_root="sudo"; else
  [ -n "$missing" ] || exit 0
  echo "Please install these packages first:$missing" >&2
  echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends$missing" >&2
  exit 1
fi
$as_root apt-get update -qq
[ -n "$missing" ] || exit 0
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
