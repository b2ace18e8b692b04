"""The client of the Python a2a-sdk 1.x sends one text: python once.py URL TEXT send|stream."""

import asyncio
import sys
import uuid

import httpx
from google.protobuf.json_format import ParseDict

from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import SendMessageRequest


async def main(url: str, text: str, mode: str) -> None:
    async with httpx.AsyncClient() as http:
        card = await A2ACardResolver(http, url).get_agent_card()
    client = ClientFactory(ClientConfig(streaming=mode == 'stream')).create(card)
    message = {'role': 'ROLE_USER', 'messageId': str(uuid.uuid4()), 'parts': [{'text': text}]}
    async for _ in client.send_message(ParseDict({'message': message}, SendMessageRequest())):
        pass


asyncio.run(main(*sys.argv[1:]))
