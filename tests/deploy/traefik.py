"""The file for Traefik, as far as it can be tried without Traefik: what it refers to is there, the question comes behind what
removes names, all names are removed in three spellings and set by the answer, and no header of a client's is believed."""

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
# Of what the question can be told, these alone: `trustForwardHeader` and its like would let a client say which request it is.
assert set(question) == {'address', 'authResponseHeaders'}, question
assert set(question['authResponseHeaders']) == NAMES and len(question['authResponseHeaders']) == len(NAMES), question


def leads_to(service: str) -> str:
    (server,) = SERVICES[service]['loadBalancer']['servers']
    return server['url']


# One router for the application, and a longer rule for the pages of a login, which nothing is asked about.
(app,) = [router for router in ROUTERS.values() if router.get('middlewares')]
(own,) = [router for router in ROUTERS.values() if not router.get('middlewares')]
assert app['middlewares'] == [names, asks], 'what a client calls itself is removed before the answer is set'
assert app['rule'] == 'Host(`app.example.com`)' and own['rule'] == f'{app["rule"]} && PathPrefix(`/.signpost/`)'
assert question['address'] == f'{leads_to(own["service"])}/forward/traefik?client=cli_REPLACE_ME', question
assert leads_to(app['service']) != leads_to(own['service'])
