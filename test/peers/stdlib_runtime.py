"""One call against a tool server: stdlib_runtime.py BASE_URL OPERATION ARGUMENTS_JSON [CALL_ID]

Prints {"ack", "callbacks", "invocation"} as one JSON line; exits with 1 when no result came in 10 s.
"""

import contextlib
import http.client
import json
import sys
import threading
import time
import urllib.parse
import uuid

sys.dont_write_bytecode = True

from stdlib_peer.web import Handler, Server, parsed, request  # noqa: E402

LIMIT_S = 10
JSON_TYPE = {"content-type": "application/json"}


class Listener(Server):
    def __init__(self, call_id):
        super().__init__(("127.0.0.1", 0), CallbackHandler)
        self.call_id = call_id
        self.callbacks = []
        self.has_result = threading.Event()
        # Odd on purpose: a tool has to use the URL exactly as given.
        self.callback_url = f"http://127.0.0.1:{self.server_address[1]}/back/{uuid.uuid4()}/?token=a%2Fb&n=1"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class CallbackHandler(Handler):
    def do_POST(self):
        raw = self.read_text()
        body = parsed(raw)
        self.server.callbacks.append(
            {
                "url": self.path,
                "headers": self.lower_headers(),
                "body": body,
                "raw": raw,
                "at": round(time.time() * 1000),
            }
        )
        self.answer(200)
        kind = body.get("type") if isinstance(body, dict) else None
        if kind == "user_choice":
            choose(body)
        elif kind == "tool_result" and body.get("id") == self.server.call_id:
            self.server.has_result.set()


def choose(question):
    """Answers with the default, as for an absent user."""
    answer = {"id": question["id"], "selected": question["default"]}
    request(question["response_url"], JSON_TYPE, json.dumps(answer).encode())


def invoke_once(base_url, operation, arguments, call_id=None):
    listener = Listener(f"call_{uuid.uuid4()}")
    invocation = {
        "operation": operation,
        "arguments": arguments,
        "id": listener.call_id,
        "callback_url": listener.callback_url,
        "group_id": f"thread_{uuid.uuid4()}",
    }
    if call_id is not None:
        invocation["call_id"] = call_id
    with contextlib.closing(send(discover(base_url)["endpoint"], invocation)) as connection:
        response = connection.getresponse()
        is_done = response.status == 200 and listener.has_result.wait(LIMIT_S)
        headers = {name.lower(): value for name, value in response.headers.items()}
        ack = {"status": response.status, "headers": headers}
    return is_done, {"ack": ack, "callbacks": listener.callbacks, "invocation": invocation}


def send(endpoint, invocation):
    """Not by urllib, whose `Connection: close` loses the body when a tool acknowledges before it reads."""
    address = urllib.parse.urlsplit(endpoint)
    path = urllib.parse.urlunsplit(("", "", address.path, address.query, ""))
    connection = http.client.HTTPConnection(address.netloc, timeout=LIMIT_S)
    connection.request("POST", path, json.dumps(invocation).encode(), JSON_TYPE)
    return connection


def discover(base_url):
    url = f"{base_url.rstrip('/')}/.well-known/rap-toolset"
    status, _, text = request(url, {"accept": "application/json"})
    if status != 200:
        sys.exit(f"{url} answered {status}")
    return json.loads(text)


def main():
    base_url, operation, arguments, *call_id = sys.argv[1:]
    is_done, outcome = invoke_once(base_url, operation, json.loads(arguments), *call_id)
    print(json.dumps(outcome), flush=True)
    sys.exit(0 if is_done else 1)


if __name__ == "__main__":
    main()
