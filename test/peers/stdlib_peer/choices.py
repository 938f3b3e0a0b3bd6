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
        selected = answer.get("selected") if isinstance(answer, dict) else None
        if type(selected) is not int:
            return 400, None
        del _open[key]
    return 200, lambda: call.result(_said(selected, choices))


def _said(selected, choices):
    if 0 <= selected < len(choices):
        return f"Chosen: {choices[selected]}"
    return f"Error: {selected} is not the index of one of the {len(choices)} choices. Call again."
