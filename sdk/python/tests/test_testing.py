"""The testing helper against the example site and the built server."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest

from signpost_sdk import Signpost, SignpostError
from signpost_sdk.testing import LoginFailed, log_in

from .conftest import Server
from .sites import free_port, running
from .vectors import ROOT


@dataclass(frozen=True)
class Site:
    """A running site with its key."""

    origin: str
    domain_id: str
    options: dict[str, Any]

    def client(self) -> Signpost:
        return Signpost(**{name.replace("key", "api_key"): value for name, value in self.options.items()})


@pytest.fixture(scope="module")
def site(server: Server) -> Iterator[Site]:
    options = {"key": server.make_key("testing"), "base_url": server.base_url}
    port = free_port()
    origin = f"http://localhost:{port}"
    with Signpost(options["key"], base_url=server.base_url) as client:
        domain = client.domains.create(domain="localhost", webhook_url=f"{origin}/signpost/events")
        client.domains.update(domain.id, handler="hosted")
    variables = {"API": server.base_url, "KEY": options["key"], "WEBHOOK_SECRET": domain.webhook_secret}
    with running("examples/flask_site.py", port, variables):
        yield Site(origin, domain.id, options)


def test_each_wallet_is_one_user(site: Site) -> None:
    first = log_in(site.origin, **site.options)
    assert first.user and first.user.id
    assert first.location == f"{site.origin}/"
    assert first.user.id in httpx2.get(site.origin, headers={"Cookie": first.cookie}).text
    again = log_in(site.origin, wallet=1, next="/?tab=keys", **site.options)
    assert again.user and again.user.id == first.user.id
    assert again.location == f"{site.origin}/?tab=keys"
    assert str(first.cookies["session"]) not in repr(first)
    other = log_in(site.origin, wallet=2, **site.options)
    assert other.user and other.user.id != first.user.id


def test_cancelled_login_logs_nobody_in(site: Site) -> None:
    cancelled = log_in(site.origin, denied=True, next="/cart", **site.options)
    assert (cancelled.cookie, cancelled.user) == ("", None)
    assert cancelled.location == f"{site.origin}/?login_error=access_denied&next=%2Fcart"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"base_url": "http://localhost:8080/v1"}, "a base URL of the sandbox"),
        ({"key": "svc_live_x"}, "an API key of the sandbox"),
        ({"key": None}, "an API key of the sandbox"),
    ],
)
def test_only_the_sandbox_is_accepted(site: Site, changed: dict[str, Any], message: str) -> None:
    with pytest.raises(SignpostError, match=message) as raised:
        log_in(site.origin, **{**site.options, **changed})
    assert raised.value.code == "invalid_argument"


def test_errors_name_the_cause(site: Site) -> None:
    with pytest.raises(LoginFailed, match=f"returns to {site.origin}, the site of the login handlers"):
        log_in(site.origin.replace("localhost", "127.0.0.1"), **site.options)
    with pytest.raises(LoginFailed, match=r"has status 404 .* are the login handlers mounted there\?"):
        log_in(site.origin, path="/elsewhere", **site.options)
    with pytest.raises(LoginFailed, match="no reply from"):
        log_in(f"http://localhost:{free_port()}", **site.options)
    with pytest.raises(SignpostError, match="origin"):
        log_in(f"{site.origin}/account", **site.options)
    with pytest.raises(SignpostError) as raised:
        log_in(site.origin, wallet=101, **site.options)
    assert raised.value.code == "invalid_request"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("/login/sess_0123", "the site uses the live environment"),
        ("/signpost/login", "redirected more than 5 times"),
        ("/?login_error=unavailable", "login_error=unavailable"),
    ],
)
def test_redirects_elsewhere_are_errors(site: Site, target: str, message: str) -> None:
    class Redirecting(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(303)
            self.send_header("Location", target)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("localhost", 0), Redirecting) as fake:
        thread = threading.Thread(target=fake.serve_forever)
        thread.start()
        try:
            with pytest.raises(LoginFailed, match=message):
                log_in(f"http://localhost:{fake.server_port}", **site.options)
        finally:
            fake.shutdown()
            thread.join()


def test_documented_tests_pass(site: Site, tmp_path: Path) -> None:
    page = (ROOT / "docs/testing.md").read_text(encoding="utf-8")
    found = re.search("```python\n(.*?)```", page, re.DOTALL)
    assert found and 'SITE = "http://localhost:9001"' in found[1] and "key=KEY" in found[1]
    code = (
        found[1].replace("http://localhost:9001", site.origin).replace("key=KEY", 'key=KEY, base_url=os.environ["API"]')
    )
    (tmp_path / "test_shop.py").write_text(code, encoding="utf-8")
    environment = {**os.environ, "KEY": site.options["key"], "API": site.options["base_url"]}
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)]
    done = subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert re.search("^2 passed", done.stdout, re.MULTILINE), done.stdout + done.stderr


def test_refused_wallet_is_an_error(site: Site) -> None:
    with site.client() as client:
        client.domains.update(site.domain_id, registration="closed")
        try:
            with pytest.raises(LoginFailed, match="the simulated wallet was refused with status 404"):
                log_in(site.origin, wallet=7, **site.options)
        finally:
            client.domains.update(site.domain_id, registration="open")
