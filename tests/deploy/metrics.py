"""Checks that the metrics in the alerts, the dashboard and docs/operate.md are exactly those that a server exports, and
that docs/operate.md describes the remedy for every alert."""

import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request

import yaml

RULES = '../../deploy/prometheus/signpost.rules.yaml'
DASHBOARD = '../../deploy/grafana/signpost.json'
DOCS = '../../docs/operate.md'
# Metrics that exist only after a login or a delivery, or with a feed.
LATER = {
    'signpost_sessions',
    'signpost_delivery_attempts',
    'signpost_feed_failures',
    'signpost_feed_last_success_timestamp_seconds',
}


def exported(program: str) -> set[str]:
    """Returns the metric names of a server after a request."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ['serve', '--json', '--listen', '127.0.0.1:0', '--data-dir', folder]
        env = {**os.environ, 'SIGNPOST_METRICS_LISTEN': '127.0.0.1:0'}
        with subprocess.Popen([program, *arguments], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
            try:
                ready = json.loads(server.stdout.readline() or 'null')
                assert ready, f'{program} did not start'
                urllib.request.urlopen(ready['health'], timeout=60).read()
                text = urllib.request.urlopen(ready['metrics'], timeout=60).read().decode()
            finally:
                server.terminate()
    return families(' '.join(re.findall(r'^# TYPE (signpost_[a-z_]+) ', text, re.M)))


def families(text: str) -> set[str]:
    """Returns the metric names in a text, without the suffixes of their types."""
    names = re.findall(r'signpost_[a-z_]+', text)
    return {re.sub(r'_(total|bucket|sum|count|info)$', '', name) for name in names}


docs = open(DOCS).read().split('## Monitoring')[1].split('\n## ')[0]
groups = yaml.safe_load(open(RULES))['groups']
rules = [rule for group in groups for rule in group['rules']]
panels = json.load(open(DASHBOARD))['panels']
alerting = families(' '.join(rule['expr'] for rule in rules))
shown = families(' '.join(target['expr'] for panel in panels for target in panel['targets']))
known = exported(sys.argv[1])
documented = families(docs)
assert known <= documented <= known | LATER, (known ^ documented)
assert alerting <= documented and shown <= documented, (alerting | shown) - documented
assert documented <= shown, f'not on the dashboard: {documented - shown}'
assert len({panel['id'] for panel in panels}) == len(panels)
for rule in rules:
    assert f"| `{rule['alert']}` |" in docs, f"docs/operate.md does not describe {rule['alert']}"
for name in re.findall(r'^\| `(Signpost\w+)` \|', docs, re.M):
    assert name in {rule['alert'] for rule in rules}, f'{name} is not an alert'
