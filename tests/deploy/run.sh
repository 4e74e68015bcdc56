#!/bin/sh
# The files in deploy/: Kubernetes takes the manifests, the compose file is what it refers to, every variable that any of
# them sets is one of the program's, and what alerts and dashboard ask for is what a server tells.
set -eu
cd "$(dirname "$0")"
if ! [ venv -nt requirements.txt ]; then
  python3 -m venv --clear venv
  venv/bin/pip install --quiet --disable-pip-version-check --no-deps -r requirements.txt
  touch venv
fi
venv/bin/kubernetes-validate --strict --quiet ../../deploy/kubernetes/*.yaml
venv/bin/python - <<'CHECK'
import re, yaml
compose = yaml.safe_load(open('../../deploy/compose.yaml'))
services, volumes = compose['services'], compose['volumes']
for name, service in services.items():
    assert 'image' in service or 'build' in service, name
    assert set(service.get('depends_on', {})) <= set(services), name
    for volume in service.get('volumes', []):
        assert volume.split(':')[0] in volumes, volume
keys = set(re.findall(r'^([a-z_]+) =', open('../../crates/signpost/config.default.toml').read(), re.M))
for file in ['compose.yaml', 'kubernetes/signpost.yaml', 'signpost.service', 'Dockerfile']:
    for name in re.findall(r'SIGNPOST_([A-Z_]+)', open(f'../../deploy/{file}').read()):
        assert name.lower() in keys or name == 'DOMAIN', f'{file} sets SIGNPOST_{name}, which is no setting'
# Else a service named signpost sets SIGNPOST_PORT and its like in every pod of the namespace.
manifests = list(yaml.safe_load_all(open('../../deploy/kubernetes/signpost.yaml')))
pods = [manifest['spec']['template']['spec'] for manifest in manifests if manifest['kind'] == 'Deployment']
assert pods and all(pod['enableServiceLinks'] is False for pod in pods)
docker = open('../../deploy/Dockerfile').read()
assert re.search(r'^USER 10001', docker, re.M) and re.search(r'^FROM rust:1\.\d+', docker, re.M)
CHECK
# promtool alone, without the server that Debian would start beside it.
promtool="$(command -v promtool || echo "$PWD/tools/usr/bin/promtool")"
if ! [ -x "$promtool" ]; then
  rm -rf tools && mkdir tools
  (cd tools && apt-get download -qq prometheus && dpkg-deb -x prometheus_*.deb . && rm prometheus_*.deb) >/dev/null 2>&1 || true
  [ -x "$promtool" ] || { echo "Please install promtool: apt-get install prometheus" >&2; exit 1; }
fi
"$promtool" check rules ../../deploy/prometheus/signpost.rules.yaml >/dev/null
"$promtool" test rules rules_test.yaml >/dev/null
venv/bin/python metrics.py "${CARGO_TARGET_DIR:-../../target}/debug/signpost"
if command -v systemd-analyze >/dev/null 2>&1; then
  # The program is not installed where the unit looks for it, which is all that it may say.
  said="$(systemd-analyze verify ../../deploy/signpost.service 2>&1 | grep signpost.service | grep -v 'is not executable' || true)"
  [ -z "$said" ] || { echo "$said" >&2; exit 1; }
fi
echo "deploy/: manifests, compose file, alerts, dashboard and unit are what they should be"
