"""The shape of each type of callback."""

import json


def _text(value):
    return isinstance(value, str)


def _name(value):
    return isinstance(value, str) and value != ""


def _flag(value):
    return isinstance(value, bool)


def _index(value):
    return type(value) is int


def _record(value):
    return isinstance(value, dict)


def _texts(value):
    return isinstance(value, list) and all(map(_text, value))


def _segments(value):
    return isinstance(value, list) and all(map(_segment, value))


def _segment(value):
    if not isinstance(value, dict) or not _text(value.get("type")) or "content" not in value:
        return False
    content = value["content"]
    if value["type"] == "text":
        return _text(content)
    needed = {"diff": ("path", "patch"), "image": ("data", "mediaType")}.get(value["type"], ())
    return not needed or (_record(content) and all(_text(content.get(name)) for name in needed))


def _items(value):
    return isinstance(value, list) and all(map(_item, value))


def _item(value):
    needed = {"text": ("text",), "image": ("data", "mediaType")}
    if not isinstance(value, dict) or value.get("type") not in needed:
        return False
    return all(_text(value.get(name)) for name in needed[value["type"]])


def _maybe(fits):
    return lambda value: value is MISSING or fits(value)


def _call_id(value):
    return value is MISSING or value is None or isinstance(value, str)


MISSING = object()
_NAMES = {"group_id": _name, "id": _name, "call_id": _call_id}
_SHAPES = {
    "tool_result": {
        **_NAMES,
        "text": _maybe(_text),
        "content": _maybe(_items),
        "display_as": _maybe(_segments),
        "subscription": _maybe(_flag),
    },
    "oauth": {**_NAMES, "auth_url": _name},
    "user_choice": {**_NAMES, "prompt": _text, "choices": _texts, "default": _index, "response_url": _name},
    "subscription_event": {
        "group_id": _name,
        "tool_call_id": _name,
        "text": _text,
        "associative": _maybe(_flag),
        "final": _maybe(_flag),
    },
    "view_update": {"group_id": _name, "view_type": _name, "content": _record},
}


def fault_of(body):
    """What keeps a message from being one of its type; None for a good one."""
    if not isinstance(body, dict):
        return "it is not a JSON object"
    kind = body.get("type")
    if not isinstance(kind, str) or kind not in _SHAPES:
        return f"the type is {json.dumps(kind)}"
    for field, fits in _SHAPES[kind].items():
        if not fits(body.get(field, MISSING)):
            return f"{kind} has {field}: {json.dumps(body.get(field))}"
    if kind == "tool_result" and "text" not in body and "content" not in body:
        return "tool_result has neither text nor content"
    return None
