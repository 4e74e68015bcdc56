"""The application in docs/openid.md, at an address of the tests."""

import json
import os
import runpy
from pathlib import Path
from tempfile import NamedTemporaryFile

from serving import serve

APP = Path(__file__).parents[3] / 'examples/openid/app.py'


def open_site(client: dict, origin: str):
    with NamedTemporaryFile('w', suffix='.json') as file:
        json.dump(client, file)
        file.flush()
        os.environ.update(CLIENT=file.name, SITE=origin)
        return runpy.run_path(str(APP))['app']


serve(open_site)
