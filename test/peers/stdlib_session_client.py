"""A client of agent sessions on Python's standard library alone; session-client.mjs says what it does, and how it is used.

stdlib_session_client.py -    many, side by side: a JSON list [BASE_URL, SESSION_ID | "new", API_KEY] on each line of stdin

Of many, each prints [number of the line, what it would print] as soon as it is over.
"""

import json
import os
import sys
import threading
import urllib.parse
import uuid

sys.dont_write_bytecode = True

from stdlib_peer.client.pending import Pending  # noqa: E402
from stdlib_peer.client.tools import DECLARED, settled_together  # noqa: E402
from stdlib_peer.client.wire import Refused, Wire, accepted  # noqa: E402

SETTLED = ("completed", "timed_out", "interrupted", "failed", "idle")
WAIT_SECONDS = os.environ.get("WAIT_SECONDS", "20")


PRINTING = threading.Lock()


def main():
    arguments = sys.argv[1:]
    if arguments == ["-"]:
        for number, line in enumerate(sys.stdin):
            threading.Thread(target=print_outcome, args=(number, *json.loads(line))).start()
        return
    base = arguments[0] if arguments else os.environ["SESSION_URL"]
    asked = arguments[1] if len(arguments) > 1 else os.environ.get("SESSION_ID", "new")
    outcome = run_session(base, asked, os.environ.get("API_KEY", ""))
    print(json.dumps(outcome), flush=True)
    sys.exit(1 if outcome["error"] else 0)


def print_outcome(number, base, asked, key):
    outcome = run_session(base, asked, key)
    with PRINTING:
        print(json.dumps([number, outcome]), flush=True)


def run_session(base, asked, key):
    wire = Wire(base.rstrip("/"), key)
    outcome = {"session": None, "status": None, "answer": None, "error": None, "events": [], "journal": wire.journal}
    try:
        outcome["session"] = create(wire) if asked == "new" else asked
        until_settled(wire, f"/sessions/{urllib.parse.quote(outcome['session'], safe='')}", outcome)
    except (Refused, OSError) as error:
        outcome["error"] = str(error)
    return outcome


def create(wire):
    message = {"type": "user_message", "message": "Where is my order?"}
    agent = {"name": "client", "description": "Answers with its tools", "environments": [], "tools": DECLARED}
    body = {"agent": agent, "messages": [message]}
    answer = wire.post("/sessions", body, {"Idempotency-Key": str(uuid.uuid4())})
    return accepted(answer, "create")["body"]["id"]


def until_settled(wire, path, outcome):
    pending, events = Pending(), outcome["events"]
    while True:
        waiting = f"from_index={len(events)}&include_events=true&wait_for_seconds={WAIT_SECONDS}"
        changes = accepted(wire.get(f"{path}/changes?{waiting}"), "changes")["body"] or {}
        for event in changes.get("new_events") or []:
            events.append(event)
            pending.apply(event)
        outcome["status"] = accepted(wire.get(f"{path}/status"), "status")["body"]["status"]
        if outcome["status"] in SETTLED:
            break
        if outcome["status"] == "awaiting_tool_results":
            answer_calls(wire, path, pending)
    whole = accepted(wire.get(f"{path}/changes?from_index=0&include_events=false"), "changes")["body"] or {}
    outcome["answer"] = whole.get("answer")


def answer_calls(wire, path, pending):
    results = settled_together(pending.take())
    if not results:
        return
    body = results[0] if len(results) == 1 else {"type": "batch", "results": results}
    accepted(wire.post(f"{path}/tool_results", body), "tool_results", (409,))


if __name__ == "__main__":
    main()
