"""Running example sites, and a user with a browser and a wallet."""

import html
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import httpx2

from signpost_sdk import Signpost

from .conftest import Server

FOLDER = Path(__file__).parents[1]


def free_port() -> int:
    """Returns an unused port."""
    with socket.create_server(("localhost", 0)) as listener:
        return int(listener.getsockname()[1])


@contextmanager
def running(program: str, port: int, variables: Mapping[str, str]) -> Iterator["subprocess.Popen[str]"]:
    """Runs a program of this folder, and waits until it listens on the port."""
    environment = {**os.environ, **variables, "PORT": str(port)}
    words = [sys.executable, str(FOLDER / program)]
    # The log is separate: it would interrupt lines of the site's output.
    with (
        TemporaryFile("w+") as log,
        subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=log, text=True) as site,
    ):
        try:
            wait_until_it_listens(site, port, log)
            yield site
        finally:
            site.terminate()


def wait_until_it_listens(site: "subprocess.Popen[str]", port: int, log: IO[str]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("localhost", port), timeout=1).close()
            return
        except OSError:
            with suppress(subprocess.TimeoutExpired):
                site.wait(timeout=0.05)
                log.seek(0)
                raise AssertionError(log.read()) from None
    raise AssertionError("the site does not listen")


@dataclass
class Person:
    """A user with a browser and a wallet."""

    server: Server
    wallet: Path
    browser: httpx2.Client

    def scan(self, page: httpx2.Response, fails: bool = False) -> str:
        """Scans the code of the login page, and types its number."""
        words = ["wallet", "scan", code_of(page), "--yes"]
        if number := re.search(r'id="number"[^>]*>([0-9]+)<', page.text):
            words += ["--confirm-code", number[1]]
        return self.server.command(*words, folder=self.wallet, fails=fails)

    def log_in(self, start: str) -> httpx2.Response:
        """Follows the link to the login page, creates an account there, and returns to the site."""
        back = self.answer(start)
        return self.browser.get(back)

    def answer(self, start: str) -> str:
        """Like `log_in`, without the last step: returns the address that the page redirects to."""
        page = self.browser.get(start)
        assert page.status_code == 200, f"{page.url} {page.text}"
        if "no account has this key" in self.scan(page, fails=True):
            page = self.browser.get(page.url)
            assert state_of(page) == "create", page.text
            self.scan(page)
        # The page redirects at once if it has no question.
        done = self.browser.get(page.url, follow_redirects=False)
        if done.status_code == 200:
            assert state_of(done) == "done", done.text
            return attribute(done, r'<a [^>]*id="continue"[^>]*>', "href")
        return str(done.headers["location"])


def code_of(page: httpx2.Response) -> str:
    """Returns the link in the page's QR code."""
    return attribute(page, r'<a [^>]*(?:rel="signpost-code"|id="link")[^>]*>', "href")


def state_of(page: httpx2.Response) -> str:
    """Returns the state of the login page."""
    return attribute(page, r'<main [^>]*id="main"[^>]*>', "data-state")


def attribute(page: httpx2.Response, tag: str, name: str) -> str:
    found = re.search(tag, page.text)
    value = re.search(f'{name}="([^"]*)"', found[0]) if found else None
    assert value, f"{page.url}: no {name} in {tag}\n{page.text}"
    return html.unescape(value[1])


@contextmanager
def person(server: Server, wallet: Path) -> Iterator[Person]:
    """A user with a new browser and a new wallet."""
    wallet.mkdir()
    server.command("wallet", "new", folder=wallet)
    with httpx2.Client(follow_redirects=True, timeout=20) as browser:
        yield Person(server, wallet, browser)


@dataclass(frozen=True)
class HostedSite:
    """A running site, with its domain."""

    origin: str
    domain_id: str
    output: "subprocess.Popen[str]"

    def next_line(self, word: str) -> str:
        """Returns the next output line with this first word."""
        assert self.output.stdout
        return next(line for line in self.output.stdout if line.startswith(word))


@contextmanager
def hosted_site(server: Server, program: str) -> Iterator[HostedSite]:
    """Runs a site of a new account with logins on the service's page."""
    key, port = server.make_key(Path(program).stem), free_port()
    with Signpost(key, base_url=server.base_url) as client:
        origin = f"http://localhost:{port}"
        domain = client.domains.create(domain="localhost", webhook_url=f"{origin}/signpost/events")
        client.domains.update(domain.id, handler="hosted", methods=["scan"])
    variables = {"API": server.base_url, "KEY": key, "WEBHOOK_SECRET": domain.webhook_secret}
    with running(program, port, variables) as output:
        yield HostedSite(origin, domain.id, output)
