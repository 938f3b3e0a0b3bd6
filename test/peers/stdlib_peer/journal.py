"""Everything a tool received and delivered, in order. GET /__log shows it."""

import threading
import time

from .web import parsed

_lock = threading.Lock()
_entries = []


def add(what, url, headers, raw=""):
    """Returns the entry, so that a delivery can be given its status once it is answered."""
    entry = {
        "what": what,
        "url": url,
        "headers": headers,
        "body": parsed(raw),
        "raw": raw,
        "status": None,
        "error": None,
        "at": round(time.time() * 1000),
    }
    with _lock:
        _entries.append(entry)
    return entry


def entries():
    with _lock:
        return list(_entries)
