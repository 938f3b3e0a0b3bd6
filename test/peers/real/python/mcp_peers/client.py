"""A client on the Python SDK: `client.py <calls> <url | program argument…>`. It prints what it got."""

import asyncio
import json
import sys

from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters


async def call(client, name, arguments):
    try:
        result = await client.call_tool(name, arguments)
    except MCPError as error:
        return {"code": error.error.code, "data": error.error.data}
    except Exception as error:
        return {"raised": str(error)}
    texts = [block.text for block in result.content if block.type == "text"]
    return {"text": "".join(texts), "structured": result.structured_content, "isError": bool(result.is_error)}


async def main():
    calls, first, *rest = sys.argv[1:]
    server = first if first.startswith("http") else StdioServerParameters(command=first, args=rest)
    async with Client(server) as client:
        listed = await client.list_tools()
        answers = {name: await call(client, name, arguments) for name, arguments in json.loads(calls).items()}
        names = [tool.name for tool in listed.tools]
        print(json.dumps({"version": client.protocol_version, "tools": names, "calls": answers}))


asyncio.run(main())
