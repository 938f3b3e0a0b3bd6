"""A runtime on Python's standard library alone.

stdlib_runtime.py BASE_URL OPERATION ARGUMENTS_JSON [CALL_ID]    one call
stdlib_runtime.py BASE_URL SCENARIO [OPERATION [ARGUMENTS_JSON]] one of the scenarios
stdlib_runtime.py -                                              many: a JSON list of such words on each line of stdin

A call prints {"ack", "callbacks", "invocation"}, and exits with 1 when no result came in 10 s.
A scenario prints {"scenario", "operation", "acks", "callbacks", "notices", "facts", "faults"}, and exits with 1
when the tool did not hold the protocol. Both print one line; exit 2: it could not be tried.
Of many, each prints [number of the line, exit status, what it would print] as soon as it is over.
"""

import json
import sys
import threading

sys.dont_write_bytecode = True

from stdlib_peer.runtime.once import invoke_once, shown  # noqa: E402
from stdlib_peer.runtime.scenarios import SCENARIOS, run  # noqa: E402
from stdlib_peer.runtime.session import Session  # noqa: E402

TELLING = threading.Lock()


def main():
    if sys.argv[1:] == ["-"]:
        for number, line in enumerate(sys.stdin):
            threading.Thread(target=tell, args=(number, json.loads(line))).start()
        return
    status, outcome = lived(*sys.argv[1:])
    print(outcome, flush=True)
    sys.exit(status)


def tell(number, words):
    try:
        status, outcome = lived(*words)
    except SystemExit as end:
        status, outcome = end.code if isinstance(end.code, int) else 1, ""
    with TELLING:
        print(json.dumps([number, status, outcome]), flush=True)


def lived(base_url, what, *rest):
    """(exit status, line)"""
    # The third word of a call is JSON, that of a scenario an operation.
    is_call = bool(rest) and rest[0].startswith("{")
    if is_call:
        is_held, outcome = invoke_once(base_url, what, json.loads(rest[0]), *rest[1:])
    elif what in SCENARIOS:
        is_held, outcome = held(base_url, what, *rest)
    else:
        sys.exit(f'"{what}" is none of the scenarios: {", ".join(SCENARIOS)}')
    return 0 if is_held else 1, json.dumps(outcome)


def held(base_url, name, *rest):
    try:
        outcome = run(Session(base_url), name, *rest)
    except (LookupError, OSError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    return not outcome["faults"], {**outcome, "callbacks": shown(outcome["callbacks"])}


if __name__ == "__main__":
    main()
