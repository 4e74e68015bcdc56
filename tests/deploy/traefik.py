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

(names, forget), = [(name, one['headers']) for name, one in MIDDLEWARES.items() if 'headers' in one]
(asks, question), = [(name, one['forwardAuth']) for name, one in MIDDLEWARES.items() if 'forwardAuth' in one]
assert set(MIDDLEWARES) == {names, asks} and all(len(one) == 1 for one in MIDDLEWARES.values()), MIDDLEWARES
removed = forget['customRequestHeaders']
assert set(forget) == {'customRequestHeaders'} and set(removed.values()) == {''}, forget
assert set(removed) == {name.replace('-', mark) for name in NAMES for mark in '-_.'}, removed
# No other options: `trustForwardHeader` and similar options would let a client choose the authorized request.
assert set(question) == {'address', 'authResponseHeaders'}, question
assert set(question['authResponseHeaders']) == NAMES and len(question['authResponseHeaders']) == len(NAMES), question


def leads_to(service: str) -> str:
    (server,) = SERVICES[service]['loadBalancer']['servers']
    return server['url']


# One router for the application, and a longer rule for the login pages, which need no authorization.
(app,) = [router for router in ROUTERS.values() if router.get('middlewares')]
(own,) = [router for router in ROUTERS.values() if not router.get('middlewares')]
assert app['middlewares'] == [names, asks], 'what a client calls itself is removed before the answer is set'
assert app['rule'] == 'Host(`app.example.com`)' and own['rule'] == f'{app["rule"]} && PathPrefix(`/.signpost/`)'
assert question['address'] == f'{leads_to(own["service"])}/forward/traefik?client=cli_REPLACE_ME', question
assert leads_to(app['service']) != leads_to(own['service'])
