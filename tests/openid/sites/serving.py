"""The base of the Python sites: they print their address, read their client, and serve."""

import json
import os
import sys
import threading
import traceback
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Handler(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def serve(open_site) -> None:
    """`open_site(client, origin)` returns the WSGI application; `client` has `issuer`, `client_id` and `client_secret`."""
    application = None

    def answer(environ, start_response):
        try:
            return application(environ, start_response)
        except Exception:
            traceback.print_exc()
            raise

    server = make_server('127.0.0.1', 0, answer, Server, Handler)
    # With a proxy, the public address differs.
    origin = os.environ.get('ORIGIN', f'http://127.0.0.1:{server.server_port}')
    print(json.dumps({'origin': origin, 'port': server.server_port}), flush=True)
    application = open_site(json.loads(sys.stdin.readline()), origin)
    print('ready', flush=True)
    threading.Thread(target=end_with_the_tests, daemon=True).start()
    server.serve_forever()


def end_with_the_tests() -> None:
    """Waits until the parent process has ended."""
    sys.stdin.read()
    os._exit(0)
