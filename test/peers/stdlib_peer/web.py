"""The little HTTP that the Python peers share."""

import json
import socketserver
import sys
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(ThreadingHTTPServer):
    request_queue_size = 128

    def server_bind(self):
        # HTTPServer would look up the host's full name here, which takes seconds on some systems.
        socketserver.TCPServer.server_bind(self)

    def handle_error(self, *connection):
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(*connection)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body of an answer leave in two writes; without this the second waits for an ACK.
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def read_bytes(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            return b"".join(iter(self._read_chunk, b""))
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _read_chunk(self):
        size = int(self.rfile.readline().split(b";")[0], 16)
        chunk = self.rfile.read(size)
        self.rfile.readline()
        return chunk

    def read_text(self):
        return self.read_bytes().decode("utf-8", "replace")

    def answer(self, status, body=b""):
        self.send_response(status)
        if body:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer_json(self, value):
        self.answer(200, json.dumps(value).encode())

    def lower_headers(self):
        return {name.lower(): value for name, value in self.headers.items()}


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirects)


def request(url, headers, body=None, timeout=10):
    """Answers (status, headers, text) for every status; raises OSError when there is no answer."""
    try:
        response = _opener.open(urllib.request.Request(url, body, headers), timeout=timeout)
    except urllib.error.HTTPError as error:
        response = error
    with response:
        text = response.read().decode("utf-8", "replace")
        return response.status, {name.lower(): value for name, value in response.headers.items()}, text


def parsed(raw):
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None
