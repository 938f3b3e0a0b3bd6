"""One call: who asked, and how to answer."""

import threading

from .delivery import deliver

_ended = set()
_ending = threading.Condition()


class Call:
    def __init__(self, invocation, own_origin):
        self.arguments = invocation.get("arguments")
        self.own_origin = own_origin
        self.group_id = invocation.get("group_id")
        self.id = invocation.get("id")
        self.thread_ancestors = invocation.get("thread_ancestors")
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

    def wait_for_end(self, seconds):
        """True as soon as the call is cancelled or its thread closed; False when the time is over."""
        with _ending:
            return _ending.wait_for(lambda: self._is_ended, seconds)

    @property
    def _is_ended(self):
        return (self.group_id, self.id) in _ended or (self.group_id, None) in _ended


def end(thread_id, tool_call_id=None):
    """A cancelled call, or without an id the whole thread."""
    with _ending:
        _ended.add((thread_id, tool_call_id))
        _ending.notify_all()
