"""Checks of the image without a container engine: the files that it copies exist, its manifests are a complete workspace,
it runs without privileges, and its health check detects a stopped server."""

import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.realpath('../..')
TEXT = open(f'{ROOT}/deploy/Dockerfile').read().replace('\\\n', ' ')


def commands(kind: str) -> list[str]:
    return re.findall(rf'^{kind} (.*)', TEXT, re.M)


def check_manifests(folder: str) -> None:
    """Runs the first RUN on a copy of the project, and checks the remaining files with cargo."""
    listed = subprocess.run(['git', 'ls-files', '-z', '*Cargo.toml', 'Cargo.lock', '.cargo', '*.rs'], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    subprocess.run(['tar', '-c', '--null', '-T', '-', '-f', f'{folder}/all.tar'], cwd=ROOT, check=True, input=listed.stdout)
    subprocess.run(['tar', '-x', '-f', 'all.tar'], cwd=folder, check=True)
    subprocess.run(['sh', '-ec', commands('RUN')[0]], cwd=folder, check=True)
    left = [name for _, _, names in os.walk(folder) for name in names if name.endswith('.rs')]
    assert len(left) < 30, left
    read = subprocess.run(['cargo', 'metadata', '--locked', '--offline', '--no-deps', '--format-version', '1'], cwd=folder, check=True, stdout=subprocess.PIPE)
    targets = [target['name'] for package in json.loads(read.stdout)['packages'] for target in package['targets'] if target['kind'] == ['bin']]
    assert targets == ['signpost'], targets


def check_health(program: str, folder: str) -> None:
    check = json.loads(re.search(r'^HEALTHCHECK .* CMD (\[.*\])$', TEXT, re.M).group(1))
    status = lambda port: subprocess.run([part.replace('8080', str(port)) for part in check], stderr=subprocess.DEVNULL).returncode
    serve = [program, 'serve', '--json', '--listen', '127.0.0.1:0', '--data-dir', folder]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        try:
            port = json.loads(server.stdout.readline())['listen'].rsplit(':')[-1]
            assert status(port) == 0, 'the health check fails for a running server'
        finally:
            server.terminate()
    assert status(port) != 0, 'the health check passes without a server'


for copied in commands('COPY'):
    source = copied.split()[-2]
    assert source == '.' or '--from=' in copied, copied
# Files that are built or installed here are not sent to the builder, and all of the project's files are.
ignored = open(f'{ROOT}/.dockerignore').read().split()
assert {'**/target', '**/node_modules', '**/venv', 'dist'} <= set(ignored), ignored
names = {name.removeprefix('**/') for name in ignored}
tracked = subprocess.run(['git', 'ls-files'], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
assert not [path for path in tracked if names & set(path.split('/'))]
assert commands('USER') == ['10001:10001'] and all(re.search(r':\d|:bookworm', image) for image in commands('FROM'))
with tempfile.TemporaryDirectory() as folder:
    check_manifests(folder)
with tempfile.TemporaryDirectory() as folder:
    check_health(sys.argv[1], folder)
