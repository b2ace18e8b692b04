"""Tells which request of this program was made for which message: {"call": ID, "for": MESSAGE-ID} on standard output.

Each request over HTTP gets a random X-Request-Id, whichever library sends it. Frameworks hand on the message as a
context variable.
"""

import secrets
import uuid
from contextvars import ContextVar
from dataclasses import dataclass

import aiohttp
import httpx
import httpx2

from serve import tell


@dataclass(frozen=True)
class Turn:
    """What is done about one message."""

    message: str
    trace: str = ''  # a traceparent to continue


turn: ContextVar[Turn] = ContextVar('turn', default=Turn(''))


def enter(**more: str) -> str:
    """Tells of a call, and returns its id."""
    call = str(uuid.uuid4())
    tell({'call': call, 'for': turn.get().message, **more})
    return call


def _mark(headers) -> None:
    if 'X-Request-Id' in headers:  # by the library above
        return
    headers['X-Request-Id'] = enter()
    if trace := turn.get().trace:
        version, trace_id, _, flags = trace.split('-', 3)
        headers['traceparent'] = f'{version}-{trace_id}-{secrets.token_hex(8)}-{flags}'


def _patch(client: type) -> None:
    send = client.send

    async def marked(self, request, **more):
        _mark(request.headers)
        return await send(self, request, **more)

    client.send = marked


def keep() -> None:
    """Begins to tell."""
    _patch(httpx.AsyncClient)
    _patch(httpx2.AsyncClient)
    request = aiohttp.ClientSession._request

    async def marked(self, method, url, *, headers=None, **more):
        headers = httpx.Headers(list(headers.items()) if headers else None)
        _mark(headers)
        return await request(self, method, url, headers=headers, **more)

    aiohttp.ClientSession._request = marked
