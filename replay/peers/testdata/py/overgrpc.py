"""An agent's service of gRPC, on a port of its own: it tells what comes and goes as serve.py does. It is on TLS if PEER_CERT and
PEER_KEY name files."""

import dataclasses
import os
import pathlib
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import grpc

from serve import note_arrival, note_sent


class _Noting(grpc.aio.ServerInterceptor):
    """Notes requests, and answers with the prefix of a message that is not compressed."""

    async def intercept_service(self, continuation: Any, details: grpc.HandlerCallDetails) -> Any:
        handler = await continuation(details)
        if handler is None:
            return None

        def arrive(context: grpc.aio.ServicerContext) -> int:
            remote = context.peer().partition(':')[2]
            return note_arrival(method='POST', target=details.method, host='', remote=remote)

        def note(arrival: int, message: Any) -> Any:
            body = handler.response_serializer(message)
            note_sent(arrival, b'\0' + len(body).to_bytes(4, 'big') + body)
            return message

        async def unary(request: Any, context: grpc.aio.ServicerContext) -> Any:
            arrival = arrive(context)
            return note(arrival, await handler.unary_unary(request, context))

        async def stream(request: Any, context: grpc.aio.ServicerContext) -> Any:
            arrival = arrive(context)
            async for message in handler.unary_stream(request, context):
                yield note(arrival, message)

        if handler.response_streaming:
            return grpc.unary_stream_rpc_method_handler(
                stream, handler.request_deserializer, handler.response_serializer
            )
        return grpc.unary_unary_rpc_method_handler(unary, handler.request_deserializer, handler.response_serializer)


@dataclasses.dataclass
class Service:
    """An address that is known before the loop runs, and what begins to serve there."""

    address: str
    add: Callable[[Any], None]
    begin: Callable[[], Awaitable[None]]


def service() -> Service:
    """Chooses a port of loopback; add is called with the server when it begins."""
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        address = '{}:{}'.format(*probe.getsockname())
    adders: list[Callable[[Any], None]] = []

    async def begin() -> None:
        server = grpc.aio.server(interceptors=[_Noting()])
        for add in adders:
            add(server)
        files = [os.environ.get(name) for name in ('PEER_KEY', 'PEER_CERT')]
        if all(files):
            pair = tuple(pathlib.Path(file).read_bytes() for file in files)
            bound = server.add_secure_port(address, grpc.ssl_server_credentials([pair]))
        else:
            bound = server.add_insecure_port(address)
        if not bound:
            raise OSError(f'{address} is taken')
        await server.start()
        begin.server = server  # or it is collected

    return Service(address, adders.append, begin)
