"""Hooks of Schemathesis: what is right by its type, and refused by `session mock` by design. The guide `sessions` lists it."""

import schemathesis
from schemathesis.specs.openapi.checks import positive_data_acceptance

# A session waits for some calls only, and a key stands for one body.
TYPES = {"unknown_tool_req", "settled_tool_req", "idempotency_key_reused", "webhook_unreachable"}
# A webhook goes to an allowed origin; numbers have at most 15 digits.
PLACES = {("body", "url"), ("query", "page"), ("query", "from_index"), ("query", "limit")}


def is_by_design(detail):
    return detail["type"] in TYPES or tuple(detail["loc"]) in PLACES


@schemathesis.check
def acceptance_but_by_design(ctx, response, case):
    if response.status_code == 422 and all(map(is_by_design, response.json()["detail"])):
        return
    positive_data_acceptance(ctx, response, case)
