"""An MCP server on standard input and output, or over Streamable HTTP with the argument http, with tools that behave and
tools that do not."""

import asyncio
import logging
import os
import sys

from mcp.server.mcpserver import Context, MCPServer

logging.disable()  # what tools raise is their result
server = MCPServer("weather-py")


@server.tool()
def weather(city: str) -> str:
    """Tell the weather."""
    if city == "nowhere":
        raise ValueError("unknown city")
    return f"sunny in {city}"


@server.tool()
def clock(city: str) -> str:
    """Tell the time."""
    return f"noon in {city}"


@server.tool()
async def ask(ctx: Context) -> str:
    """Send a request to the client."""
    await ctx.session.send_ping()
    return "asked"


@server.tool()
def shout() -> str:
    """Print to standard output."""
    os.write(1, b"debug: shouting\n")
    return "shouted"


@server.tool()
def flood() -> str:
    """Answer with 1 MiB."""
    return "x" * (1 << 20)


@server.tool()
async def hang() -> str:
    """Never answer."""
    await asyncio.Event().wait()
    return "never"


@server.tool()
def die() -> str:
    """End without an answer."""
    os._exit(7)


if sys.argv[1:] == ["http"]:
    from serve import serve

    serve(lambda url: server.streamable_http_app())
else:
    server.run("stdio")
