"""What is wrong with a toolset."""

import re
from urllib.parse import urlsplit

NAME = re.compile(r"[A-Za-z0-9_-]{1,128}")


def faults_of(status, headers, toolset):
    return [{"id": rule, "why": why} for rule, why in _faults(status, headers, toolset)]


def _faults(status, headers, toolset):
    if status != 200:
        yield "TOOL-DISCOVER", f"discovery was answered {status}"
    if not headers.get("content-type", "").startswith("application/json"):
        yield "TOOL-DISCOVER", f"the content type is {headers.get('content-type')}"
    if not isinstance(toolset, dict):
        yield "TOOL-DISCOVER", "the toolset is not an object"
        return
    name, endpoint, tools = (toolset.get(field) for field in ("name", "endpoint", "tools"))
    if not isinstance(name, str) or not 1 <= len(name) <= 128:
        yield "TOOL-DISCOVER", f"its name is {name}"
    if not isinstance(endpoint, str) or urlsplit(endpoint).scheme not in ("http", "https"):
        yield "TOOL-DISCOVER", f"its endpoint is {endpoint}"
    if not isinstance(tools, list) or not tools:
        yield "TOOL-DISCOVER", "it has no tools"
        return
    for tool in tools:
        yield from _tool_faults(tool if isinstance(tool, dict) else {})
    names = [tool.get("name") for tool in tools if isinstance(tool, dict)]
    if len(set(map(str, names))) < len(names):
        yield "TOOL-NAMES", f"a name is there twice: {names}"


def _tool_faults(tool):
    name = tool.get("name")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        yield "TOOL-NAMES", f"a tool has the name {name}"
    if not isinstance(tool.get("description"), str):
        yield "TOOL-DISCOVER", f"tool {name} has no description"
    if not isinstance(tool.get("inputSchema"), dict):
        yield "TOOL-DISCOVER", f"the inputSchema of tool {name} is not an object"
