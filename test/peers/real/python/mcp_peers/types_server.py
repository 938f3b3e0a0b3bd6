"""A server over stdio on the SDK's types alone, which print `_meta: null`."""

import json
import sys

from mcp.types import CallToolResult, InitializeResult, Implementation, ListToolsResult, ServerCapabilities, TextContent, Tool

TOOLS = ListToolsResult(tools=[Tool(name="greet", input_schema={"type": "object"})])
GREETING = CallToolResult(content=[TextContent(type="text", text="Hello")])


def result_of(method, params):
    if method == "initialize":
        info = Implementation(name="types-peer", version="1")
        version = params["protocolVersion"]
        return InitializeResult(protocol_version=version, capabilities=ServerCapabilities(tools={}), server_info=info)
    return {"tools/list": TOOLS, "tools/call": GREETING}[method]


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = result_of(message["method"], message.get("params"))
    exclude = message["method"] != "tools/call"
    answer = result.model_dump(mode="json", by_alias=True, exclude_none=exclude)
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}), flush=True)
