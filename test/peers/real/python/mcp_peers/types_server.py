"""A server over stdio on the SDK's types alone, which print `_meta: null` and do not validate results."""

import json
import sys

from mcp.types import CallToolResult, InitializeResult, Implementation, ListToolsResult, ServerCapabilities, TextContent, Tool

SUM = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
TOOLS = ListToolsResult(
    tools=[
        Tool(name="greet", input_schema={"type": "object"}),
        Tool(name="misfit", input_schema={"type": "object"}, output_schema=SUM),
    ]
)
TEXT = TextContent(type="text", text="Hello")
RESULTS = {
    "greet": CallToolResult(content=[TEXT]),
    "misfit": CallToolResult(content=[TEXT], structured_content={"sum": "two"}),
}


def result_of(method, params):
    if method == "initialize":
        info = Implementation(name="types-peer", version="1")
        version = params["protocolVersion"]
        return InitializeResult(protocol_version=version, capabilities=ServerCapabilities(tools={}), server_info=info)
    return TOOLS if method == "tools/list" else RESULTS[params["name"]]


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = result_of(message["method"], message.get("params"))
    exclude = result is not RESULTS["greet"]
    answer = result.model_dump(mode="json", by_alias=True, exclude_none=exclude)
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}), flush=True)
