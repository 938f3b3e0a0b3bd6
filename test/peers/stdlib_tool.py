"""A tool server on Python's standard library alone."""

import json
import os
import signal
import sys
import threading

sys.dont_write_bytecode = True

from stdlib_peer import choices, journal  # noqa: E402
from stdlib_peer.call import Call, end  # noqa: E402
from stdlib_peer.toolset import perform, toolset  # noqa: E402
from stdlib_peer.web import Handler, Server, parsed  # noqa: E402


class ToolHandler(Handler):
    def do_GET(self):
        if self.path == "/__log":
            self.answer_json(journal.entries())
        elif self.path == "/.well-known/rap-toolset":
            journal.add("discovery", self.path, self.lower_headers())
            self.answer_json(toolset(self.own_origin))
        else:
            self.answer(404)

    def do_POST(self):
        raw = self.read_text()
        if self.path == "/invoke":
            self.take_invocation(raw)
        elif self.path in ("/close_thread", "/cancel_tool_call"):
            self.take_notice(raw)
        elif self.path.startswith("/choice/"):
            self.take_choice(raw)
        else:
            self.answer(404)

    def take_invocation(self, raw):
        invocation = self.log("invocation", raw)["body"]
        self.answer(200)
        if isinstance(invocation, dict) and isinstance(invocation.get("callback_url"), str):
            call = Call(invocation, self.own_origin)
            in_background(perform, invocation.get("operation"), call)

    def take_notice(self, raw):
        notice = self.log(self.path[1:], raw)["body"]
        if isinstance(notice, dict):
            is_cancel = self.path == "/cancel_tool_call"
            end(str(notice.get("thread_id")), str(notice.get("tool_call_id")) if is_cancel else None)
        self.answer(200)

    def take_choice(self, raw):
        self.log("choice", raw)
        status, follow_up = choices.take(self.path.removeprefix("/choice/"), raw)
        self.answer(status)
        if follow_up:
            in_background(follow_up)

    def log(self, what, raw):
        return journal.add(what, self.path, self.lower_headers(), raw)

    @property
    def own_origin(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"


def in_background(work, *arguments):
    threading.Thread(target=work, args=arguments, daemon=True).start()


def main():
    server = Server(("127.0.0.1", int(os.environ.get("PORT", 0))), ToolHandler)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    print(json.dumps({"port": server.server_address[1]}), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
