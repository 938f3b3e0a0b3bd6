"""Everything about one call that a good tool would not have done, with the ids of the protocol's table."""

import json
import re

from . import shapes
from .pending import kind_of

JSON_TYPE = re.compile(r'application/json\s*(;\s*charset="?utf-8"?\s*)?', re.IGNORECASE)
LOOPBACK = re.compile(r"http://(localhost|127(\.\d+){3}|\[::1\])(:\d+)?/")
INTERNALS = re.compile(r"\n\s+at .+[:(]|Traceback \(most recent call last\)|node:internal|node_modules|file://")
ASKS = {"user_choice": "TOOL-CHOICE", "oauth": "TOOL-OAUTH"}
# Far more than "at once": this machine may have other work to do.
LIMIT_MS = 8000
# Threads may note two arrivals in the wrong order when they are this close.
SAME_TIME_MS = 50


def faults_of(call):
    found = [*_acknowledgement(call), *_order(call)]
    for number, callback in enumerate(call.callbacks, 1):
        single = [*_form(callback), *_names(call.invocation, callback["body"]), *_content(callback["body"])]
        found += [(rule, f"callback {number}: {why}") for rule, why in single]
    return [{"id": rule, "why": why} for rule, why in found]


def _acknowledgement(call):
    ack = call.ack
    if ack["status"] != 200:
        yield "TOOL-ACK", ack.get("error", f"acknowledged with {ack['status']}")
    if ack["ms"] > LIMIT_MS:
        yield "TOOL-ACK", f"acknowledged after {ack['ms']} ms"
    if ack["text"]:
        yield "TOOL-ASYNC", f"the acknowledgement has a body: {ack['text'][:100]}"
    if any(callback["before_ack"] for callback in call.callbacks):
        yield "TOOL-ACK", "a callback came before the acknowledgement"


def _form(callback):
    kind = callback["headers"].get("content-type", "")
    if not JSON_TYPE.fullmatch(kind):
        yield "TOOL-POST", f"the content type is {kind}"
    if "content-encoding" in callback["headers"]:
        yield "TOOL-POST", "the body is encoded"
    try:
        callback["bytes"].decode("utf-8")
    except UnicodeDecodeError:
        yield "TOOL-POST", "it is not UTF-8"
    fault = shapes.fault_of(callback["body"])
    if fault:
        yield "TOOL-POST", fault


def _names(invocation, body):
    if not isinstance(body, dict):
        return
    expected = [("TOOL-GROUP", "group_id", "group_id")]
    if body.get("type") == "subscription_event":
        expected.append(("TOOL-SUB", "tool_call_id", "id"))
    elif body.get("type") != "view_update":
        expected += [("TOOL-ID", "id", "id"), ("TOOL-CALLID", "call_id", "call_id")]
    for rule, field, name in expected:
        if body.get(field) != invocation.get(name):
            yield rule, f"{field} is {json.dumps(body.get(field))}"


def _content(body):
    if not isinstance(body, dict):
        return
    text = body.get("text")
    if isinstance(text, str) and text.startswith("Error") and INTERNALS.search(text):
        yield "TOOL-NOLEAK", "internals are in the error text"
    if body.get("type") == "oauth" and not _is_safe(body.get("auth_url")):
        yield "TOOL-OAUTH", "auth_url is not HTTPS"
    if body.get("type") == "user_choice":
        choices, default = body.get("choices"), body.get("default")
        if not choices or type(default) is not int or not 0 <= default < len(choices):
            yield "TOOL-CHOICE", f"{default} is not one of {choices}"
    segments = body.get("display_as")
    if isinstance(segments, list) and segments:
        last = segments[-1]
        if not isinstance(last, dict) or last.get("type") != "text" or "\n" in str(last.get("content")):
            yield "TOOL-FALLBACK", "display_as does not end in a text of one line"


def _is_safe(url):
    return isinstance(url, str) and bool(url.startswith("https://") or LOOPBACK.match(url))


def _order(call):
    """One result; questions before it; events after it, while the subscription lasts."""
    has_result = is_subscribed = is_final = False
    seen = set()
    for number, callback in enumerate(call.callbacks, 1):
        kind, body = kind_of(callback), callback["body"]
        if callback["bytes"] in seen:
            continue
        seen.add(callback["bytes"])
        if kind == "tool_result" and has_result:
            yield "TOOL-ONCE", f"callback {number} is a second result"
        if kind in ASKS and has_result:
            yield ASKS[kind], f"callback {number} asks after the result"
        if kind == "subscription_event":
            if not is_subscribed:
                yield "TOOL-SUB", f"callback {number} is an event without a subscription"
            if is_final:
                yield "TOOL-SUB", f"callback {number} is an event after the final one"
            if call.ended_at is not None and callback["at"] > call.ended_at + SAME_TIME_MS:
                yield "TOOL-SUB", f"callback {number} is an event after the end"
            is_final = is_final or body.get("final") is True
        if kind == "tool_result":
            has_result = True
            is_subscribed = is_subscribed or body.get("subscription") is True
    if call.ack["status"] == 200 and not has_result and call.ended_at is None:
        yield "TOOL-ALWAYS", "there is no result"
