"""The addresses of JupyterHub. The login settings are in jupyterhub_login.py, or in the command's output."""

import json
import os
from pathlib import Path

site = json.loads(os.environ['SITE'])
ports = site['ports']

c = get_config()  # noqa: F821
c.JupyterHub.bind_url = f'http://127.0.0.1:{ports[0]}'
c.JupyterHub.hub_bind_url = f'http://127.0.0.1:{ports[2]}'
c.ConfigurableHTTPProxy.api_url = f'http://127.0.0.1:{ports[1]}'
c.ConfigurableHTTPProxy.command = [os.environ['NODE'], f'{site["modules"]}/configurable-http-proxy/bin/configurable-http-proxy']
c.JupyterHub.db_url = 'sqlite://'
c.JupyterHub.cookie_secret = os.urandom(32)
c.JupyterHub.redirect_to_server = False

exec(site.get('configuration') or (Path(os.environ['SITES']) / 'jupyterhub_login.py').read_text())
