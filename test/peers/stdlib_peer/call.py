"""One call: who asked, and how to answer."""

import threading

from .delivery import deliver

_ended = set()
_ended_lock = threading.Lock()


class Call:
    def __init__(self, invocation, own_origin):
        self.arguments = invocation.get("arguments")
        self.own_origin = own_origin
        self.group_id = invocation.get("group_id")
        self.id = invocation.get("id")
        self._url = invocation["callback_url"]
        self._names = {"id": self.id}
        if "call_id" in invocation:
            self._names["call_id"] = invocation["call_id"]

    def result(self, text, **fields):
        self.send("tool_result", text=text, **self._names, **fields)

    def wait(self, kind, **fields):
        """Leaves the call pending: on the user, not on us."""
        self.send(kind, **self._names, **fields)

    def send(self, kind, **fields):
        deliver(self._url, {"type": kind, "group_id": self.group_id, **fields})

    @property
    def is_ended(self):
        with _ended_lock:
            return (self.group_id, self.id) in _ended or (self.group_id, None) in _ended


def end(thread_id, tool_call_id=None):
    """A cancelled call, or without an id the whole thread."""
    with _ended_lock:
        _ended.add((thread_id, tool_call_id))
