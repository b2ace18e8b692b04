"""An MCP client that starts a server, makes the calls of its first argument, and prints the tools and the answers as JSON."""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters, stdio_client


async def main(calls, command):
    server = StdioServerParameters(command=command[0], args=command[1:])
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        tools = [tool.name for tool in (await session.list_tools()).tools]
        answers = []
        for name, arguments in calls:
            result = await session.call_tool(name, arguments)
            answers.append({"failed": bool(result.is_error), "text": result.content[0].text})
        print(json.dumps({"tools": tools, "answers": answers}))


asyncio.run(main(json.loads(sys.argv[1]), sys.argv[2:]))
