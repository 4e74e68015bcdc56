"""The example sites, started as documented, against the built server with a real wallet."""

import re
from pathlib import Path

import httpx2
import pytest

from signpost_sdk import Signpost

from .conftest import Server, first_match
from .sites import FOLDER, free_port, hosted_site, person, running

SITES = ["examples/fastapi_site.py", "examples/flask_site.py", "examples/django_site.py"]


@pytest.mark.parametrize("program", SITES)
def test_example_logs_a_user_in(server: Server, tmp_path: Path, program: str) -> None:
    with hosted_site(server, program) as site, person(server, tmp_path / "wallet") as ada:
        home = ada.browser.get(site.origin)
        assert re.search(r'<a href="/signpost/login">Log in</a>', home.text)
        back = ada.answer(f"{site.origin}/signpost/login?next=/%3Ftab=keys")
        # Without the browser's cookie, the link does not log in.
        with httpx2.Client() as thief:
            stolen = thief.get(back)
            assert (stolen.status_code, stolen.headers["location"]) == (303, "/?login_error=other_browser")
            assert "id=" not in thief.get(site.origin).text
        done = ada.browser.get(back)
        assert str(done.url) == f"{site.origin}/?tab=keys"
        user = first_match([done.text], r'<b id="user">(usr_[0-9a-z]+)</b>')
        session = first_match([site.next_line("register")], r"register (sess_[0-9a-z]+)")
        assert session in back
        # A second return fails.
        again = ada.browser.get(back, follow_redirects=False)
        assert again.headers["location"].startswith("/?login_error=")
        assert user in ada.browser.get(site.origin).text
        # Only a logged-in user can add a key.
        assert "/sandbox/login/" in str(ada.browser.get(f"{site.origin}/signpost/link").url)
        with httpx2.Client() as nobody:
            asked = nobody.get(f"{site.origin}/signpost/link?next=/keys")
            assert asked.headers["location"] == "/signpost/login?next=%2Fsignpost%2Flink%3Fnext%3D%252Fkeys"
        # The next login has the same user.
        ada.browser.cookies.clear()
        assert user in ada.log_in(f"{site.origin}/signpost/login").text
        assert site.next_line("login")


@pytest.mark.parametrize("program", SITES)
def test_example_rejects_invalid_events(server: Server, program: str) -> None:
    variables = {"API": server.base_url, "KEY": "svc_test_none", "WEBHOOK_SECRET": "whsec_" + "A" * 43 + "="}
    port = free_port()
    with running(program, port, variables), httpx2.Client(base_url=f"http://localhost:{port}") as client:
        for body, headers, status in (
            (b"{}", {}, 401),
            (b"{}", {"X-Svc-Signature": "0" * 64}, 401),
            (b"a=b", {"Content-Type": "application/x-www-form-urlencoded"}, 401),
            (b" " * 65537, {}, 413),
        ):
            reply = client.post("/signpost/events", content=body, headers=headers)
            assert reply.status_code == status and reply.json()["error"], reply.text
        assert client.get("/signpost/events").status_code == 405
        assert client.get("/signpost/other").status_code == 404
        # The service rejects the key: that is never the status of a page of the site.
        refused = client.get("/signpost/login?next=/cart")
        assert (refused.status_code, refused.headers["location"]) == (303, "/?login_error=unavailable&next=%2Fcart")
        again = client.get("/signpost/login")
        assert (again.status_code, again.headers["retry-after"]) == (503, "10")


def test_own_handlers_pass_conformance(server: Server) -> None:
    port, api = free_port(), free_port()
    secret = "whsec_Y29uZm9ybWFuY2Uga2l0LCBub3QgYSBzZWNyZXQhIQ=="
    variables = {"API": f"http://127.0.0.1:{api}/v1", "KEY": "svc_test_any", "WEBHOOK_SECRET": secret}
    with running("examples/handlers.py", port, variables):
        site = f"http://localhost:{port}"
        urls = ["--start", f"{site}/", "--poll", f"{site}/signpost/poll", "--events", f"{site}/signpost/events"]
        said = server.command("conformance", *urls, "--api-listen", f"127.0.0.1:{api}")
    assert "50 rules hold, 0 are broken, 0 were not tested" in said


def test_own_handlers_log_a_user_in(server: Server, tmp_path: Path) -> None:
    key, port = server.make_key("own"), free_port()
    origin = f"http://localhost:{port}"
    with Signpost(key, base_url=server.base_url) as client:
        domain = client.domains.create(domain="localhost", webhook_url=f"{origin}/signpost/wallet/login")
    variables = {"API": server.base_url, "KEY": key, "WEBHOOK_SECRET": domain.webhook_secret}
    with running("examples/handlers.py", port, variables), person(server, tmp_path / "wallet") as ada:
        for path in ("/register", "/"):
            ada.browser.cookies.clear()
            page = ada.browser.get(origin + path)
            poll = f"{origin}/signpost/poll?sid=" + first_match([page.text], 'data-sid="([^"]+)"')
            assert ada.browser.get(poll).json() == {"status": "pending"}
            ada.scan(page)
            assert httpx2.get(poll).json() == {"status": "pending"}
            assert ada.browser.get(poll).json() == {"status": "authenticated", "redirect": "/account"}
            assert "user 1" in ada.browser.get(f"{origin}/account").text


def test_readme_site_is_complete(server: Server, tmp_path: Path) -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    shown = first_match([page.replace("\n", "\r")], "Save this as `shop.py`.*?```python\r(.*?)```").replace("\r", "\n")
    key, port = server.make_key("readme"), free_port()
    origin = f"http://localhost:{port}"
    program = shown.replace("http://localhost:9001", origin)
    program = program.replace(
        'Signpost(os.environ["KEY"])', f'Signpost(os.environ["KEY"], base_url="{server.base_url}")'
    )
    (tmp_path / "shop.py").write_text(f'{program}\napp.run("localhost", {port})\n', encoding="utf-8")
    with Signpost(key, base_url=server.base_url) as client:
        domain = client.domains.create(domain="localhost", webhook_url=f"{origin}/signpost/events")
        client.domains.update(domain.id, handler="hosted")
    variables = {
        "KEY": key,
        "COOKIE_SECRET": "a secret for tests, of 40 characters....",
        "WEBHOOK_SECRET": domain.webhook_secret,
    }
    with running(str(tmp_path / "shop.py"), port, variables), person(server, tmp_path / "wallet") as ada:
        assert '<a href="/signpost/login">' in ada.browser.get(origin).text
        assert 'You are <b id="user">usr_' in ada.log_in(f"{origin}/signpost/login").text


@pytest.mark.parametrize("program", [*SITES, "examples/handlers.py"])
def test_examples_have_at_most_sixty_lines(program: str) -> None:
    assert len((FOLDER / program).read_text(encoding="utf-8").splitlines()) <= 60
