"""JupyterHub, whole, with the authenticator that its documentation names for providers of any kind."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).parent
# Below the ports that the system gives away: of the proxy, of its interface, of the hub.
PORTS = [26000 + os.getpid() % 300 * 3 + at for at in range(3)]


def answers(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(('127.0.0.1', port)) == 0


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
        while hub.poll() is None and not all(map(answers, PORTS)):
            time.sleep(0.05)
        if hub.poll() is None:
            print('ready', flush=True)
        sys.exit(hub.wait())


main()
