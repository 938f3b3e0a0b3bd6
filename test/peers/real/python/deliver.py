"""Posts results with requests: repeated after a 5xx or a lost connection, with growing pauses; never after a 4xx."""

import requests
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

from operations import result_message

_RETRY = Retry(total=4, backoff_factor=0.2, status_forcelist=range(500, 600), allowed_methods=["POST"], redirect=0)


def deliver(invocation):
    with requests.Session() as session:
        for scheme in ("http://", "https://"):
            session.mount(scheme, HTTPAdapter(max_retries=_RETRY))
        try:
            session.post(invocation["callback_url"], json=result_message(invocation), timeout=10, allow_redirects=False)
        except requests.RequestException as error:
            print(f"could not deliver a result: {error}", flush=True)


def can_be_answered(invocation):
    """Whether a result can be delivered for what was posted."""
    return isinstance(invocation, dict) and all(
        isinstance(invocation.get(name), str) for name in ("callback_url", "group_id", "id")
    )
