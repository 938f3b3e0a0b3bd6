"""A free port, and the line that says which."""

import json
import os
import socket


def listening_socket():
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", int(os.environ.get("PORT", 0))))
    listener.listen(1024)
    print(json.dumps({"port": listener.getsockname()[1]}), flush=True)
    return listener
