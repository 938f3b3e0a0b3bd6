"""The operations that every tool of this folder offers, and the check of a call against them."""

TOOLS = [
    {
        "name": "echo",
        "description": "Returns the text.",
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
            "additionalProperties": False,
        },
        "annotations": {"readOnly": True},
    },
    {
        "name": "preview_edit",
        "description": "Shows how a file would change. Changes nothing.",
        "inputSchema": {
            "type": "object",
            "properties": {"path": {"type": "string", "minLength": 1}, "line": {"type": "integer", "minimum": 1}},
            "required": ["path"],
            "additionalProperties": False,
        },
        "annotations": {"readOnly": True},
    },
    {
        "name": "unavailable",
        "description": "Always fails, as an API that limits its rate.",
        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
        "annotations": {"readOnly": True},
    },
]


def toolset(name, endpoint):
    return {"name": name, "endpoint": endpoint, "tools": TOOLS}


def results_of(invocation):
    """The members `text` and `display_as` of the result of an invocation."""
    operation = invocation.get("operation")
    arguments = invocation.get("arguments")
    tool = next((tool for tool in TOOLS if tool["name"] == operation), None)
    if tool is None:
        names = ", ".join(tool["name"] for tool in TOOLS)
        return {"text": f"Error: unknown operation. Available: {names}."}
    problem = _problem(tool["inputSchema"], arguments)
    if problem:
        return {"text": f"Error: {problem}. Correct the arguments and call again."}
    if operation == "echo":
        return {"text": arguments["text"]}
    if operation == "unavailable":
        return {"text": "Error: API rate limit exceeded. Retry after 60 seconds."}
    return _preview_edit(arguments["path"], arguments.get("line", 1))


def _preview_edit(path, line):
    patch = f"--- {path}\n+++ {path}\n@@ -{line} +{line} @@\n-old\n+new\n"
    return {
        "text": f"Would replace line {line} of {path}",
        "display_as": [
            {"type": "diff", "content": {"path": path, "patch": patch}},
            {"type": "text", "content": "1 line would change"},
        ],
    }


def _problem(schema, arguments):
    if not isinstance(arguments, dict):
        return "arguments must be an object"
    for name in schema.get("required", []):
        if name not in arguments:
            return f'argument "{name}" is missing'
    for name, value in arguments.items():
        if name not in schema["properties"]:
            return "an argument is not known"
        rule = schema["properties"][name]
        if rule["type"] == "string" and not (isinstance(value, str) and len(value) >= rule.get("minLength", 0)):
            return f'argument "{name}" must be a string'
        if rule["type"] == "integer" and not (type(value) is int and value >= 1):
            return f'argument "{name}" must be a positive integer'
    return None


def result_message(invocation):
    """The `tool_result` of an invocation."""
    echoed = {name: invocation[name] for name in ("group_id", "id", "call_id") if invocation.get(name) is not None}
    return {"type": "tool_result", **echoed, **results_of(invocation)}
