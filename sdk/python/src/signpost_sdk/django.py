"""Views for Django: `urlpatterns = [..., *urls(login)]` in the site's root `urls.py`."""

from collections.abc import Callable
from functools import partial
from typing import Any

from asgiref.sync import markcoroutinefunction, sync_to_async
from django.http import HttpRequest, HttpResponse
from django.http.request import RawPostDataException
from django.urls import URLPattern
from django.urls import path as url_path
from django.views.decorators.csrf import csrf_exempt

from .errors import SignpostError
from .handlers import MAX_BODY, Answer, Incoming, Mountable, methods_by_name, parsed_body


def urls(handlers: Mountable[HttpRequest]) -> list[URLPattern]:
    """Returns URL patterns for `handlers` at their `path`; the views are async if the client is `AsyncSignpost`.

    Posts of the service and of wallets are exempt from CSRF protection: they are signed.
    """
    patterns: list[URLPattern] = []
    for name, methods in methods_by_name(handlers.routes).items():
        view: Any = partial(_answer_async if handlers.is_async else _answer, handlers, name)
        if handlers.is_async:
            view = markcoroutinefunction(view)
        route = f"{handlers.path}/{name}".removeprefix("/")
        # A logout is posted by a page of the site, so it stays protected.
        is_signed = methods == ["POST"]
        patterns.append(url_path(route, csrf_exempt(view) if is_signed else view, name=f"signpost-{name}"))
    return patterns


def _answer(handlers: Mountable[HttpRequest], name: str, request: HttpRequest) -> HttpResponse:
    return _response(handlers.handle(_incoming(handlers, name, request), request))


async def _answer_async(handlers: Mountable[HttpRequest], name: str, request: HttpRequest) -> HttpResponse:
    made = await handlers.handle_async(_incoming(handlers, name, request), request, call_sync=_call_sync)
    return _response(made)


async def _call_sync(function: Callable[..., Any], /, *arguments: Any) -> Any:
    # In the thread with the request's database connections.
    return await sync_to_async(function, thread_sensitive=True)(*arguments)


def _incoming(handlers: Mountable[HttpRequest], name: str, request: HttpRequest) -> Incoming:
    path, query = f"{handlers.path}/{name}", request.META.get("QUERY_STRING", "")
    return Incoming(request.method or "", path, query, request.headers, _read(request))


def _read(request: HttpRequest) -> bytes:
    """Reads the raw body, up to one byte more than the limit."""
    length = str(request.META.get("CONTENT_LENGTH") or "")
    if length.isdecimal() and int(length) > MAX_BODY:
        return b" " * (MAX_BODY + 1)
    try:
        return request.body
    except RawPostDataException as error:
        raise parsed_body("Django", "read `request.body` before `request.POST`, in middleware too") from error


def _response(made: Answer | None) -> HttpResponse:
    if made is None:
        return HttpResponse(status=404)
    response = HttpResponse(made.body, status=made.status)
    del response["Content-Type"]
    for name, value in made.headers:
        if name != "Set-Cookie":
            response[name] = value
            continue
        cookies = len(response.cookies)
        response.cookies.load(value)
        if len(response.cookies) == cookies:
            raise SignpostError("invalid_argument", "sign_in returned a Set-Cookie value that Django cannot read")
    return response
