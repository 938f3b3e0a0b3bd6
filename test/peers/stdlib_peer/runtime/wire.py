"""How the runtime speaks to a tool."""

import contextlib
import http.client
import json
import time
import urllib.parse

from ..web import request

LIMIT_S = 10
BODY_S = 0.5
JSON_TYPE = {"content-type": "application/json"}


def send(endpoint, raw):
    """Not by urllib, whose `Connection: close` loses the body when a tool acknowledges before it reads."""
    address = urllib.parse.urlsplit(endpoint)
    path = urllib.parse.urlunsplit(("", "", address.path, address.query, ""))
    connection = http.client.HTTPConnection(address.netloc, timeout=LIMIT_S)
    connection.request("POST", path or "/", raw, JSON_TYPE)
    return connection


def dispatch(endpoint, raw, on_head):
    """The acknowledgement: its status, None where none came, and of its body what comes within half a second."""
    started = time.monotonic()
    try:
        with contextlib.closing(send(endpoint, raw)) as connection:
            answer = connection.getresponse()
            on_head()
            ms = round((time.monotonic() - started) * 1000)
            headers = {name.lower(): value for name, value in answer.headers.items()}
            return {"status": answer.status, "headers": headers, "ms": ms, "text": _some(connection, answer)}
    except (OSError, http.client.HTTPException) as error:
        return {"status": None, "headers": {}, "ms": 0, "text": "", "error": repr(error)}


def _some(connection, answer):
    """The body means nothing, and may never end."""
    if connection.sock:
        connection.sock.settimeout(BODY_S)
    deadline = time.monotonic() + BODY_S
    chunks = []
    with contextlib.suppress(OSError, http.client.HTTPException):
        while time.monotonic() < deadline and (chunk := answer.read1(4096)):
            chunks.append(chunk)
    return b"".join(chunks).decode("utf-8", "replace")


def post(url, message):
    """(status, headers, text) of a notice or an answer to a question."""
    return request(url, JSON_TYPE, json.dumps(message).encode())


def get_toolset(base_url):
    """(status, headers, text) of discovery."""
    return request(f"{root_of(base_url)}/.well-known/rap-toolset", {"accept": "application/json"})


def root_of(base_url):
    return base_url.rstrip("/")
