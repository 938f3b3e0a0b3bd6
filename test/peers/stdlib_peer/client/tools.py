"""What the custom tools of the client do, by name."""

import time
from concurrent.futures import ThreadPoolExecutor

_MOST_AT_ONCE = 64


def _explode(_):
    raise LookupError("Order not found")


def _slow(args):
    time.sleep(args["ms"] / 1000)
    return args["ms"]


_TOOLS = {
    "lookup_order": lambda _: "shipped",
    "echo": lambda args: args,
    "explode": _explode,
    "nothing": lambda _: None,
    "slow": _slow,
}

DECLARED = [{"name": name, "description": name, "input_schema": {"type": "object"}} for name in _TOOLS]


def settled_together(calls):
    """All of them side by side, in their order."""
    with ThreadPoolExecutor(_MOST_AT_ONCE) as pool:
        return list(pool.map(_settled, calls))


def _settled(call):
    """No tool and a failing tool are errors of the client."""
    try:
        if call["tool_name"] not in _TOOLS:
            raise LookupError(f"Unknown tool: {call['tool_name']}")
        result = _TOOLS[call["tool_name"]](call.get("args") or {})
        return {"kind": "tool_result", "tool_req": call, "result": result}
    except Exception as error:  # whatever a tool throws
        return {"kind": "error_event", "error": str(error), "origin": "client", "tool_req": call}
