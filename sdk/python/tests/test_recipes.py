"""The sites of docs/recipes: logins with the frameworks' own sessions."""

import re
from pathlib import Path

import httpx2
import pytest

from .conftest import Server
from .sites import FOLDER, hosted_site, person
from .vectors import ROOT

RECIPES = {"django": "recipes/django_auth.py", "flask-login": "recipes/flask_login_site.py"}


@pytest.mark.parametrize("name", RECIPES)
def test_recipe_logs_a_user_in_and_out(
    server: Server, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE", str(tmp_path / "site.sqlite3"))
    with hosted_site(server, RECIPES[name]) as site, person(server, tmp_path / "wallet") as ada:
        assert "Log in" in ada.browser.get(site.origin).text
        # A page that requires a login: the browser returns to it.
        done = ada.log_in(f"{site.origin}/account")
        assert str(done.url) == f"{site.origin}/account"
        found = re.search(r'The account of <b id="user">(usr_\w+)</b>', done.text)
        assert found, done.text
        home = ada.browser.get(site.origin)
        assert found[1] in home.text
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', home.text)
        fields = {"csrfmiddlewaretoken": token[1]} if token else {}
        assert "Log in" in ada.browser.post(f"{site.origin}/logout", data=fields).text
        # A second login has the same user.
        assert found[1] in ada.log_in(f"{site.origin}/account").text
        # Only a logged-in user can add a key.
        assert "/sandbox/login/" in str(ada.browser.get(f"{site.origin}/signpost/link").url)
        asked = httpx2.get(f"{site.origin}/signpost/link")
        assert asked.headers["location"] == "/signpost/login?next=%2Fsignpost%2Flink"


@pytest.mark.parametrize("name", RECIPES)
def test_recipe_page_shows_the_code(name: str) -> None:
    code = (FOLDER / RECIPES[name]).read_text(encoding="utf-8")
    page = (ROOT / f"docs/recipes/{name}.md").read_text(encoding="utf-8")
    assert f"```python\n{code}```\n" in page
