"""The client of the Python a2a-sdk 0.3.x sends one text: python once.py URL TEXT send|stream."""

import asyncio
import sys
import uuid

import httpx

from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message, Part, Role, TextPart


async def main(url: str, text: str, mode: str) -> None:
    async with httpx.AsyncClient() as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        client = ClientFactory(ClientConfig(httpx_client=http, streaming=mode == 'stream')).create(card)
        message = Message(role=Role.user, message_id=str(uuid.uuid4()), parts=[Part(root=TextPart(text=text))])
        async for _ in client.send_message(message):
            pass


asyncio.run(main(*sys.argv[1:]))
