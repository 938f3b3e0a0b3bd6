"""One call, and everything that came back for it."""

from .pending import LIMIT_S, is_result_of, kind_of
from .session import Session


def invoke_once(base_url, operation, arguments, call_id=None):
    session = Session(base_url)
    fields = {} if call_id is None else {"call_id": call_id}
    call = session.invoke(session.discover()["endpoint"], operation, arguments, **fields)
    is_done = call.ack["status"] == 200 and _ended(session, call)
    ack = {name: call.ack[name] for name in ("status", "headers")}
    return is_done, {"ack": ack, "callbacks": shown(call.callbacks), "invocation": call.invocation}


def _ended(session, call):
    """A question gets its default, as from an absent user."""
    call_id = call.invocation["id"]
    first = call.wait_for(
        lambda callback: kind_of(callback) == "user_choice" or is_result_of(callback, call_id), LIMIT_S
    )
    if first and kind_of(first) == "user_choice":
        session.choose(first["body"], first["body"]["default"])
    return call.result() is not None


def shown(callbacks):
    return [{name: value for name, value in each.items() if name != "bytes"} for each in callbacks]
