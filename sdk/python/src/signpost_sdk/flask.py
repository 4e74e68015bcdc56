"""Handlers for Flask: `app.register_blueprint(blueprint(login))`."""

from functools import partial

from flask import Blueprint, Request, Response, request

from .core import refuse
from .handlers import MAX_BODY, Incoming, Mountable, methods_by_name, parsed_body


def blueprint(handlers: Mountable[Request], name: str = "signpost") -> Blueprint:
    """Returns the routes of `handlers`, below their `path`. Requires a `Signpost`, not an `AsyncSignpost`."""
    if handlers.is_async:
        raise refuse("Flask's handlers are blocking: make them with Signpost instead of AsyncSignpost")
    routes = Blueprint(name, __name__)

    def answer(route: str) -> Response:
        path = f"{handlers.path}/{route}"
        incoming = Incoming(request.method, path, request.query_string.decode("latin-1"), request.headers, _read())
        made = handlers.handle(incoming, request)
        if made is None:
            return Response(status=404)
        response = Response(made.body, made.status)
        response.headers.clear()
        response.headers.extend(made.headers)
        return response

    for route, methods in methods_by_name(handlers.routes).items():
        endpoint = route.replace("/", "_")
        routes.add_url_rule(f"{handlers.path}/{route}", endpoint, partial(answer, route), methods=methods)
    return routes


def _read() -> bytes:
    """Reads the raw body, up to one byte more than the limit."""
    if (request.content_length or 0) > MAX_BODY:
        return b" " * (MAX_BODY + 1)
    request.max_content_length = MAX_BODY
    body = request.get_data(cache=True)
    if not body and request.content_length:
        raise parsed_body("Flask", "call `request.get_data(cache=True)` before `request.form` or `request.stream`")
    return body
