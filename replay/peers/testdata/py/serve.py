"""An agent program: it prints {"ready": URL} when it answers, {"arrival": …} for each request, {"sent": …} for each piece
of an answer's body, and ends when its standard input is closed."""

import asyncio
import base64
import itertools
import json
import socket
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import uvicorn


def tell(value: dict[str, Any]) -> None:
    """Prints a line for the process that started this one."""
    print(json.dumps(value), flush=True)


_arrivals = itertools.count()


def note_arrival(**arrival: str) -> int:
    """Tells that a request has come, and returns its number."""
    tell({'arrival': arrival})
    return next(_arrivals)


def note_sent(arrival: int, body: bytes) -> None:
    """Tells of a piece of the answer to the request of that number, before it is written."""
    tell({'sent': {'arrival': arrival, 'bytes': base64.b64encode(body).decode()}})


def _noting(app: Any) -> Any:
    async def noting(scope: dict[str, Any], receive: Any, send: Any) -> None:
        noting_send = send
        if scope['type'] == 'http':
            query = scope['query_string'].decode('latin-1')
            target = scope['raw_path'].decode('latin-1') + (f'?{query}' if query else '')
            host = dict(scope['headers']).get(b'host', b'').decode('latin-1')
            remote = '{}:{}'.format(*scope['client'])
            arrival = note_arrival(method=scope['method'], target=target, host=host, remote=remote)

            async def noting_send(message: dict[str, Any]) -> None:
                if message.get('body'):
                    note_sent(arrival, message['body'])
                await send(message)

        await app(scope, receive, noting_send)

    return noting


def serve(
    make_app: Callable[[str], Any],
    told: Callable[[str], None] = lambda _: None,
    beside: Callable[[], Awaitable[None]] | None = None,
) -> None:
    """Serves the application that make_app returns for a URL, on a port of loopback that the system chooses.

    Each line of standard input goes to told, in a thread of its own. What beside begins runs in the same loop.
    """
    listener = socket.socket()
    listener.bind(('127.0.0.1', 0))
    url = 'http://{}:{}'.format(*listener.getsockname())
    config = uvicorn.Config(
        _noting(make_app(url)), log_level='warning', timeout_graceful_shutdown=1,
        timeout_keep_alive=120,  # a client on a busy machine may be about to send where an idle connection is closed
    )
    server = uvicorn.Server(config)

    def end_with_stdin() -> None:
        for line in sys.stdin:
            told(line)
        server.should_exit = True

    async def main() -> None:
        if beside:
            await beside()
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started and not serving.done():
            await asyncio.sleep(0.01)
        tell({'ready': url})
        threading.Thread(target=end_with_stdin, daemon=True).start()
        await serving

    asyncio.run(main())
