"""Cookies of the site."""

import pytest

from signpost_sdk.cookies import Site


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("__Host-login=a", "a"),
        ("x=y; __Host-login=a; login=b", "a"),
        ("login=a", None),
        ("__Host-login=a; __Host-login=b", None),
        ("__Host-login=a; __Host-login=a", None),
        ("__Host-login=", None),
        ("", None),
        (None, None),
    ],
)
def test_https_requires_one_prefixed_cookie(header: str | None, value: str | None) -> None:
    assert Site.parse("https://shop.example").read_cookie(header, "login") == value


@pytest.mark.parametrize(("header", "value"), [("login=a", "a"), ("login=a; login=b", None), ("__Host-login=a", None)])
def test_http_cookies_have_no_prefix(header: str, value: str | None) -> None:
    assert Site.parse("http://localhost:9001").read_cookie(header, "login") == value
