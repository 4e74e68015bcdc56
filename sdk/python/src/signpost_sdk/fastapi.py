"""Handlers for FastAPI and Starlette: `app.include_router(router(login))`."""

from collections.abc import Awaitable, Callable

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from .handlers import MAX_BODY, Incoming, Mountable, methods_by_name, parsed_body


def router(handlers: Mountable[Request]) -> APIRouter:
    """Returns the routes of `handlers`, below their `path`. Async functions of the site are awaited; others run in threads."""
    routes = APIRouter()

    async def answer(name: str, request: Request) -> Response:
        path = f"{handlers.path}/{name}"
        incoming = Incoming(
            request.method,
            path,
            request.scope["query_string"].decode("latin-1"),
            _headers(request),
            await _read(request),
        )
        made = await handlers.handle_async(incoming, request, call_sync=run_in_threadpool)
        if made is None:
            return Response(status_code=404)
        response = Response(made.body, made.status)
        for name, value in made.headers:
            response.headers.append(name, value)
        if made.status == 413 and request.scope.get("http_version", "").startswith("1"):
            # The rest of the body is not read.
            response.headers["connection"] = "close"
        return response

    def endpoint(name: str) -> Callable[[Request], Awaitable[Response]]:
        async def call(request: Request) -> Response:
            return await answer(name, request)

        return call

    for name, methods in methods_by_name(handlers.routes).items():
        routes.add_api_route(f"{handlers.path}/{name}", endpoint(name), methods=methods, include_in_schema=False)
    return routes


def _headers(request: Request) -> dict[str, str]:
    # HTTP/2 may send each cookie in a separate field.
    cookies = {"cookie": "; ".join(request.headers.getlist("cookie"))}
    return dict(request.headers) | (cookies if cookies["cookie"] else {})


async def _read(request: Request) -> bytes:
    """Reads the raw body, up to one byte more than the limit."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY:
                break
    except RuntimeError:
        body.clear()
    if not body and request.headers.get("content-length", "0") != "0":
        raise parsed_body("FastAPI", "if you also need it, read it with `await request.body()`")
    return bytes(body)
