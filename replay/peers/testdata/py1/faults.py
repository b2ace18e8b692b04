"""The client of the Python a2a-sdk 1.x, once for each line of input: {"name", "url", "stream"}.

It prints a line for each with what came of it. All run at once, and none longer than the patience in milliseconds that
is its argument.
"""

import asyncio
import json
import sys
import uuid
from typing import Any

import httpx
from google.protobuf.json_format import ParseDict

from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import SendMessageRequest


async def run(case: dict[str, Any], came: dict[str, Any]) -> None:
    async with httpx.AsyncClient() as http:
        card = await A2ACardResolver(http, case['url']).get_agent_card()
    client = ClientFactory(
        ClientConfig(streaming=bool(case.get('stream')), supported_protocol_bindings=['JSONRPC'])
    ).create(card)
    message = {'role': 'ROLE_USER', 'messageId': str(uuid.uuid4()), 'parts': [{'text': 'work'}]}
    async for _ in client.send_message(ParseDict({'message': message}, SendMessageRequest())):
        came['events'] += 1


async def play(case: dict[str, Any]) -> None:
    came: dict[str, Any] = {'name': case['name'], 'events': 0}
    call = asyncio.create_task(run(case, came))
    _, waiting = await asyncio.wait([call], timeout=int(sys.argv[1]) / 1000)
    if waiting:
        came['late'] = True
        call.cancel()
        await asyncio.wait([call])
    elif error := call.exception():  # whatever the SDK names it
        came['error'] = type(error).__name__
    print(json.dumps(came), flush=True)


async def main() -> None:
    await asyncio.gather(*(play(json.loads(line)) for line in sys.stdin))


asyncio.run(main())
