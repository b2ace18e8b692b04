"""Asks an agent a few things with the client of agno. Argument: the URL."""

import asyncio
import sys

from agno.client.a2a import A2AClient


async def main(url):
    client = A2AClient(url + "/a2a/agents/echo")
    await client.aget_agent_card()
    result = await client.send_message(message="hello")
    async for event in client.stream_message(message="hello again", context_id=result.context_id):
        print(event, file=sys.stderr)


asyncio.run(main(sys.argv[1]))
