"""One invocation and all that became of it."""

import os
import threading
import uuid

LIMIT_S = float(os.environ.get("LIMIT_S", 10))


class Pending:
    def __init__(self, origin, operation, arguments, fields):
        # Odd on purpose: a tool has to use the URL exactly as given.
        self.path = f"/back/{uuid.uuid4()}/?token=a%2Fb&n=1"
        self.invocation = {
            "operation": operation,
            "arguments": arguments,
            "id": f"call_{uuid.uuid4()}",
            "callback_url": origin + self.path,
            "group_id": f"thread_{uuid.uuid4()}",
            **fields,
        }
        self.ack = None
        # Set with the head of the acknowledgement.
        self.heard = threading.Event()
        self.ended_at = None
        self.callbacks = []
        self.turn = threading.Lock()
        self._news = threading.Condition()

    def take(self, callback):
        with self._news:
            self.callbacks.append(callback)
            self._news.notify_all()

    def wait_for(self, fits, limit_s):
        """The first callback, past or future, that fits; None in vain."""
        with self._news:
            self._news.wait_for(lambda: any(map(fits, self.callbacks)), limit_s)
            return next(filter(fits, self.callbacks), None)

    def message(self, kind):
        return self._body(lambda callback: kind_of(callback) == kind)

    def result(self):
        return self._body(lambda callback: is_result_of(callback, self.invocation["id"]))

    def _body(self, fits):
        """Nothing is to be waited for where the call was not taken."""
        callback = self.wait_for(fits, LIMIT_S if self.ack["status"] == 200 else 0)
        return callback and callback["body"]


def kind_of(callback):
    body = callback["body"]
    return body.get("type") if isinstance(body, dict) else None


def is_result_of(callback, call_id):
    return kind_of(callback) == "tool_result" and callback["body"].get("id") == call_id
