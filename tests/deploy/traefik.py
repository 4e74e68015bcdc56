"""Checks of the file for Traefik without Traefik: its references exist, authorization follows the removal of headers, all
headers are removed in three spellings and set by the response, and no header of a client is trusted."""

import yaml

NAMES = {'Remote-User', 'Remote-Name', 'Remote-Email', 'Remote-Groups', 'Remote-Sub'}

FILE = yaml.safe_load(open('../../deploy/forward-auth/traefik.yml'))
assert set(FILE) == {'http'} and set(FILE['http']) == {'routers', 'middlewares', 'services'}, FILE
ROUTERS, MIDDLEWARES, SERVICES = (FILE['http'][part] for part in ['routers', 'middlewares', 'services'])

used = {'middlewares': set(), 'services': set()}
for name, router in ROUTERS.items():
    assert set(router) <= {'rule', 'entryPoints', 'middlewares', 'service', 'tls'}, f'{name}: {router}'
    assert router['entryPoints'] == ['websecure'] and router['tls'] == {'certResolver': 'letsencrypt'}, name
    used['services'].add(router['service'])
    used['middlewares'] |= set(router.get('middlewares', []))
assert used == {'middlewares': set(MIDDLEWARES), 'services': set(SERVICES)}, used

(remover, removal), = [(name, options['headers']) for name, options in MIDDLEWARES.items() if 'headers' in options]
(checker, check), = [
    (name, options['forwardAuth']) for name, options in MIDDLEWARES.items() if 'forwardAuth' in options]
assert set(MIDDLEWARES) == {remover, checker}, MIDDLEWARES
assert all(len(options) == 1 for options in MIDDLEWARES.values()), MIDDLEWARES
removed = removal['customRequestHeaders']
assert set(removal) == {'customRequestHeaders'} and set(removed.values()) == {''}, removal
assert set(removed) == {name.replace('-', mark) for name in NAMES for mark in '-_.'}, removed
# No other options: `trustForwardHeader` and similar options would let a client choose the authorized request.
assert set(check) == {'address', 'authResponseHeaders'}, check
assert set(check['authResponseHeaders']) == NAMES and len(check['authResponseHeaders']) == len(NAMES), check


def server_of(service: str) -> str:
    (server,) = SERVICES[service]['loadBalancer']['servers']
    return server['url']


# A router for the application, and a longer rule for the login pages, which need no authorization.
(app,) = [router for router in ROUTERS.values() if router.get('middlewares')]
(own,) = [router for router in ROUTERS.values() if not router.get('middlewares')]
assert app['middlewares'] == [remover, checker], 'identity headers of the client are removed before those of the response are set'
assert app['rule'] == 'Host(`app.example.com`)' and own['rule'] == f'{app["rule"]} && PathPrefix(`/.signpost/`)'
assert check['address'] == f'{server_of(own["service"])}/forward/traefik?client=cli_REPLACE_ME', check
assert server_of(app['service']) != server_of(own['service'])
