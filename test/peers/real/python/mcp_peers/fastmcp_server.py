"""A server on FastMCP, with its defaults: `fastmcp_server.py stdio | http`; over HTTP it prints its port."""

import asyncio
import json
import socket
import sys
from dataclasses import dataclass

import uvicorn
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError

server = FastMCP("fastmcp-peer")


@dataclass
class Sum:
    sum: int


@dataclass
class Answer:
    colour: str


@server.tool
def greet(name: str) -> str:
    return f"Hello, {name}"


@server.tool
def sum(a: int, b: int) -> Sum:
    return Sum(a + b)


@server.tool
def fail() -> str:
    raise ToolError("disk full")


@server.tool
async def ask(ctx: Context) -> str:
    answer = await ctx.elicit("Which colour?", Answer)
    return f"{answer.action}: {answer.data.colour if answer.action == 'accept' else ''}"


if sys.argv[1] == "stdio":
    server.run("stdio", show_banner=False)
else:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print(json.dumps({"port": listener.getsockname()[1]}), flush=True)
    config = uvicorn.Config(server.http_app(), log_level="warning")
    asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))
