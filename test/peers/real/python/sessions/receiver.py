"""A receiver of webhooks in a thread of its own; the vendor's SDK verifies each."""

import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import hai_agents

PATIENCE_S = 60


class Receiver:
    def __init__(self):
        arrived = self._arrived = queue.Queue()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                arrived.put((body, self.headers["X-H-Webhook-Signature"], self.headers["X-H-Webhook-Timestamp"]))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{server.server_port}/hook"
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def next(self, secrets):
        """The next webhook, as the SDK parses it. Raises an error unless one of the secrets signed it."""
        delivery = self._arrived.get(timeout=PATIENCE_S)
        try:
            hai_agents.verify_webhook(*delivery, "another secret")
        except hai_agents.WebhookVerificationError:
            return hai_agents.verify_webhook(*delivery, secrets)
        raise AssertionError("any secret verifies it")

    def until(self, last, secrets):
        """The types of webhooks up to this one, with the statuses in them."""
        types = []
        while not types or not types[-1].startswith(last):
            event = self.next(secrets)
            data = hai_agents.WebhookEventData.model_validate(event.data)
            types.append(f"{event.type} {data.previous_status} {data.status}")
        return types
