"""What the tool does: one function per operation."""

import difflib
import json
import time

from . import choices


def edit_file(call):
    path, count = call.arguments["path"], call.arguments.get("replace", 1)
    lines = [f"line {number}\n" for number in range(1, count + 3)]
    edited = [lines[0], *(f"edited {line}" for line in lines[1:-1]), lines[-1]]
    patch = "".join(difflib.unified_diff(lines, edited, path, path))
    plural = "" if count == 1 else "s"
    call.result(
        f"Replaced text in {path}",
        display_as=[
            {"type": "diff", "content": {"path": path, "patch": patch}},
            {"type": "text", "content": f"edit_file {path} — {count} replacement{plural}"},
        ],
    )


def echo(call):
    call.result(call.arguments["text"])


def delete_all(call):
    call.result("Deleted all 3 files")


def ask(call):
    choices.ask(call, "Which environment?", ["staging", "production", "neither"])


def login(call):
    call.wait("oauth", auth_url="https://auth.example.com/authorize?state=SECRET-STATE-123&client=x")
    time.sleep(call.arguments.get("ms", 300) / 1000)
    call.result("authorised")


def subscribe(call):
    call.result("Subscribed", subscription=True)
    for number in (1, 2, 3):
        if call.wait_for_end(call.arguments.get("ms", 50) / 1000):
            return
        final = {"final": True} if number == 3 else {}
        call.send("subscription_event", tool_call_id=call.id, text=f"Event {number} of 3", **final)


def view(call):
    patch = "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-before\n+after\n"
    call.send("view_update", view_type="diff", content={"patch": patch})
    call.result("View updated")


def ancestors(call):
    call.result(json.dumps(call.thread_ancestors, separators=(",", ":")))


def work(call):
    """A cancelled call may end in a result that says so, in none, or as if nothing had happened."""
    if not call.wait_for_end(call.arguments["ms"] / 1000):
        call.result("Worked")
        return
    when_cancelled = call.arguments.get("when_cancelled", "say_so")
    if when_cancelled == "say_so":
        call.result('{"canceled":{"reason":"the runtime cancelled the call","by":"user"}}')
    elif when_cancelled == "finish":
        call.result("Worked")
