"""A server on the Python SDK, with its defaults: `server.py stdio | http`; over HTTP it prints its port."""

import asyncio
import json
import socket
import sys

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

server = MCPServer("python-peer")


class Sum(BaseModel):
    sum: int
    note: str | None = None


class Answer(BaseModel):
    colour: str


@server.tool()
def greet(name: str) -> str:
    return f"Hello, {name}"


@server.tool()
def sum(a: int, b: int) -> Sum:
    return Sum(sum=a + b)


@server.tool()
def fail() -> str:
    raise ToolError("disk full")


@server.tool()
async def ask(ctx: Context) -> str:
    answer = await ctx.elicit("Which colour?", Answer)
    return f"{answer.action}: {answer.data.colour if answer.action == 'accept' else ''}"


if sys.argv[1] == "stdio":
    server.run("stdio")
else:
    import uvicorn

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print(json.dumps({"port": listener.getsockname()[1]}), flush=True)
    config = uvicorn.Config(server.streamable_http_app(), log_level="warning")
    asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))
