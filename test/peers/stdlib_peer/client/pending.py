"""The calls that a session waits for, by its events: the latest counts. A wait ends when the state is another one."""

import json
from collections import Counter


class Pending:
    def __init__(self):
        self._calls = []
        self._answered = set()

    def apply(self, event):
        if event["type"] != "ActiveStateChangeEvent":
            return
        is_awaiting = event["data"]["state"] == "awaiting_tool_results"
        self._calls = event["data"]["pending_tool_calls"] if is_awaiting else []
        if not is_awaiting:
            self._answered.clear()

    def take(self):
        """Those that were not taken in this wait; from now on they are."""
        counts, taken = Counter(), []
        for call in self._calls:
            name = call.get("id") or json.dumps([call["tool_name"], call.get("args") or {}], sort_keys=True)
            counts[name] += 1
            if (name, counts[name]) not in self._answered:
                self._answered.add((name, counts[name]))
                taken.append(call)
        return taken
