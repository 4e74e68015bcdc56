#!/bin/sh
# Tests the files in deploy/: the manifests match the Kubernetes schemas, the compose file matches the files it refers to,
# every variable is a setting of the program, the alerts and the dashboard use existing metrics, and Traefik's file is
# consistent.
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
# Imported data is persistent, and servers start only on a migrated database.
servers = [service for name, service in services.items() if name.startswith('signpost-')]
assert len(servers) > 1 and all('places:/data' in server['volumes'] for server in servers)
assert all(server['depends_on']['migrate']['condition'] == 'service_completed_successfully' for server in servers)
assert services['migrate']['command'] == ['migrate'] and services['migrate']['restart'] == 'no'
assert 'migrate' not in services['migrate']['depends_on']
keys = set(re.findall(r'^([a-z_]+) =', open('../../crates/signpost/config.default.toml').read(), re.M))
for file in ['compose.yaml', 'kubernetes/signpost.yaml', 'kubernetes/migrate.yaml', 'signpost.service', 'Dockerfile']:
    for name in re.findall(r'SIGNPOST_([A-Z_]+)', open(f'../../deploy/{file}').read()):
        assert name.lower() in keys or name == 'DOMAIN', f'{file} sets SIGNPOST_{name}, which is not a setting'
# Otherwise a service named signpost sets SIGNPOST_PORT and similar variables in every pod of the namespace.
files = ['signpost', 'migrate']
manifests = [manifest for file in files for manifest in yaml.safe_load_all(open(f'../../deploy/kubernetes/{file}.yaml'))]
by_kind = {manifest['kind']: manifest['spec'] for manifest in manifests}
deployment, job, budget = (by_kind[kind] for kind in ['Deployment', 'Job', 'PodDisruptionBudget'])
pods = [owner['template']['spec'] for owner in (deployment, job)]
assert all(pod['enableServiceLinks'] is False and pod['securityContext']['runAsNonRoot'] for pod in pods)
claims = {volume['persistentVolumeClaim']['claimName'] for volume in pods[0]['volumes']}
claimed = {manifest['metadata']['name']: manifest['spec'] for manifest in manifests if manifest['kind'] == 'PersistentVolumeClaim'}
assert claims == set(claimed) and all(spec['accessModes'] == ['ReadWriteMany'] for spec in claimed.values())
assert {mount['name'] for mount in pods[0]['containers'][0]['volumeMounts']} == {volume['name'] for volume in pods[0]['volumes']}
images = {pod['containers'][0]['image'] for pod in pods}
version = re.search(r'^version = "(.*)"', open('../../Cargo.toml').read(), re.M).group(1)
assert images == {f'signpost:{version}'}, images
# Servers remain available during a rollout and a node drain.
assert deployment['strategy']['rollingUpdate']['maxUnavailable'] == 0 and deployment['replicas'] > budget['minAvailable'] > 0
assert budget['selector'] == deployment['selector'] and by_kind['Service']['selector'].items() <= deployment['selector']['matchLabels'].items()
ports = {port['name'] for port in by_kind['Service']['ports']}
backends = [path['backend']['service'] for rule in by_kind['Ingress']['rules'] for path in rule['http']['paths']]
assert backends and all(backend['name'] == 'signpost' and backend['port']['name'] in ports for backend in backends)
hosts = {rule['host'] for rule in by_kind['Ingress']['rules']}
settings = {variable['name']: variable.get('value') for variable in pods[0]['containers'][0]['env']}
assert {f'https://{host}' for host in hosts} == {settings['SIGNPOST_PUBLIC_URL']}
assert hosts == {host for tls in by_kind['Ingress']['tls'] for host in tls['hosts']}
CHECK
venv/bin/python traefik.py
# Only promtool, without the server that Debian would start.
promtool="$(command -v promtool || echo "$PWD/tools/usr/bin/promtool")"
if ! [ -x "$promtool" ]; then
  rm -rf tools && mkdir tools
  (cd tools && apt-get download -qq prometheus && dpkg-deb -x prometheus_*.deb . && rm prometheus_*.deb) >/dev/null 2>&1 || true
  [ -x "$promtool" ] || { echo "Please install promtool: apt-get install prometheus" >&2; exit 1; }
fi
"$promtool" check rules ../../deploy/prometheus/signpost.rules.yaml >/dev/null
"$promtool" test rules rules_test.yaml >/dev/null
program="$(realpath "${CARGO_TARGET_DIR:-../../target}/debug/signpost")"
venv/bin/python metrics.py "$program"
venv/bin/python image.py "$program"
if command -v systemd-analyze >/dev/null 2>&1; then
  # The program is not installed at the path of the unit; only this warning is allowed.
  output="$(systemd-analyze verify ../../deploy/signpost.service 2>&1 | grep signpost.service | grep -v 'is not executable' || true)"
  [ -z "$output" ] || { echo "$output" >&2; exit 1; }
  # systemd's exposure score of the service is at most 1.5 of 10.
  output="$(systemd-analyze security --offline=true --threshold=15 --no-pager ../../deploy/signpost.service 2>&1)" ||
    { echo "$output" | grep -v '✓' >&2; exit 1; }
fi
echo "deploy/: image, manifests, compose file, alerts, dashboard and unit are valid"
