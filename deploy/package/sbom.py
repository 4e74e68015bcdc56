"""Prints an SBOM in CycloneDX 1.5: each crate and each vendored script with version, licence and SHA-256.

Omits dependencies of tests, benchmarks and other platforms. The output is reproducible.
"""

import csv
import datetime
import json
import os
import subprocess
import tomllib
import uuid

MACHINE = 'x86_64-unknown-linux-gnu'


def read_metadata() -> dict:
    command = ['cargo', 'metadata', '--locked', '--format-version', '1', '--filter-platform', MACHINE]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def find_dependencies(root: str, nodes: dict) -> dict:
    """Returns the dependencies of each package that the program needs at run time or at build time."""
    found, waiting = {}, [root]
    while waiting:
        package = waiting.pop()
        if package in found:
            continue
        needed = [dep['pkg'] for dep in nodes[package]['deps'] if any(kind['kind'] != 'dev' for kind in dep['dep_kinds'])]
        found[package] = sorted(set(needed))
        waiting += needed
    return found


def licensed(licence: str | None) -> dict:
    return {'licenses': [{'expression': licence.replace('/', ' OR ')}]} if licence else {}


def describe_crate(package: dict, checksums: dict) -> dict:
    name, version = package['name'], package['version']
    checksum = checksums.get((name, version))
    hashes = {'hashes': [{'alg': 'SHA-256', 'content': checksum}]} if checksum else {}
    url = f'pkg:cargo/{name}@{version}'
    return {'type': 'library', 'bom-ref': url, 'name': name, 'version': version, 'purl': url, **licensed(package['license']), **hashes}


def describe_scripts() -> list[dict]:
    """Returns the vendored scripts of the browser wallet."""
    with open('crates/login/assets/vendor/manifest.tsv', encoding='utf-8') as file:
        rows = [row for row in csv.reader(file, delimiter='\t') if row and not row[0].startswith('#')]
    described = {}
    for _, name, version, licence, _, _ in rows:
        url = f"pkg:npm/{name.replace('@', '%40')}@{version}"
        described[url] = {'type': 'library', 'bom-ref': url, 'name': name, 'version': version, 'purl': url, **licensed(licence)}
    return list(described.values())


def main() -> None:
    metadata = read_metadata()
    with open('Cargo.lock', 'rb') as file:
        locked = tomllib.load(file)['package']
    checksums = {(package['name'], package['version']): package.get('checksum') for package in locked}
    packages = {package['id']: package for package in metadata['packages']}
    nodes = {node['id']: node for node in metadata['resolve']['nodes']}
    root = next(package['id'] for package in packages.values() if package['name'] == 'signpost')
    needs = find_dependencies(root, nodes)
    described = {package: describe_crate(packages[package], checksums) for package in needs}
    scripts = describe_scripts()
    edges = {described[package]['bom-ref']: [described[other]['bom-ref'] for other in others] for package, others in needs.items()}
    program = {**described.pop(root), 'type': 'application'}
    edges[program['bom-ref']] += [script['bom-ref'] for script in scripts]
    components = sorted([*described.values(), *scripts], key=lambda component: component['bom-ref'])
    made = datetime.datetime.fromtimestamp(int(os.environ.get('SOURCE_DATE_EPOCH', '0')), datetime.timezone.utc)
    document = {
        'bomFormat': 'CycloneDX',
        'specVersion': '1.5',
        'serialNumber': f'urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(components))}',
        'version': 1,
        'metadata': {'timestamp': made.strftime('%Y-%m-%dT%H:%M:%SZ'), 'component': program},
        'components': components,
        'dependencies': [{'ref': ref, 'dependsOn': sorted(others)} for ref, others in sorted(edges.items())],
    }
    print(json.dumps(document, indent=1))


main()
