"""Where callbacks arrive. Each path belongs to one call."""

import threading
import time

from ..web import Handler, Server, parsed


EARLY_S = 0.1


class Listener(Server):
    def __init__(self):
        super().__init__(("127.0.0.1", 0), CallbackHandler)
        self.calls = {}
        self.strays = []
        self.origin = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class CallbackHandler(Handler):
    def do_POST(self):
        at = time.time()
        contents = self.read_bytes()
        raw = contents.decode("utf-8", "replace")
        callback = {
            "url": self.path,
            "headers": self.lower_headers(),
            "body": parsed(raw),
            "raw": raw,
            "bytes": contents,
            "at": round(at * 1000),
        }
        call = self.server.calls.get(self.path)
        # An acknowledgement that was sent before is here, though its thread may not have seen it yet.
        callback["before_ack"] = call is not None and not call.heard.wait(EARLY_S)
        if call:
            # What is sent after this acknowledgement must not be taken before this callback.
            with call.turn:
                self.answer(200)
                call.take(callback)
        else:
            self.answer(404)
            self.server.strays.append(callback)
