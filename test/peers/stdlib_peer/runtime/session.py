"""The runtime: what it sends, and the faults that it sees in what comes back."""

import json
import sys

from ..web import parsed
from . import rules, toolset_rules, wire
from .listener import Listener
from .pending import Pending


class Session:
    def __init__(self, base_url):
        self.base_url = wire.root_of(base_url)
        self.listener = Listener()
        self.calls = []
        self.notices = []
        self._faults = []

    def discover(self):
        status, headers, text = wire.get_toolset(self.base_url)
        toolset = parsed(text)
        self._faults += toolset_rules.faults_of(status, headers, toolset)
        if status != 200 or not isinstance(toolset, dict):
            sys.exit(f"{self.base_url} has no toolset: {status} {text[:200]}")
        return toolset

    def invoke(self, endpoint, operation, arguments, raw=None, **fields):
        call = Pending(self.listener.origin, operation, arguments, fields)
        self.listener.calls[call.path] = call
        self.calls.append(call)
        message = json.dumps(call.invocation) if raw is None else raw
        call.ack = wire.dispatch(endpoint, message.encode(), call.heard.set)
        return call

    def notice(self, path, message):
        status, _, text = wire.post(f"{self.base_url}/{path}", message)
        self.notices.append({"what": path, "status": status, "body": text})
        return status, text

    def cancel(self, thread_id, tool_call_id):
        status, _ = self.notice("cancel_tool_call", {"thread_id": thread_id, "tool_call_id": tool_call_id})
        self.expect("TOOL-CANCEL", status == 200, f"cancel_tool_call was answered {status}")

    def close_thread(self, thread_id):
        status, text = self.notice("close_thread", {"thread_id": thread_id})
        is_right = status == 200 and text == ""
        self.expect("TOOL-CLOSE", is_right, f"close_thread was answered {status} {text[:100]}".rstrip())

    def choose(self, question, selected):
        status, _, text = wire.post(question["response_url"], {"id": question["id"], "selected": selected})
        self.notices.append({"what": "choice", "status": status, "body": text})
        self.expect("TOOL-CHOICE", status == 200, f"response_url answered {status}")

    def expect(self, rule, is_held, why):
        if not is_held:
            self._faults.append({"id": rule, "why": why})

    def faults(self):
        strays = [
            {"id": "TOOL-OPAQUE", "why": f"a callback came to {stray['url']}, which nobody was given"}
            for stray in self.listener.strays
        ]
        return [*self._faults, *strays, *(fault for call in self.calls for fault in rules.faults_of(call))]
