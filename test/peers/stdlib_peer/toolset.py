"""What the tool offers, and the check of a call against it."""

from . import operations

_MS = {"type": "integer", "minimum": 0, "maximum": 600_000}
_TEXT = {"type": "string"}
_TYPES = {"string": str, "integer": int}


def _tool(run, description, properties=None, required=(), **annotations):
    schema = {
        "type": "object",
        "properties": properties or {},
        "required": list(required),
        "additionalProperties": False,
    }
    tool = {"name": run.__name__, "description": description, "inputSchema": schema}
    return run, {**tool, "annotations": annotations} if annotations else tool


_CATALOG = [
    _tool(
        operations.edit_file,
        "Replaces text in a file.",
        {"path": _TEXT, "replace": {"type": "integer", "minimum": 1, "maximum": 1000}},
        ["path"],
        readOnly=False,
    ),
    _tool(operations.echo, "Gives the text back.", {"text": _TEXT}, ["text"], readOnly=True),
    _tool(operations.delete_all, "Deletes every file.", destructive=True),
    _tool(operations.ask, "Asks the user which environment is meant."),
    _tool(operations.login, "Needs the user's consent.", {"ms": _MS}, requiresAuth="oauth"),
    _tool(operations.subscribe, "Three events, one every `ms`.", {"ms": _MS}, longRunning=True),
    _tool(operations.view, "Updates the diff view."),
    _tool(operations.ancestors, "Tells the ancestors of the thread.", readOnly=True),
    _tool(
        operations.work,
        "Works for `ms`, or until it is cancelled.",
        {"ms": _MS, "when_cancelled": {"type": "string", "enum": ["say_so", "finish", "say_nothing"]}},
        ["ms"],
        longRunning=True,
    ),
]
_RUNS = {tool["name"]: (run, tool["inputSchema"]) for run, tool in _CATALOG}


def toolset(own_origin):
    tools = [tool for _, tool in _CATALOG]
    return {"name": "stdlib-tool", "endpoint": f"{own_origin}/invoke", "tools": tools}


def perform(operation, call):
    if not isinstance(operation, str) or operation not in _RUNS:
        call.result(f'Error: unknown operation "{operation}". Use one of {", ".join(_RUNS)}.')
        return
    run, schema = _RUNS[operation]
    fault = _fault(schema, call.arguments)
    if fault:
        call.result(f"Error: {fault}. Correct it and call again.")
    else:
        run(call)


def _fault(schema, arguments):
    if not isinstance(arguments, dict):
        return "arguments must be an object"
    for name in schema["required"]:
        if name not in arguments:
            return f'argument "{name}" is required'
    for name, value in arguments.items():
        if name not in schema["properties"]:
            return f'argument "{name}" is not known'
        fault = _value_fault(schema["properties"][name], value)
        if fault:
            return f'argument "{name}" {fault}'
    return None


def _value_fault(schema, value):
    if type(value) is not _TYPES[schema["type"]]:
        return f"must be of type {schema['type']}"
    if value not in schema.get("enum", [value]):
        return f"must be one of {', '.join(schema['enum'])}"
    if "minimum" in schema and not schema["minimum"] <= value <= schema["maximum"]:
        return f"must be from {schema['minimum']} to {schema['maximum']}"
    return None
