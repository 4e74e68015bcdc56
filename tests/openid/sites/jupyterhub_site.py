"""A complete JupyterHub, with the authenticator that its documentation recommends for any provider."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).parent
# The ports of the proxy, its REST API and the hub.
PORTS = [int(port) for port in os.environ['PORTS'].split(',')]


def is_ready() -> bool:
    """Returns whether the proxy has the route to the hub. It is set shortly after both listen."""
    try:
        with urllib.request.urlopen(f'http://127.0.0.1:{PORTS[0]}/hub/health', timeout=5) as response:
            return response.status == 200
    except OSError:
        return False


def main() -> None:
    print(json.dumps({'origin': f'http://127.0.0.1:{PORTS[0]}'}), flush=True)
    client = json.loads(sys.stdin.readline())
    with tempfile.TemporaryDirectory() as folder:
        settings = json.dumps({**client, 'ports': PORTS, 'modules': str(HERE.parent / 'node_modules')})
        command = [sys.executable, '-m', 'jupyterhub', '--config', str(HERE / 'jupyterhub_config.py')]
        env = {**os.environ, 'SITE': settings, 'SITES': str(HERE)}
        hub = subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.DEVNULL, start_new_session=True)
        signal.signal(signal.SIGTERM, lambda *_: hub.terminate())
        threading.Thread(target=lambda: (sys.stdin.read(), hub.terminate()), daemon=True).start()
        while hub.poll() is None and not is_ready():
            time.sleep(0.05)
        if hub.poll() is None:
            print('ready', flush=True)
        sys.exit(hub.wait())


main()
