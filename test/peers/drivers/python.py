"""Runs the driver of fixtures/runtimes/python in a fork for each connection: to start Python takes longer than a scenario.

The first line of a connection is the environment; instructions and observations follow.
"""

import json
import os
import signal
import socket
import sys

sys.path.insert(0, "fixtures/runtimes/python")
import driver  # noqa: E402

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
server = socket.create_server(("127.0.0.1", 0))
print(json.dumps({"port": server.getsockname()[1]}), flush=True)
while True:
    connection, _ = server.accept()
    if os.fork() == 0:
        server.close()
        sys.stdin = connection.makefile("r", encoding="utf-8")
        sys.stdout = connection.makefile("w", encoding="utf-8")
        os.environ.update(json.loads(sys.stdin.readline()))
        driver.main()
        break
    connection.close()
