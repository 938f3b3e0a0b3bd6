"""What a runtime lives through with a tool: one function per scenario."""

import json
import time

from . import browser, rules, samples
from .pending import LIMIT_S

QUIET_S = 0.3
SUBSCRIBES = ("subscription", "subscribe", "watch")
# The operations that a scenario looks for, in this order.
OPERATIONS = {
    "result": ("result", "echo", "edit_file"),
    "sequence": ("sequence", "count", "echo", "edit_file"),
    "choice": ("choice", "ask", "write_outside"),
    "oauth-grant": ("oauth", "login", "open_issue"),
    "oauth-refuse": ("oauth", "login", "open_issue"),
    "subscription": SUBSCRIBES,
    "cancel": SUBSCRIBES,
    "close": SUBSCRIBES,
    "error": ("error", "fail", "rate_limited"),
    "bad-arguments": ("result", "echo", "edit_file"),
}


class Scenario:
    """What every scenario has at hand; what it learns beyond faults goes into `facts`."""

    def __init__(self, session, name, operation=None, arguments=None):
        self.session = session
        self.toolset = session.discover()
        self.endpoint = self.toolset["endpoint"]
        self.facts = {}
        tools = {tool["name"]: tool for tool in self.toolset["tools"]}
        wanted = (operation,) if operation else OPERATIONS.get(name, ())
        self.operation = next((each for each in wanted if each in tools), operation)
        if wanted and self.operation is None:
            raise LookupError(f"{name} needs one of {', '.join(wanted)}; offered are {', '.join(tools)}")
        self.schema = tools.get(self.operation, {}).get("inputSchema", {})
        self.given = arguments
        self.arguments = samples.fitting(self.schema) if arguments is None else arguments

    def call(self, **fields):
        return self.session.invoke(self.endpoint, self.operation, self.arguments, **fields)

    def expect(self, *fault):
        self.session.expect(*fault)

    def expect_error(self, rule, call):
        result = call.result()
        text = result and result.get("text", "")
        self.expect(rule, call.ack["status"] == 200, f"acknowledged with {call.ack['status']}")
        self.expect(rule, text is not None, "there is no result")
        self.expect("TOOL-ERRPREFIX", text is None or text.startswith("Error: "), f"the text is {text!r}")


def discover(_):
    """All there is to it has been done on the way here."""


def result(scenario):
    call = scenario.call(call_id="model-1", user_id="user_42", thread_ancestors=["root"], x_more={"a": [1]})
    call.result()


def sequence(scenario):
    """Three calls in one thread, each after the result of the one before."""
    first = scenario.call()
    first.result()
    for _ in range(2):
        scenario.call(group_id=first.invocation["group_id"]).result()
    scenario.facts["texts"] = [(call.result() or {}).get("text") for call in scenario.session.calls]


def choice(scenario):
    call = scenario.call()
    question = call.message("user_choice")
    scenario.expect("TOOL-CHOICE", question is not None, "there is no question")
    if question:
        scenario.session.choose(question, len(question["choices"]) - 1)
        call.result()


def oauth_grant(scenario):
    _consent(scenario, "grant")


def oauth_refuse(scenario):
    _consent(scenario, "refuse")


def _consent(scenario, decision):
    call = scenario.call()
    message = call.message("oauth")
    scenario.expect("TOOL-OAUTH", message is not None, "there is no consent to give")
    # A page elsewhere is not for us to visit.
    if message and rules.LOOPBACK.match(message["auth_url"]):
        page, answer = browser.visit(message["auth_url"], decision)
        scenario.facts["consent"] = {"page": page, "answer": answer}
        scenario.expect("TOOL-OAUTH", page == 200 and 200 <= answer < 400, f"consent: {page}, {answer}")
    call.result()


def subscription(scenario):
    call = _subscribed(scenario)
    final = call.wait_for(_is_final, LIMIT_S)
    scenario.expect("TOOL-SUB", final is not None, "the subscription does not end")


def cancel(scenario):
    call = _subscribed(scenario)
    names = (call.invocation["group_id"], call.invocation["id"])
    scenario.session.cancel(*names)
    _quiet(scenario, call)
    for thread_id, call_id in (names, ("unknown", "unknown"), ("../../etc", "..%2f..%2fpasswd")):
        scenario.session.cancel(thread_id, call_id)


def close(scenario):
    call = _subscribed(scenario)
    scenario.session.close_thread(call.invocation["group_id"])
    _quiet(scenario, call)
    for thread_id in (call.invocation["group_id"], "unknown", "../../etc/passwd"):
        scenario.session.close_thread(thread_id)


def _subscribed(scenario):
    call = scenario.call()
    first = call.result()
    is_subscribed = first is not None and first.get("subscription") is True
    scenario.expect("TOOL-SUB", is_subscribed, "the result starts no subscription")
    return call


def _quiet(scenario, call):
    call.ended_at = round(time.time() * 1000)
    is_early = not any(map(_is_final, call.callbacks))
    scenario.expect("TOOL-SUB", is_early, "it could not be tried: the subscription was over before")
    time.sleep(QUIET_S)


def _is_final(callback):
    return isinstance(callback["body"], dict) and callback["body"].get("final") is True


def migrate(scenario):
    if scenario.toolset.get("needsMigration") is not True:
        scenario.facts["offered"] = False
        return
    message = {"session_id": "session_1", "destination_url": scenario.session.base_url}
    status, text = scenario.session.notice("migrate", message)
    is_clear = status == 200 or (status >= 400 and text != "")
    scenario.expect("TOOL-MIGRATE", is_clear, f"migrate was answered {status}")


def error(scenario):
    scenario.expect_error("TOOL-ALWAYS", scenario.call())


def unknown_operation(scenario):
    scenario.operation = scenario.operation or "no_such_operation"
    scenario.expect_error("TOOL-UNKNOWN-OP", scenario.call())


def bad_arguments(scenario):
    scenario.arguments = samples.unfitting(scenario.schema) if scenario.given is None else scenario.given
    scenario.expect_error("TOOL-BAD-ARGS", scenario.call())


def malformed(scenario):
    """Nothing that can be answered, then something that can; and the tool is still there."""
    hopeless = scenario.session.invoke(scenario.endpoint, "x", {}, raw='{"operation": ')
    # No acknowledgement of the usual kind, and no result, is due for that.
    scenario.session.calls.remove(hopeless)
    status = scenario.facts["hopeless"] = hopeless.ack["status"]
    scenario.expect("TOOL-MALFORMED", status is not None and status < 500, f"answered {status}")
    call = scenario.session.invoke(scenario.endpoint, 7, "no object")
    scenario.expect_error("TOOL-MALFORMED", call)
    scenario.session.discover()


SCENARIOS = {
    function.__name__.replace("_", "-"): function
    for function in (
        discover,
        result,
        sequence,
        choice,
        oauth_grant,
        oauth_refuse,
        subscription,
        cancel,
        close,
        migrate,
        error,
        unknown_operation,
        bad_arguments,
        malformed,
    )
}


def run(session, name, operation=None, arguments=None):
    """What happened, ready to be printed."""
    given = None if arguments is None else json.loads(arguments)
    scenario = Scenario(session, name, operation, given)
    SCENARIOS[name](scenario)
    # What should not come has time to come.
    time.sleep(QUIET_S)
    callbacks = [callback for call in session.calls for callback in call.callbacks]
    return {
        "scenario": name,
        "operation": scenario.operation,
        "acks": [call.ack["status"] for call in session.calls],
        "callbacks": callbacks,
        "notices": session.notices,
        "facts": scenario.facts,
        "faults": session.faults(),
    }
