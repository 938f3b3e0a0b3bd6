"""A runtime on Python's standard library alone.

stdlib_runtime.py BASE_URL OPERATION ARGUMENTS_JSON [CALL_ID]    one call
stdlib_runtime.py BASE_URL SCENARIO [OPERATION [ARGUMENTS_JSON]] one of the scenarios

A call prints {"ack", "callbacks", "invocation"}, and exits with 1 when no result came in 10 s.
A scenario prints {"scenario", "operation", "acks", "callbacks", "notices", "facts", "faults"}, and exits with 1
when the tool did not hold the protocol. Both print one line; exit 2: it could not be tried.
"""

import json
import sys

sys.dont_write_bytecode = True

from stdlib_peer.runtime.once import invoke_once, shown  # noqa: E402
from stdlib_peer.runtime.scenarios import SCENARIOS, run  # noqa: E402
from stdlib_peer.runtime.session import Session  # noqa: E402


def main():
    base_url, what, *rest = sys.argv[1:]
    # The third word of a call is JSON, that of a scenario an operation.
    is_call = bool(rest) and rest[0].startswith("{")
    if is_call:
        is_held, outcome = invoke_once(base_url, what, json.loads(rest[0]), *rest[1:])
    elif what in SCENARIOS:
        is_held, outcome = held(base_url, what, *rest)
    else:
        sys.exit(f'"{what}" is none of the scenarios: {", ".join(SCENARIOS)}')
    print(json.dumps(outcome), flush=True)
    sys.exit(0 if is_held else 1)


def held(base_url, name, *rest):
    try:
        outcome = run(Session(base_url), name, *rest)
    except (LookupError, OSError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    return not outcome["faults"], {**outcome, "callbacks": shown(outcome["callbacks"])}


if __name__ == "__main__":
    main()
