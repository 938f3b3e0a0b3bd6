"""A server on the Python SDK, with its defaults: `server.py stdio | http | sse`; over HTTP it prints its port."""

import asyncio
import json
import socket
import sys
from typing import Annotated, Literal

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from mcp.types import ElicitRequestURLParams, EmbeddedResource, TextResourceContents
from pydantic import BaseModel, Field

server = MCPServer("python-peer")


class Sum(BaseModel):
    sum: int
    note: str | None = None


class Answer(BaseModel):
    colour: str


class Light(BaseModel):
    colour: Literal["red", "green"] = "green"


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


@server.tool()
async def pick(ctx: Context) -> str:
    answer = await ctx.elicit("Which light?", Light)
    return f"{answer.action}: {answer.data.colour if answer.action == 'accept' else ''}"


@server.tool()
def sign_in() -> str:
    page = {"message": "Sign in", "url": "https://login.example/a", "elicitation_id": "a"}
    raise UrlElicitationRequiredError([ElicitRequestURLParams(**page)])


@server.tool()
def extend() -> str:
    raise MCPError(-32021, "an extension is required", {"requiredCapabilities": {"extensions": {"com.example/maps": {}}}})


@server.tool()
async def work(ctx: Context) -> str:
    await ctx.report_progress(1, 2, "half")
    await ctx.warning("almost")
    return "done"


@server.tool()
def note() -> EmbeddedResource:
    contents = TextResourceContents(uri="note://1", mime_type="text/plain", text="remember the milk")
    return EmbeddedResource(type="resource", resource=contents)


@server.tool()
def regional(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
    return region


@server.tool()
def wrapped() -> dict:
    return {"content": [{"type": "text", "text": "inner"}], "isError": False}


if sys.argv[1] == "stdio":
    server.run("stdio")
else:
    import uvicorn

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print(json.dumps({"port": listener.getsockname()[1]}), flush=True)
    app = server.sse_app() if sys.argv[1] == "sse" else server.streamable_http_app()
    config = uvicorn.Config(app, log_level="warning")
    asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))
