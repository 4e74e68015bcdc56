"""A built server and a wallet for the tests."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from signpost_sdk import Signpost

from .vectors import ROOT


@dataclass(frozen=True)
class Server:
    """A running server, its data folder, and its wallet commands."""

    program: str
    folder: Path
    origin: str

    @property
    def base_url(self) -> str:
        """The base URL of the sandbox."""
        return f"{self.origin}/sandbox/v1"

    def command(self, *words: str, folder: Path | None = None, fails: bool = False) -> str:
        """Runs the program on the server's data; returns its output."""
        done = subprocess.run(
            [self.program, *words, "--data-dir", str(folder or self.folder)],
            env=environment(folder or self.folder),
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert fails or done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def make_key(self, account: str) -> str:
        """Creates a key for the sandbox."""
        words = ("keys", "create", "--environment", "sandbox", "--name", "tests", "--account", account, "--json")
        return str(json.loads(self.command(*words))["key"])

    def client(self, account: str) -> Signpost:
        """A client of a new account."""
        return Signpost(self.make_key(account), base_url=self.base_url)


def environment(folder: Path) -> dict[str, str]:
    """The environment without the user's settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SIGNPOST_", "XDG_"))}
    limits = ("CREATE_SESSION", "GET_SESSION", "VERIFY", "DOMAINS", "ANSWER", "MCP")
    return kept | {"HOME": str(folder)} | {f"SIGNPOST_RATE_LIMIT_{name}": "off" for name in limits}


def first_match(lines: Any, pattern: str) -> str:
    """Returns the first group of the first line that matches."""
    for line in lines:
        if found := re.search(pattern, line):
            return found[1]
    raise AssertionError(f"no line matched {pattern}")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    program = os.environ.get("SIGNPOST", str(ROOT / "target/debug/signpost"))
    assert Path(program).exists(), "build the program first, or set its path: SIGNPOST=…"
    folder = tmp_path_factory.mktemp("server")
    words = [program, "serve", "--listen", "127.0.0.1:0", "--data-dir", str(folder)]
    with subprocess.Popen(
        words, env=environment(folder), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout
        try:
            yield Server(program, folder, first_match(process.stdout, r"is ready on (http\S+)"))
        finally:
            process.terminate()
