"""The Django site of docs/recipes/existing-accounts.md: a user with a password adds a wallet."""

import re
from pathlib import Path

import httpx2
import pytest

from signpost_sdk import Signpost

from .conftest import Server
from .sites import FOLDER, Person, free_port, person, running
from .vectors import ROOT

SITE = "recipes/django_existing.py"


def submit(ada: Person, url: str, **fields: str) -> httpx2.Response:
    """Submits a form of the site's home page."""
    home = ada.browser.get(url.rsplit("/", 1)[0] + "/")
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', home.text)
    assert token, home.text
    return ada.browser.post(url, data={"csrfmiddlewaretoken": token[1], **fields})


def add_key(ada: Person, page: httpx2.Response) -> httpx2.Response:
    """Scans the code of a page that adds a key, and confirms the key; returns the page of the site."""
    ada.scan(page)
    shown = ada.browser.get(page.url).text
    form = re.search(r'<form id="confirm-link".*?</form>', shown, re.DOTALL)
    assert form, shown
    fields = dict(re.findall(r'name="(token|key)" value="([^"]+)"', form[0]))
    action = re.search(r'action="([^"]+)"', form[0])
    assert action
    headers = {"origin": f"{page.url.scheme}://{page.url.netloc.decode()}"}
    done = ada.browser.post(page.url.join(action[1]), data=fields | {"answer": "yes"}, headers=headers)
    onward = re.search(r'<a [^>]*id="continue"[^>]*>', done.text)
    assert onward, done.text
    target = re.search(r'href="([^"]+)"', onward[0])
    assert target
    return ada.browser.get(target[1].replace("&amp;", "&"))


def test_django_user_adds_a_wallet(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE", str(tmp_path / "site.sqlite3"))
    key, port = server.make_key("existing"), free_port()
    origin = f"http://localhost:{port}"
    with (
        Signpost(key, base_url=server.base_url) as client,
        running(SITE, port, {"API": server.base_url, "KEY": key}),
        person(server, tmp_path / "wallet") as ann,
    ):
        domain = client.domains.create(domain="localhost", webhook_url=f"{origin}/signpost/events")
        client.domains.update(domain.id, handler="hosted", registration="closed")
        assert 'id="user">ann<' in submit(ann, f"{origin}/password", username="ann", password="correct horse").text
        assert submit(ann, f"{origin}/add-key", password="guessed").status_code == 403
        # Two clicks: both pages are for one user.
        submit(ann, f"{origin}/add-key", password="correct horse")
        page = submit(ann, f"{origin}/add-key", password="correct horse")
        assert "Add a key to your account at" in page.text
        (user,) = client.users.list(domain.id).users
        assert 'id="user">ann<' in add_key(ann, page).text
        assert len(client.users.get(domain.id, user.id).credentials) == 1
        # The wallet logs in to the account.
        assert "Log in" in submit(ann, f"{origin}/logout").text
        assert 'id="user">ann<' in ann.log_in(f"{origin}/signpost/login").text


def test_page_shows_the_django_site() -> None:
    code = (FOLDER / SITE).read_text(encoding="utf-8")
    assert f"```python\n{code}```\n" in (ROOT / "docs/recipes/existing-accounts.md").read_text(encoding="utf-8")
