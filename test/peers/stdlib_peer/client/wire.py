"""The API behind one key; everything that is sent and answered is kept, without the key."""

import json
import time

from ..web import parsed, request

_TRIES = 5
_PAUSE_S = 0.05
_MOST_PAUSE_S = 2
_LONGEST_S = 60


class Refused(Exception):
    pass


class Wire:
    def __init__(self, base, key):
        self._base = f"{base}/api/v2"
        self._key = key
        self.journal = []

    def get(self, path):
        """Sent again after a 5xx, or when the connection broke."""
        for attempt in range(1, _TRIES + 1):
            try:
                answer = self._send("GET", path)
                if answer["status"] < 500 or attempt == _TRIES:
                    return answer
            except OSError:
                if attempt == _TRIES:
                    raise
            time.sleep(_PAUSE_S)

    def post(self, path, body, headers=None):
        """Sent again only after a 429, when it says so."""
        for attempt in range(1, _TRIES + 1):
            answer = self._send("POST", path, body, headers)
            if answer["status"] != 429 or attempt == _TRIES:
                return answer
            time.sleep(min(_MOST_PAUSE_S, float(answer["headers"].get("retry-after", 0))))

    def _send(self, method, path, body=None, headers=None):
        entry = {"method": method, "path": path, "body": body, "status": None, "answer": None}
        self.journal.append(entry)
        data = None if body is None else json.dumps(body).encode()
        content = {} if body is None else {"Content-Type": "application/json"}
        sent = {"Authorization": f"Bearer {self._key}", **content, **(headers or {})}
        status, answered, text = request(self._base + path, sent, data, _LONGEST_S)
        value = parsed(text)
        entry.update(status=status, answer=text or None if value is None else value)
        return {"status": status, "headers": answered, "body": value, "raw": text}


def accepted(answer, what, others=()):
    """Raises, naming the status, unless it is one of 2xx or one of `others`."""
    if 200 <= answer["status"] < 300 or answer["status"] in others:
        return answer
    raise Refused(f"{what}: {answer['status']} {answer['raw']}")
