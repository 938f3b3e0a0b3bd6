"""A client on the Python SDK: `client.py <calls> <url | program argument…>`. It prints what it got."""

import asyncio
import json
import sys

from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters
from mcp.types import ElicitResult

notified = []


async def on_progress(progress, total, message):
    notified.append(f"progress {progress:g} of {total:g}: {message}")


async def on_log(params):
    notified.append(f"{params.level}: {params.data}")


async def on_form(context, params):
    return ElicitResult(action="accept", content={"colour": "red"})


def failure(error):
    if isinstance(error, MCPError):
        return {"code": error.error.code, "data": error.error.data}
    return {"raised": str(error)}


async def call(client, name, arguments):
    try:
        result = await client.call_tool(name, arguments, progress_callback=on_progress)
    except Exception as error:
        return failure(error)
    texts = [block.text for block in result.content if block.type == "text"]
    return {"text": "".join(texts), "structured": result.structured_content, "isError": bool(result.is_error)}


async def main():
    calls, first, *rest = sys.argv[1:]
    server = first if first.startswith("http") else StdioServerParameters(command=first, args=rest)
    handlers = {"logging_callback": on_log, "log_level": "debug", "elicitation_callback": on_form}
    async with Client(server, **handlers) as client:
        listed = await client.list_tools()
        answers = {name: await call(client, name, arguments) for name, arguments in json.loads(calls).items()}
        names = [tool.name for tool in listed.tools]
        unknown = None
        try:
            await client.list_resources()
        except MCPError as error:
            unknown = failure(error)
        got = {"tools": names, "calls": answers, "notified": notified, "unknown": unknown}
        print(json.dumps({"version": client.protocol_version, **got}))


asyncio.run(main())
