"""Questions that wait for the user."""

import secrets
import threading

from .web import parsed

_open = {}
_lock = threading.Lock()


def ask(call, prompt, choices):
    key = secrets.token_hex(8)
    with _lock:
        _open[key] = (call, choices)
    url = f"{call.own_origin}/choice/{key}"
    call.wait("user_choice", prompt=prompt, choices=choices, default=0, response_url=url)


def take(key, raw):
    """The status for this answer, and what is left to do once it is sent."""
    answer = parsed(raw)
    with _lock:
        if key not in _open:
            return 404, None
        call, choices = _open[key]
        if not isinstance(answer, dict) or not _is_index(answer.get("selected"), choices):
            return 400, None
        del _open[key]
    return 200, lambda: call.result(f"Chosen: {choices[answer['selected']]}")


def _is_index(value, choices):
    return type(value) is int and 0 <= value < len(choices)
