"""An MCP client that starts the server of its arguments, and prints the results of its calls."""

import asyncio
import sys

from mcp import ClientSession, StdioServerParameters, stdio_client

CALLS = [("weather", {"city": "Rome"}), ("weather", {"city": "nowhere"}), ("ask", {}), ("shout", {}), ("flood", {}), ("hang", {}), ("die", {})]


async def main(command):
    server = StdioServerParameters(command=command[0], args=command[1:])
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        print("tools", len((await session.list_tools()).tools))
        for name, arguments in CALLS:
            try:
                result = await session.call_tool(name, arguments, read_timeout_seconds=0.5 if name == "hang" else 30)
                print(name, "failed" if result.is_error else "worked", len(result.content[0].text))
            except Exception as e:
                print(name, "no answer", type(e).__name__)


asyncio.run(main(sys.argv[1:]))
